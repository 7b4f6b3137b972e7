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
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'
import { clockOf, viewerOf } from '../session.ts'

/** As they stand on the command line. */
export type CollectionsFlags = Readonly<Record<string, string | boolean | undefined>>

export interface CommandRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: 0 | 1 | 2
}

/** What surrounds the flags: requester, time and embedder. */
export type CollectionsSurroundings = Pick<QueryCollectionsOptions, 'embedder' | 'clock' | 'signal' | 'viewer'>

/** As `Cli` runs it: `words` are the question. */
export async function runCollectionsCommand(
  cli: Cli,
  words: readonly string[],
  { viewer, now, ...flags }: CommonFlags & CollectionsFlags,
): Promise<void> {
  const { stdout, stderr } = cli.io
  const query = words.join(' ')
  let done: CommandRun
  try {
    done = await runCollections(query, flags, {
      signal: cli.signal,
      viewer: viewerOf(viewer, cli.io.env['QUERENT_VIEWER']),
      clock: clockOf(now, cli.io.env['QUERENT_NOW']),
    })
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
    const layout = { lang, urls: flags['urls'] === true }
    return {
      stdout: flags['json'] === true ? `${jsonText(answer, 2)}\n` : collectionsMarkdown(results, query ?? '', layout),
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

const NUMBERS = new Set(['days', 'nResults', 'offset', 'limit', 'minScore'])

/** Ranges are checked with the question. */
async function readFlags(flags: CollectionsFlags) {
  const { collection = 'both', lang = 'auto', urls: _, json: __, ...given } = flags
  const { persistDirectory, url, sample } = given
  if (persistDirectory !== undefined && url !== undefined) {
    throw wrongFlag('url', url, 'either a folder or an address, not both')
  }
  if (sample === true && (persistDirectory ?? url) !== undefined) {
    throw wrongFlag('sample', 'true', 'no --persist-directory and no --url beside it')
  }
  const values = Object.entries(given).map(([name, value]) => [name, NUMBERS.has(name) ? numberIn(value) : value])
  return {
    ...(Object.fromEntries(values) as QueryCollectionsOptions),
    lang: choice('lang', String(lang), ['auto', 'es', 'en']) as 'auto' | 'es' | 'en',
    collections: await collectionsOf(String(collection), persistDirectory as string | undefined),
  }
}

function numberIn(text: string | boolean | undefined): number {
  return String(text).trim() === '' ? Number.NaN : Number(text)
}

async function collectionsOf(wanted: string, persistDirectory: string | undefined): Promise<readonly string[]> {
  if (wanted === 'both') return ['items', 'analysis']
  if (wanted === 'items' || wanted === 'analysis') return [wanted]
  const declared = await declaredCollections(persistDirectory)
  return [choice('collection', wanted, ['items', 'analysis', 'both', ...declared])]
}

function choice(flag: string, text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw wrongFlag(flag, text, `one of ${choices.join(', ')}`)
}

function wrongFlag(flag: string, value: unknown, expected: string): QuerentError {
  return new QuerentError('invalid_argument', `--${flag}: expected ${expected}, got "${value}"`, { field: flag })
}

function oneLine(message: string): string {
  return message.replace(/\s*[\r\n]+\s*/g, ' ')
}
