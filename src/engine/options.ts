/** How an engine is opened: by options, `config.json` and the environment. Without any it is the store of the working folder, with MiniLM. */
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

/** Plug-ins are code that runs with all rights of this process. */
export interface PluginOptions {
  /** Everything in this folder is trusted. */
  readonly trustedFolder?: string | undefined
  /** Asks whether a file may be loaded; the answer yes is remembered. Absent: what nobody trusted yet is skipped. */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
  /** Takes a line for each that was skipped; default: a warning of the process. */
  readonly warn?: ((line: string) => void) | undefined
}

export interface EngineOptions {
  /** The folder that holds `store.db` and the snapshots; absent: found upwards from the working folder, or QUERENT_HOME. */
  readonly home?: string | undefined
  /** Make the home when there is none (default true when `home` is given). */
  readonly create?: boolean | undefined
  /** A store of one's own, or `memory` for one that is gone on close. Then there is no home. */
  readonly store?: Store | 'memory' | undefined
  /** `none` for words only; a settings object for a provider; an Embedder of one's own. Default: MiniLM. */
  readonly embedder?: GivenEmbedder | 'none' | undefined
  /** How long a provider of embeddings may take to answer while the engine opens, in milliseconds; then words answer (default 30,000). */
  readonly embedderTimeoutMs?: number | undefined
  /** A second model, for texts and queries in languages that the first does not know: a folder, or an Embedder of one's own. */
  readonly multilingual?: Embedder | string | undefined
  readonly clock?: Clock | undefined
  /** Random bytes for ids; injectable so that runs can be reproduced. */
  readonly random?: ((bytes: number) => Uint8Array) | undefined
  /** How other nodes are reached; default: HTTP. Closed with the engine. */
  readonly transport?: NodeTransport | undefined
  /** Lenses beside the built-in ones. */
  readonly lenses?: readonly Lens[] | undefined
  /** Of the built-in lenses, load only these and the default one: for a process that asks one question and ends. */
  readonly onlyLenses?: readonly string[] | undefined
  /** All reads see the state that the first of them sees, until something is written: for a process that answers one request and ends. */
  readonly keepsState?: boolean | undefined
  /** Takes a line about this installation that its owner should see, each at most once in a home. Default: nobody. */
  readonly notice?: ((line: string) => void) | undefined
  /** Which plug-ins of the home may be loaded; default: those that were trusted before. */
  readonly plugins?: PluginOptions | undefined
  /** `normal` survives a dying process, `full` also a power cut. */
  readonly durability?: 'normal' | 'full' | undefined
  readonly readOnly?: boolean | undefined
  /** Embed and tidy up in the background (default true). */
  readonly background?: boolean | undefined
  /**
   * Look every few seconds whether files and folders that were added have changed, and read them again (default false). In the background:
   * one process at a time does it for a store.
   */
  readonly watchFiles?: boolean | undefined
  /**
   * Begin to load the model when opening, and load the vector index while it works on the first question (default
   * false: both when they are needed). For a process that asks one question and ends.
   */
  readonly warm?: boolean | undefined
  /** Live queries: how many a viewer may have, how often to look for the commits of other processes. */
  readonly live?: LiveSettings | undefined
  /** How much requesters from outside may ask; what is left out is as configured. */
  readonly limits?: Partial<LimitSettings> | undefined
  /** Processes that serve the same requesters (default 1): each allows its share of every limit, so that all allow the whole. */
  readonly processes?: number | undefined
  /** Milliseconds of the clock that limits and rests of other nodes go by, whole ones; injectable so that tests need not wait. */
  readonly machineTime?: (() => number) | undefined
  /** The lens that answers when none is named. */
  readonly defaultLens?: string | undefined
}

export interface LiveSettings {
  /**
   * Active and paused subscriptions that a viewer may have, and all keys that are no agent here together; the local owner
   * has no limit. Default 50 (BQ-167).
   */
  readonly mostPerViewer?: number | undefined
  /** How often to look for commits, in milliseconds: so late a loss of access may be reported. Default 50. */
  readonly pollMs?: number | undefined
  /** Machine time; tests drive it by hand. */
  readonly timers?: Timers | undefined
}

export const DEFAULT_POLL_MS = 50

export interface LimitSettings {
  /** Whether requests are counted at all (default true). */
  readonly enabled: boolean
  /** A question costs one unit, or more (default 200). */
  readonly unitsPerMinute: number
  /** Units that can be asked for at once after a quiet while (default 33). */
  readonly burst: number
  /** Live queries that one requester may have at a time (default 50). */
  readonly subscriptions: number
  /** Answers that one requester may have under way piece by piece at a time, live queries not counted (default 16). */
  readonly streams: number
  /** Bytes that one viewer may keep by requests from outside (default 100 MiB). */
  readonly bytesPerViewer: number
  /** Different questions that one requester may ask in a day; null (the default): any number. */
  readonly questionsPerDay: number | null
  /** Different questions in an hour that are nearly alike; null (the default): any number. */
  readonly alikePerHour: number | null
}

