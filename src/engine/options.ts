/**
 * How an engine is opened: options, `config.json` and environment variables. The default is the store of the working folder with the MiniLM
 * model.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Clock } from '../base/clock.ts'
import type { Timers } from '../base/turns.ts'
import type { Embedder } from '../embed/embedder.ts'
import { type EmbedderSettings, embedderSettings } from '../embed/open-embedder.ts'
import type { Lens } from '../lenses/lens.ts'
import { BUILT_IN_LENSES } from '../lenses/registry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import { parseInput } from '../model/parse-input.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import type { Store } from '../store/store.ts'
import { type GivenEmbedder, isEmbedder } from './embedder.ts'

/** Options for plug-ins: code that runs with all rights of this process. */
export interface PluginOptions {
  /** Path of a folder whose plug-ins are all trusted, so that they are loaded without asking. */
  readonly trustedFolder?: string | undefined
  /**
   * Asks the user whether a plug-in file may be loaded; a yes is remembered for that version of the file. Absent: plug-in files that are
   * not trusted yet are skipped.
   */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
  /** Receives one line of text for each plug-in that is skipped; default: the line is emitted as a warning of the process. */
  readonly warn?: ((line: string) => void) | undefined
}

export interface EngineOptions {
  /**
   * Path of the home, the folder with the store file and the index snapshots. Absent: QUERENT_HOME, or the nearest home from the working
   * folder upwards.
   */
  readonly home?: string | undefined
  /** Whether to create the home (the folder of the store) if it does not exist. Default: true if `home` is given, otherwise false. */
  readonly create?: boolean | undefined
  /**
   * A `Store` object of the caller, or `memory` for a store in memory that is lost when the engine is closed. With either, the engine has
   * no home.
   */
  readonly store?: Store | 'memory' | undefined
  /**
   * `none`: no embedder, so queries are answered by word search only. Otherwise settings of an embedder to open, or an `Embedder` object of
   * the caller. Default: the built-in MiniLM model.
   */
  readonly embedder?: GivenEmbedder | 'none' | undefined
  /**
   * Time limit in milliseconds for the requests to an embedding provider while the engine opens; if it passes, the engine opens without an
   * embedder and answers by word search only (default 30,000).
   */
  readonly embedderTimeoutMs?: number | undefined
  /** A second model, for texts and queries in languages that the first does not know: a folder, or an `Embedder` object of the caller. */
  readonly multilingual?: Embedder | string | undefined
  readonly clock?: Clock | undefined
  /** Source of random bytes for ids; injectable so that runs can be reproduced. */
  readonly random?: ((bytes: number) => Uint8Array) | undefined
  /** Transport of messages to other nodes (other stores of Querent); default: HTTP. The transport is closed together with the engine. */
  readonly transport?: NodeTransport | undefined
  /** Lenses (query modules) to load in addition to the built-in ones. */
  readonly lenses?: readonly Lens[] | undefined
  /**
   * Names of the built-in lenses to load in addition to the default one; the others are not loaded. For a process that runs one query and
   * ends.
   */
  readonly onlyLenses?: readonly string[] | undefined
  /**
   * Whether all reads see the state of the store at the first read, until this engine writes something: for a process that answers one
   * request and ends.
   */
  readonly keepsState?: boolean | undefined
  /** Receives notices about this installation that are meant for its owner, each at most once per home. Default: notices are not shown. */
  readonly notice?: ((line: string) => void) | undefined
  /** Which plug-in files in the home may be loaded. Default: those that were trusted earlier. */
  readonly plugins?: PluginOptions | undefined
  /** How safe commits are: `normal` commits survive a crash of the process, `full` ones also a power failure. */
  readonly durability?: 'normal' | 'full' | undefined
  readonly readOnly?: boolean | undefined
  /** Whether the engine makes vectors and maintains the store in the background (default true). */
  readonly background?: boolean | undefined
  /**
   * Whether to check every few seconds if added files and folders have changed, and read them again (default false). Done in the
   * background, by one process at a time for a store.
   */
  readonly watchFiles?: boolean | undefined
  /**
   * Whether to load the embedding model while the engine opens, and the vector index while the model embeds the first query (default false:
   * both are loaded when they are first needed). For a process that runs one query and ends.
   */
  readonly warm?: boolean | undefined
  /**
   * Settings of live queries (subscriptions): their maximum number for a viewer, and the interval at which commits of other processes are
   * looked for.
   */
  readonly live?: LiveSettings | undefined
  /**
   * Rate and quota limits for requesters from outside the process; limits left out are taken from the environment, `config.json` or the
   * defaults.
   */
  readonly limits?: Partial<LimitSettings> | undefined
  /**
   * Number of processes that serve the same requesters (default 1). Each process enforces its share of every limit, so that together they
   * enforce the whole limit.
   */
  readonly processes?: number | undefined
  /**
   * Clock for rate limits and for pauses between requests to other nodes, in whole milliseconds; injectable so that tests need not wait.
   */
  readonly machineTime?: (() => number) | undefined
  /** The lens that answers a query that names no lens. */
  readonly defaultLens?: string | undefined
}

