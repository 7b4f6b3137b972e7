/** `query`, `similar`, `explain`. */
import type { Page } from '../../../model/page.ts'
import type { Group } from '../../../model/query.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { explain, query, similar } from '../../../ops/query-ops.ts'
import { EXIT } from '../failure.ts'
import { type AskFlags, type CommonFlags, questionOf } from '../flags.ts'
import { readAll, write } from '../io.ts'
import { footer, type PageAsked, pageMarkdown, pageText } from '../render/page.ts'
import { explainText } from '../render/reports.ts'
import type { Cli } from '../run.ts'
import { type SessionOptions, withSession } from '../session.ts'
import { PLAIN, print } from './print.ts'
import { mustTakeLines, printMembers } from './stream.ts'

/** A question is far shorter; this only keeps a wrong pipe from filling memory. The engine has its own limit. */
const MAX_PIPED_QUESTION = 1024 * 1024

export async function runQuery(cli: Cli, words: readonly string[], flags: AskFlags): Promise<void> {
  const input = questionOf(await questionText(cli, words), flags)
  if (flags.stream) {
    mustTakeLines(flags)
    return streamQuery(cli, input, flags)
  }
  const page = await withSession(cli, flags, sessionFor(input), session => session.run(query, input))
  await printPage(cli, flags, page, flags)
  if (flags.failEmpty && page.verdict === 'nothing_relevant') cli.exitCode = EXIT.nothingRelevant
}

/** An item a line as they come. What else there is to say of the answer is said aside, for people. */
async function streamQuery(cli: Cli, input: QueryInput, flags: AskFlags): Promise<void> {
  cli.errors = 'json'
  const answer = await withSession(cli, flags, sessionFor(input), ({ catalog, stream }) =>
    printMembers(cli, stream(findOperation(catalog, 'query'), input), 'items'),
  )
  // The cast: all that a page has but its items.
  await write(cli.io.stderr, footer(answer as unknown as Omit<Page, 'items'>, PLAIN, flags))
  if (flags.failEmpty && answer['verdict'] === 'nothing_relevant') cli.exitCode = EXIT.nothingRelevant
}

export interface SimilarFlags extends CommonFlags {
  readonly limit?: number
  readonly group?: Group
}

export async function runSimilar(cli: Cli, id: string, flags: SimilarFlags): Promise<void> {
  const { limit, group } = flags
  const input = { id, ...(limit !== undefined && { limit }), ...(group !== undefined && { group }) }
  const page = await withSession(cli, flags, { onlyLenses: [] }, session => session.run(similar, input))
  await printPage(cli, flags, page, { any: true })
}

export interface ExplainFlags extends AskFlags {
  readonly over?: string
  readonly passage?: number
  readonly overPassage?: number
}

export async function runExplain(cli: Cli, id: string, words: readonly string[], flags: ExplainFlags): Promise<void> {
  const question = questionOf(await questionText(cli, words), flags)
  const { over, passage, overPassage } = flags
  const input = {
    query: question,
    id,
    ...(passage !== undefined && { passage }),
    ...(over !== undefined && { over }),
    ...(overPassage !== undefined && { over_passage: overPassage }),
  }
  const answer = await withSession(cli, flags, sessionFor(question), session => session.run(explain, input))
  await print(cli, flags, answer, { table: style => explainText(answer, style) })
}

/** One question needs one lens. */
function sessionFor({ mode, lens }: QueryInput): SessionOptions {
  return { warm: mode !== 'words', onlyLenses: lens === undefined ? [] : [lens] }
}

/** Words of the command line make one question; a single `-` reads it from standard input. */
export async function questionText(cli: Cli, words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  return (await readAll(cli.io.stdin, MAX_PIPED_QUESTION)).trim()
}

async function printPage(cli: Cli, flags: CommonFlags, page: Page, asked: PageAsked): Promise<void> {
  const { workingFolder } = cli.io
  await print(cli, flags, page, {
    table: style => pageText(page, style, workingFolder, asked),
    md: () => pageMarkdown(page, workingFolder, asked),
  })
}
