/**
 * Settings, once, in layers: built-in, then `config.json` in the home, then the environment, then what the caller
 * passes. Checked when the engine opens and frozen after.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { type EmbedderSettings, embedderSettings } from '../embed/open-embedder.ts'
import { BUILT_IN_LENSES } from '../lenses/registry.ts'
import { QuerentError } from '../model/errors.ts'
import { parseInput } from '../model/parse-input.ts'
import { isEmbedder } from './embedder.ts'
import {
  DEFAULT_POLL_MS,
  type EngineOptions,
  type LimitSettings,
  type LiveSettings,
  limitSettings,
  resolveLimits,
  shareOf,
} from './options.ts'
import { type SourceSettings, sourceSettings } from './sources.ts'

const pollMs = z
  .int()
  .min(10)
  .max(60_000)
  .optional()
  .meta({ description: 'How often to look for what other processes wrote, in milliseconds', default: DEFAULT_POLL_MS })

/** `config.json`; its descriptions are those of the reference. */
export const fileSchema = z.strictObject({
  embedder: embedderSettings.optional().describe('The model that makes vectors'),
  durability: z
    .enum(['normal', 'full'])
    .optional()
    .meta({ description: '`normal` survives a dying process, `full` also a power cut', default: 'normal' }),
  default_lens: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'The lens that answers when none is named', default: 'default' }),
  limits: limitSettings.optional().describe('How much requesters from outside may ask'),
  lenses: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings of lenses, by lens; each lens checks its own'),
  live: z.strictObject({ poll_ms: pollMs }).optional().describe('Live queries'),
  sources: z
    .record(z.string().min(1), sourceSettings)
    .optional()
    .describe('Other engines that can be asked, by a name of yours'),
})

export interface Config {
  readonly embedder: EmbedderSettings
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
  const { lenses = {} } = parseInput(fileSchema, JSON.parse(text), 'config.json')
  for (const [name, given] of Object.entries(lenses)) {
    const found = BUILT_IN_LENSES.find(lens => lens.name === name)
    // A lens of a plug-in checks its own when it is loaded.
    if (found !== undefined) (await found.load()).settings?.(given, {})
  }
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, text, { mode: 0o600, flush: true })
  renameSync(beside, file)
}