export interface LiveSettings {
  /**
   * Maximum number of active and paused subscriptions (live queries) of a viewer. All viewers whose keys belong to no agent of this store
   * share one such limit; the local owner has no limit. Default 50 (BQ-167).
   */
  readonly mostPerViewer?: number | undefined
  /**
   * Interval in milliseconds at which the engine checks for commits that affect live queries, which is also the longest delay in reporting
   * a loss of access. Default 50.
   */
  readonly pollMs?: number | undefined
  /** The clock and timers of live queries; tests inject timers that they advance by hand. */
  readonly timers?: Timers | undefined
}

export const DEFAULT_POLL_MS = 50

export interface LimitSettings {
  /** Whether the limits on requesters are enforced at all (default true). */
  readonly enabled: boolean
  /** Units per minute that a requester may use; a query costs one unit or more (default 200). */
  readonly unitsPerMinute: number
  /** Units of the rate limit that a requester who has used none for a while may use at once (default 33). */
  readonly burst: number
  /** Maximum number of live queries of one requester at a time (default 50). */
  readonly subscriptions: number
  /** Maximum number of streamed answers of one requester at a time, live queries not counted (default 16). */
  readonly streams: number
  /** Maximum number of bytes that one viewer may store by requests from outside (default 100 MiB). */
  readonly bytesPerViewer: number
  /** Maximum number of different queries of one requester in a day; null (the default): no limit. */
  readonly questionsPerDay: number | null
  /** Maximum number of different but nearly alike queries of one requester in an hour; null (the default): no limit. */
  readonly alikePerHour: number | null
}

/** Default limits for requesters from outside (BQ-189, BQ-167, BQ-193). */
const DEFAULTS: LimitSettings = {
  ...{ enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50, streams: 16 },
  ...{ bytesPerViewer: 100 * 1024 * 1024, questionsPerDay: null, alikePerHour: null },
}

const count = z.number().int().min(1).max(1_000_000)
/** A byte quota may be at most one tebibyte; for more, turn the limits off. */
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)
/** Maximum for a limit on the number of different queries: each counted query is kept in memory, in some hundred bytes. */
const remembered = z.number().int().min(1).max(100_000)

