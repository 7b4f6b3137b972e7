/**
 * `querent collections`: one question over several collections. Its exit codes are its contract's own: 0 for any answer,
 * 1 when the store fails, 2 for a wrong call.
 */
import { jsonText } from '../../../base/printable.ts'
import {
  collectionsMarkdown,
  declaredCollections,
  findsStore,
  type QueryCollectionsOptions,
  queryCollections,
} from '../../../engine/openings/query-collections.ts'
import { QuerentError } from '../../../model/errors.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'
import { clockOf, viewerOf } from '../session.ts'

/** As they stand on the command line. */
export interface CollectionsFlags {
  readonly days?: string | undefined
  readonly collection?: string | undefined
  readonly nResults?: string | undefined
  readonly lang?: string | undefined
  readonly json?: boolean | undefined
  readonly undated?: string | undefined
  readonly persistDirectory?: string | undefined
  readonly sample?: boolean | undefined
  readonly url?: string | undefined
  readonly tenant?: string | undefined
  readonly database?: string | undefined
  readonly fold?: boolean | undefined
  readonly minScore?: string | undefined
  readonly urls?: boolean | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly source?: string | undefined
  readonly actionability?: string | undefined
  readonly hybrid?: boolean | undefined
  readonly offset?: string | undefined
  readonly limit?: string | undefined
}

export interface CommandRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: 0 | 1 | 2
}

/** What surrounds the flags: who asks, when, and with which embedder. */
export type CollectionsSurroundings = Pick<QueryCollectionsOptions, 'embedder' | 'clock' | 'signal' | 'viewer'>

/** As `Cli` runs it: `words` are the question. */
export async function runCollectionsCommand(
  cli: Cli,
  words: readonly string[],
  { viewer, now, ...flags }: CollectionsFlags & { readonly viewer?: string; readonly now?: string },
): Promise<void> {
  const { stdout, stderr } = cli.io
  const query = words.join(' ')
  let done: CommandRun
  try {
    done = await runCollections(query, flags, surroundingsOf(cli, viewer, now))
  } catch (error) {
    done = failed(error)
  }
  if (cli.signal.aborted) return // whoever stopped it does not want what there was until then
  await write(stderr, done.stderr)
  await write(stdout, done.stdout)
  cli.exitCode = done.exitCode
}

/** `query`: the words of the command line; absent when there are none. */
export async function runCollections(
  query: string | undefined,
  flags: CollectionsFlags,
  surroundings: CollectionsSurroundings = {},
): Promise<CommandRun> {
  try {
    const { lang, ...options } = await readFlags(flags)
    const isStoreless = options.persistDirectory === undefined && options.url === undefined && !findsStore()
    const asked = { ...options, ...surroundings, sample: options.sample === true || isStoreless }
    const answer = await queryCollections(query ?? '', asked)
    const { results, warnings } = answer
    const layout = { lang, urls: flags.urls ?? false }
    return {
      stdout: flags.json ? `${jsonText(answer, 2)}\n` : collectionsMarkdown(results, query ?? '', layout),
      stderr:
        (isStoreless && !options.sample ? SAMPLE_NOTICE : '') +
        warnings.map(({ message }) => `Warning: ${oneLine(message)}\n`).join(''),
      exitCode: 0,
    }
  } catch (error) {
    return failed(error)
  }
}

/** An answer over the sample must not pass for one over the user's own knowledge. */
const SAMPLE_NOTICE =
  'Warning: there is no store here, so this is the sample that comes with Querent; `querent add` makes a store\n'

function failed(error: unknown): CommandRun {
  if (!(error instanceof QuerentError)) throw error
  return { stdout: '', stderr: `Error: ${oneLine(error.message)}\n`, exitCode: error.kind === 'usage' ? 2 : 1 }
}

function surroundingsOf(
  { io, signal }: Cli,
  viewer: string | undefined,
  now: string | undefined,
): CollectionsSurroundings {
  return {
    signal,
    viewer: viewerOf(viewer, io.env['QUERENT_VIEWER']),
    clock: clockOf(now, io.env['QUERENT_NOW']),
  }
}

async function readFlags(
  flags: CollectionsFlags,
): Promise<QueryCollectionsOptions & { readonly lang: 'auto' | 'es' | 'en' }> {
  const { persistDirectory, sample, url, tenant, database, since, until, source, actionability, fold, hybrid } = flags
  if (persistDirectory !== undefined && url !== undefined) {
    throw wrongFlag('url', url, 'either a folder or an address, not both')
  }
  if (sample && (persistDirectory ?? url) !== undefined) {
    throw wrongFlag('sample', 'true', 'no --persist-directory and no --url beside it')
  }
  return {
    ...{ persistDirectory, sample, url, tenant, database, since, until, source, actionability, fold, hybrid },
    days: integer('days', flags.days, 0),
    nResults: integer('n-results', flags.nResults, 1),
    offset: integer('offset', flags.offset, 0),
    limit: integer('limit', flags.limit, 1),
    minScore: number('min-score', flags.minScore),
    undated: choice('undated', flags.undated, ['include', 'exclude']),
    lang: choice('lang', flags.lang, ['auto', 'es', 'en']) ?? 'auto',
    collections: await collectionsOf(flags.collection ?? 'both', persistDirectory),
  }
}

async function collectionsOf(wanted: string, persistDirectory: string | undefined): Promise<readonly string[]> {
  if (wanted === 'both') return ['items', 'analysis']
  if (wanted === 'items' || wanted === 'analysis') return [wanted]
  const declared = await declaredCollections(persistDirectory)
  return [choice('collection', wanted, ['items', 'analysis', 'both', ...declared]) as string]
}

function integer(flag: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrongFlag(flag, text, `an integer of ${least} or more`)
}

function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= 0 && value <= 1) return value
  throw wrongFlag(flag, text, 'a number from 0 to 1')
}

function choice<T extends string>(flag: string, text: string | undefined, choices: readonly T[]): T | undefined {
  if (text === undefined || choices.includes(text as T)) return text as T | undefined
  throw wrongFlag(flag, text, `one of ${choices.join(', ')}`)
}

function wrongFlag(flag: string, value: string, expected: string): QuerentError {
  return new QuerentError('invalid_argument', `--${flag}: expected ${expected}, got "${value}"`, { field: flag })
}

function oneLine(message: string): string {
  return message.replace(/\s*[\r\n]+\s*/g, ' ')
}
