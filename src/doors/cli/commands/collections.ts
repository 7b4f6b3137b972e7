/**
 * `querent collections`: one question over several collections. Its exit codes are its contract's own: 0 for any answer,
 * 1 when the store fails, 2 for a wrong call.
 */
import { jsonText } from '../../../base/printable.ts'
import { QuerentError } from '../../../model/errors.ts'
import {
  collectionsMarkdown,
  declaredCollections,
  findsStore,
  type QueryCollectionsOptions,
  queryCollections,
} from '../../../openings/collections.ts'
import { write } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import type { Cli } from '../run.ts'
import { clockOf, viewerOf } from '../session.ts'

/** The fields of the question by their names in the library, and the flags of the command alone. */
export interface CollectionsFlags extends QueryCollectionsOptions {
  readonly collection?: string
  readonly lang?: string
  readonly urls?: boolean
  readonly json?: boolean
  readonly home?: string
}

export interface CommandRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: 0 | 1 | 2
}

/** What surrounds the flags: requester, time and embedder. */
export type CollectionsSurroundings = Pick<QueryCollectionsOptions, 'embedder' | 'clock' | 'signal' | 'viewer'>

export async function runCollectionsCommand(cli: Cli, query: unknown, given: Flags): Promise<void> {
  const { viewer, now, format: _, trustPlugins: __, ...flags } = given
  let done: CommandRun
  try {
    done = await runCollections(query as string | undefined, flags as CollectionsFlags, {
      signal: cli.signal,
      viewer: viewerOf(viewer, cli.io.env['QUERENT_VIEWER']),
      clock: clockOf(now, cli.io.env['QUERENT_NOW']),
    })
  } catch (error) {
    done = failed(error)
  }
  if (cli.signal.aborted) return // whoever stopped it does not want what there was until then
  await write(cli.io.stderr, done.stderr)
  await write(cli.io.stdout, done.stdout)
  cli.exitCode = done.exitCode
}

/** `query`: the words of the command line; absent when there are none. */
export async function runCollections(
  query = '',
  flags: CollectionsFlags = {},
  surroundings: CollectionsSurroundings = {},
): Promise<CommandRun> {
  try {
    const { lang = 'auto', urls = false, json, collection = 'both', home, ...options } = flags
    const persistDirectory = options.persistDirectory ?? home
    const { url, sample } = options
    if (persistDirectory !== undefined && url !== undefined) {
      throw wrongFlag('url', url, 'either a folder or an address, not both')
    }
    if (sample && (persistDirectory ?? url) !== undefined) {
      throw wrongFlag('sample', 'true', 'no --home, no --persist-directory and no --url beside it')
    }
    const language = choice('lang', lang, ['auto', 'es', 'en'] as const)
    const collections = await collectionsOf(collection, persistDirectory)
    const isStoreless = persistDirectory === undefined && url === undefined && !findsStore()
    const asked = { ...options, persistDirectory, collections, ...surroundings, sample: sample || isStoreless }
    const answer = await queryCollections(query, asked)
    const warnings = answer.warnings.map(({ message }) => `Warning: ${oneLine(message)}\n`)
    return {
      stdout: json ? `${jsonText(answer, 2)}\n` : collectionsMarkdown(answer.results, query, { lang: language, urls }),
      stderr: (isStoreless && !sample ? SAMPLE_NOTICE : '') + warnings.join(''),
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

async function collectionsOf(wanted: string, persistDirectory: string | undefined): Promise<readonly string[]> {
  if (wanted === 'both') return ['items', 'analysis']
  if (wanted === 'items' || wanted === 'analysis') return [wanted]
  return [choice('collection', wanted, ['items', 'analysis', 'both', ...(await declaredCollections(persistDirectory))])]
}

function choice<Choice extends string>(flag: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find(one => one === text)
  if (found === undefined) throw wrongFlag(flag, text, `one of ${choices.join(', ')}`)
  return found
}

function wrongFlag(flag: string, value: unknown, expected: string): QuerentError {
  return new QuerentError('invalid_argument', `--${flag}: expected ${expected}, got "${value}"`, { field: flag })
}

function oneLine(message: string): string {
  return message.replace(/\s*[\r\n]+\s*/g, ' ')
}