/** Schema of the settings in `config.json` that limit requesters from outside. */
export const limitSettings = z.strictObject({
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether these limits apply to requests', default: DEFAULTS.enabled }),
  units_per_minute: count
    .optional()
    .meta({ description: 'Units that each requester gets back in a minute', default: DEFAULTS.unitsPerMinute }),
  burst: count
    .optional()
    .meta({ description: 'Most units that each requester can use at once after a pause', default: DEFAULTS.burst }),
  subscriptions: count
    .optional()
    .meta({ description: 'Live queries that each requester can have at a time', default: DEFAULTS.subscriptions }),
  streams: count.optional().meta({
    description: 'Other streamed answers that each requester can have open at a time',
    default: DEFAULTS.streams,
  }),
  bytes_per_viewer: bytes.optional().meta({
    description: 'Bytes that each viewer can store by requests from outside; no limit for the owner',
    default: DEFAULTS.bytesPerViewer,
  }),
  questions_per_day: remembered
    .optional()
    .describe('Different queries that each requester can send in a UTC day. Default: no limit'),
  alike_per_hour: remembered
    .optional()
    .describe('Different queries of each requester in an hour that are nearly alike. Default: no limit'),
})

type FileSettings = z.output<typeof limitSettings>

type LimitName = keyof LimitSettings
const LIMIT_NAMES = Object.keys(DEFAULTS) as readonly LimitName[]

/** The name that a limit has in `config.json`: its camelCase name converted to snake_case. */
function inFile(name: LimitName): keyof FileSettings {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) as keyof FileSettings
}

/** Takes the value of each limit from the first of these that sets it: options of the caller, environment, `config.json`, defaults. */
export function resolveLimits(
  options: Partial<LimitSettings> = {},
  environment: Readonly<Record<string, string | undefined>>,
  file: FileSettings = {},
): LimitSettings {
  const named = Object.fromEntries(LIMIT_NAMES.map(name => [inFile(name), options[name] ?? undefined]))
  const layers = [parseInput(limitSettings, named, 'limits'), fromEnvironment(environment), file]
  const first = (name: LimitName) => layers.map(layer => layer[inFile(name)]).find(value => value !== undefined)
  // The cast is safe: the schema has checked the type of each limit.
  return Object.fromEntries(LIMIT_NAMES.map(name => [name, first(name) ?? DEFAULTS[name]])) as unknown as LimitSettings
}

/**
 * Reads limits from the environment: QUERENT_LIMITS is `on` or `off`; each number has its own variable, such as
 * QUERENT_LIMITS_UNITS_PER_MINUTE.
 */
function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): FileSettings {
  const enabled = environment['QUERENT_LIMITS']
  const numbers = LIMIT_NAMES.filter(name => name !== 'enabled').flatMap(name => {
    const variable = `QUERENT_LIMITS_${inFile(name).toUpperCase()}`
    const value = environment[variable]
    if (value === undefined) return []
    const number = parseInput(numeral, value, variable)
    return [[inFile(name), parseInput(limitSettings.shape[inFile(name)], number, variable)] as const]
  })
  return {
    enabled: enabled === undefined ? undefined : parseInput(z.enum(['on', 'off']), enabled, 'QUERENT_LIMITS') === 'on',
    ...Object.fromEntries(numbers),
  }
}

const numeral = z.string().regex(/^\d+$/, 'a whole number').transform(Number)

/**
 * Divides limits among several processes that serve the same requesters: each process gets a share, rounded down, so that together they
 * allow no more than the whole limit. A share is at least 1, so that no process refuses everything. The byte quota is not divided, because
 * the store counts bytes for all processes.
 */
export function shareOf(limits: LimitSettings, processes: number): LimitSettings {
  const shared = Object.entries(limits).map(([name, whole]) => {
    const isShared = typeof whole === 'number' && name !== 'bytesPerViewer'
    return [name, isShared ? Math.max(1, Math.floor(whole / processes)) : whole] as const
  })
  return Object.fromEntries(shared) as unknown as LimitSettings
}

// The settings of an engine, in layers of rising precedence: defaults, `config.json` in the home, environment variables, options of the
// caller. They are checked when the engine opens, and frozen afterwards.

/**
 * Schemas of the settings of external search sources. API keys are not part of the settings: a setting names the environment variable that
 * holds the key.
 */