/** BQ-189, BQ-167, BQ-193. */
const DEFAULTS: LimitSettings = {
  ...{ enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50, streams: 16 },
  ...{ bytesPerViewer: 100 * 1024 * 1024, questionsPerDay: null, alikePerHour: null },
}

const count = z.number().int().min(1).max(1_000_000)
/** Up to a tebibyte: beyond that, switch limits off. */
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)
/** Each question that counts is remembered, in some hundred bytes. */
const remembered = z.number().int().min(1).max(100_000)

/** As in `config.json`. */
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

/** As `config.json` spells it. */
function inFile(name: LimitName): keyof FileSettings {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) as keyof FileSettings
}

/** Each setting from the first that has it: options, environment, file, default. */
export function resolveLimits(
  options: Partial<LimitSettings> = {},
  environment: Readonly<Record<string, string | undefined>>,
  file: FileSettings = {},
): LimitSettings {
  const named = Object.fromEntries(LIMIT_NAMES.map(name => [inFile(name), options[name] ?? undefined]))
  const layers = [parseInput(limitSettings, named, 'limits'), fromEnvironment(environment), file]
  const first = (name: LimitName) => layers.map(layer => layer[inFile(name)]).find(value => value !== undefined)
  // The cast: the schema has checked each value by its name.
  return Object.fromEntries(LIMIT_NAMES.map(name => [name, first(name) ?? DEFAULTS[name]])) as unknown as LimitSettings
}

/** QUERENT_LIMITS is `on` or `off`; the numbers have variables of their own, such as QUERENT_LIMITS_UNITS_PER_MINUTE. */
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
 * The share of one process: whole, rounded down, so that all together let through no more than the whole; but at least 1,
 * since nobody is to be shut out by the process that their connection happens to meet. Bytes are counted in the store, for all
 * processes together.
 */
export function shareOf(limits: LimitSettings, processes: number): LimitSettings {
  const shared = Object.entries(limits).map(([name, whole]) => {
    const isShared = typeof whole === 'number' && name !== 'bytesPerViewer'
    return [name, isShared ? Math.max(1, Math.floor(whole / processes)) : whole] as const
  })
  return Object.fromEntries(shared) as unknown as LimitSettings
}

// Settings in layers: built-in, then `config.json` in the home, then the environment, then what the caller passes. Checked when the
// engine opens and frozen after.

/** Sources as the configuration names them. Keys stay in the environment: a setting says under which name. */
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

/** `config.json`; its descriptions are those of the reference. */
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

/** `options.embedder` may be an Embedder of the caller's own: then this layer says nothing about it. */
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

/** QUERENT_EMBEDDER names the provider; QUERENT_EMBEDDER_URL, _MODEL and _FOLDER its parts; the key stays where it is. */
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
  // Another provider than the file's shares no setting with it.
  const base = set['provider'] === undefined || set['provider'] === fallback?.provider ? fallback : undefined
  return parseInput(embedderSettings, { provider: 'local', ...base, ...set }, 'QUERENT_EMBEDDER')
}

function durabilityFromEnvironment(environment: Environment): 'normal' | 'full' | undefined {
  const value = environment['QUERENT_DURABILITY']
  return value === undefined ? undefined : parseInput(z.enum(['normal', 'full']), value, 'QUERENT_DURABILITY')
}

/** Its text, `{}` where there is no file, and its value. Throws `invalid_json`. */
export function readSettings(file: string): { readonly text: string; readonly value: JsonObject } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}\n'
  try {
    return { text, value: JSON.parse(text) as JsonObject }
  } catch (error) {
    throw new QuerentError('invalid_json', `config.json: ${String(error)}`, { path: file }, error)
  }
}

/**
 * Replaces the file by this text, in one step, for this user alone. Throws `invalid_argument` naming the setting that an
 * engine would refuse; then the file is as it was.
 */
export async function writeSettings(file: string, text: string): Promise<void> {
  const { lenses = {}, default_lens: defaultLens } = parseInput(fileSchema, JSON.parse(text), 'config.json')
  const names = BUILT_IN_LENSES.map(({ name }) => name)
  if (defaultLens !== undefined && !names.includes(defaultLens))
    throw invalidArgument('default_lens', defaultLens, `one of ${names.join(', ')}`)
  for (const [name, given] of Object.entries(lenses)) {
    const found = BUILT_IN_LENSES.find(lens => lens.name === name)
    // A lens of a plug-in checks its own when it is loaded.
    if (found !== undefined) (await found.load()).settings?.(given, {})
  }
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, text, { mode: 0o600, flush: true })
  renameSync(beside, file)
}
