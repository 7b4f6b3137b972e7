/** The command `querent collections`: one query over several collections. A failure is one line on standard error, even with `--json`. */

import { invalidArgument } from '../../../model/errors.ts'
import {
  collectionsMarkdown,
  declaredCollections,
  findsStore,
  type QueryCollectionsOptions,
  queryCollections,
} from '../../../openings/collections.ts'
import { asQuerentError, type Cli, exitCodeFor, write } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { oneLine, type Print } from '../render/answer.ts'
import { clockOf, viewerOf } from '../session.ts'
import { print } from './print.ts'

/** Flags of the command: the query's fields under the names that the library has for them, and flags that only the command has. */
type CollectionsFlags = Omit<QueryCollectionsOptions, 'viewer'> &
  Flags & { readonly collection?: string; readonly lang?: 'auto' | 'es' | 'en'; readonly urls?: true }

/** Notice that an answer comes from the sample data, so that it is not mistaken for the user's own data. */
const SAMPLE_NOTICE =
  'there is no store here, so this is the sample that comes with Querent; `querent add` makes a store'

export async function runCollections(cli: Cli, query: string, given: Flags): Promise<void> {
  const {
    viewer,
    now,
    json,
    format: _,
    trustPlugins: __,
    home,
    lang = 'auto',
    urls = false,
    collection = 'both',
    ...options
  } = given as CollectionsFlags
  const { persistDirectory = home, url, sample } = options
  if (persistDirectory !== undefined && url !== undefined) {
    throw invalidArgument('--url', url, 'either a folder or an address, not both')
  }
  if (sample && (persistDirectory ?? url) !== undefined) {
    throw invalidArgument('--sample', true, 'no --home, no --persist-directory and no --url beside it')
  }
  const isStoreless = persistDirectory === undefined && url === undefined && !findsStore()
  const answer = await queryCollections(query, {
    ...options,
    ...{ persistDirectory, sample: sample || isStoreless, signal: cli.signal },
    collections: await collectionsOf(collection, persistDirectory),
    viewer: viewerOf(viewer, cli.io.env['QUERENT_VIEWER']),
    clock: clockOf(now, cli.io.env['QUERENT_NOW']),
  })
  const notices = [...(isStoreless && !sample ? [SAMPLE_NOTICE] : []), ...answer.warnings.map(({ message }) => message)]
  for (const notice of notices) await write(cli.io.stderr, `Warning: ${oneLine(notice)}\n`)
  const markdown: Print<CollectionsAnswer> = ({ results }) => collectionsMarkdown(results, query, { lang, urls })
  // The answer is printed like Markdown, without terminal styles, because it contains texts by other people.
  await print(cli, json ? { json } : { format: 'md' }, answer, markdown)
}

type CollectionsAnswer = Awaited<ReturnType<typeof queryCollections>>

async function collectionsOf(wanted: string, persistDirectory: string | undefined): Promise<readonly string[]> {
  if (wanted === 'both') return ['items', 'analysis']
  if (wanted === 'items' || wanted === 'analysis') return [wanted]
  const known = ['items', 'analysis', 'both', ...(await declaredCollections(persistDirectory))]
  if (known.includes(wanted)) return [wanted]
  throw invalidArgument('--collection', wanted, `one of ${known.join(', ')}`)
}

export async function reportedInALine(cli: Cli, body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (thrown) {
    if (cli.signal.aborted) throw thrown
    const error = asQuerentError(thrown)
    await write(cli.io.stderr, `Error: ${oneLine(error.message)}\n`)
    cli.exitCode = exitCodeFor(error)
  }
}