const numericDate = z.strictObject({
  key: z.string().min(1).describe("The metadata key that holds each record's date as a number"),
  unit: z.enum(['s', 'ms']).describe('Seconds or milliseconds since 1970'),
  undated: z.number().nullable().default(null).describe('Value that stands for a missing date; null: none'),
})

const ofSource = {
  url: z.string().min(1).describe("The server's address"),
  public: z.boolean().optional().meta({
    description: 'Whether viewers other than the owner may query collections that were not mirrored there',
    default: false,
  }),
  numeric_date: numericDate.optional().describe('A day filter then runs in the server. Default: it runs here'),
}

const chromadb = z.strictObject({
  ...ofSource,
  kind: z.literal('chromadb').describe('A ChromaDB server'),
  tenant: z.string().optional().describe("Default: the server's own"),
  database: z.string().optional().describe("Default: the server's own"),
  token_env: z.string().optional().describe('Variable of the environment that holds the token. Default: no token'),
  tags_key: z
    .string()
    .optional()
    .describe('The metadata key that holds tags as a list. Default: a key tag:<name> for each'),
})

const qdrant = z.strictObject({
  ...ofSource,
  kind: z.literal('qdrant').describe('A Qdrant server'),
  api_key_env: z.string().optional().describe('Variable of the environment that holds the key. Default: no key'),
  vector_name: z.string().optional().describe('Name of the vector, if there are several. Default: the unnamed one'),
  content_key: z
    .string()
    .optional()
    .describe('The payload key of the text. Default: the first of document, content, text, page_content'),
  sparse: z
    .strictObject({
      vector_name: z.string().describe('A sparse vector of the collections'),
      model: z.string().describe("The server's model that makes a sparse vector of a query"),
    })
    .optional()
    .describe('Fused with the dense vector. Default: none'),
})

const sourceSettings: z.ZodType<SourceSettings> = z.discriminatedUnion('kind', [chromadb, qdrant])

export type SourceSettings = z.output<typeof chromadb> | z.output<typeof qdrant>

const pollMs = z
  .int()
  .min(10)
  .max(60_000)
  .optional()
  .meta({ description: 'How often to look for what other processes wrote, in milliseconds', default: DEFAULT_POLL_MS })

/** Schema of `config.json`. The descriptions of the settings in it appear in the reference documentation. */
export const fileSchema = z.strictObject({
  embedder: embedderSettings.optional().describe('The model that makes vectors'),
  multilingual: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      'Folder of a second ONNX model, relative to the home, for languages that the first does not know. Default: none',
    ),
  durability: z
    .enum(['normal', 'full'])
    .optional()
    .meta({ description: '`normal` survives a crash of the process, `full` also a power failure', default: 'normal' }),
  default_lens: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Lens of queries that name none', default: 'default' }),
  limits: limitSettings.optional().describe('Limits for requesters from outside'),
  lenses: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings of lenses, by lens; each lens checks its own'),
  live: z.strictObject({ poll_ms: pollMs }).optional().describe('Live queries'),
  sources: z
    .record(z.string().min(1), sourceSettings)
    .optional()
    .describe('Other engines that can be queried, each under a name of your choice'),
})

export interface Config {
  readonly embedder: EmbedderSettings
  readonly multilingual: string | undefined
  readonly durability: 'normal' | 'full'
  readonly defaultLens: string
  readonly limits: LimitSettings
  readonly lenses: Readonly<Record<string, unknown>>
  readonly sources: Readonly<Record<string, SourceSettings>>
  readonly live: LiveSettings
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Merges the layers of settings into one configuration. If `options.embedder` is an `Embedder` object of the caller, the options contribute
 * no embedder settings.
 */
export function resolveConfig(options: EngineOptions, configFile: string | null, environment: Environment): Config {
  const file = configFile === null ? {} : readConfigFile(configFile)
  const fromOptions = embedderFromOptions(options)
  const limits = shareOf(resolveLimits(options.limits, environment, file.limits), options.processes ?? 1)
  const config: Config = {
    embedder: fromOptions ?? embedderFromEnvironment(environment, file.embedder) ?? { provider: 'local' },
    multilingual: environment['QUERENT_MULTILINGUAL_FOLDER'] ?? file.multilingual,
    durability: options.durability ?? durabilityFromEnvironment(environment) ?? file.durability ?? 'normal',
    defaultLens: options.defaultLens ?? environment['QUERENT_LENS'] ?? file.default_lens ?? 'default',
    limits,
    lenses: file.lenses ?? {},
    sources: file.sources ?? {},
    live: { mostPerViewer: limits.subscriptions, pollMs: file.live?.poll_ms },
  }
  return Object.freeze(config)
}

function readConfigFile(path: string): z.output<typeof fileSchema> {
  if (!existsSync(path)) return {}
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new QuerentError('invalid_json', `config.json: ${String(error)}`, { path }, error)
  }
  return parseInput(fileSchema, value, 'config.json')
}

function embedderFromOptions({ embedder: given }: EngineOptions): EmbedderSettings | undefined {
  if (given === undefined || isEmbedder(given)) return undefined
  return given === 'none' ? { provider: 'none' } : parseInput(embedderSettings, given, 'embedder')
}

/**
 * Reads embedder settings from the environment: QUERENT_EMBEDDER names the provider, QUERENT_EMBEDDER_URL, _MODEL and _FOLDER its settings;
 * the API key keeps its own variable.
 */
function embedderFromEnvironment(
  environment: Environment,
  fallback: EmbedderSettings | undefined,
): EmbedderSettings | undefined {
  const given = {
    provider: environment['QUERENT_EMBEDDER'],
    baseUrl: environment['QUERENT_EMBEDDER_URL'],
    model: environment['QUERENT_EMBEDDER_MODEL'],
    folder: environment['QUERENT_EMBEDDER_FOLDER'],
  }
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))
  if (Object.keys(set).length === 0) return fallback
  // If the environment names another embedding provider than the settings file, all embedder settings of the file are ignored.
  const base = set['provider'] === undefined || set['provider'] === fallback?.provider ? fallback : undefined
  return parseInput(embedderSettings, { provider: 'local', ...base, ...set }, 'QUERENT_EMBEDDER')
}

function durabilityFromEnvironment(environment: Environment): 'normal' | 'full' | undefined {
  const value = environment['QUERENT_DURABILITY']
  return value === undefined ? undefined : parseInput(z.enum(['normal', 'full']), value, 'QUERENT_DURABILITY')
}

/** Content of the settings file as text and as parsed JSON; the text is `{}` if the file does not exist. Throws `invalid_json`. */
export function readSettings(file: string): { readonly text: string; readonly value: JsonObject } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}\n'
  try {
    return { text, value: JSON.parse(text) as JsonObject }
  } catch (error) {
    throw new QuerentError('invalid_json', `config.json: ${String(error)}`, { path: file }, error)
  }
}

/**
 * Replaces the settings file `config.json` atomically by this text, with permissions for this user only. If an engine would refuse one of
 * the settings, throws `invalid_argument` naming that setting, and leaves the file unchanged.
 */
export async function writeSettings(file: string, text: string): Promise<void> {
  const { lenses = {}, default_lens: defaultLens } = parseInput(fileSchema, JSON.parse(text), 'config.json')
  const names = BUILT_IN_LENSES.map(({ name }) => name)
  if (defaultLens !== undefined && !names.includes(defaultLens))
    throw invalidArgument('default_lens', defaultLens, `one of ${names.join(', ')}`)
  for (const [name, given] of Object.entries(lenses)) {
    const found = BUILT_IN_LENSES.find(lens => lens.name === name)
    // Only settings of built-in lenses are checked when the settings file is written; a lens from a plug-in checks its own when it is
    // loaded.
    if (found !== undefined) (await found.load()).settings?.(given, {})
  }
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, text, { mode: 0o600, flush: true })
  renameSync(beside, file)
}
