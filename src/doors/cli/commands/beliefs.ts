/** Bodies of `querent beliefs …`. */
import type { JsonObject } from '../../../base/canonical.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { findOperation } from '../../../ops/catalog.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { withProgress } from '../progress.ts'
import { fieldsText } from '../render/agents.ts'
import { beliefText, chainText, writtenText } from '../render/belief.ts'
import { contextText, expandedText } from '../render/belief-context.ts'
import { countText, facetsText, sampleText } from '../render/belief-counts.ts'
import { explanationText } from '../render/belief-explained.ts'
import {
  type Answer,
  answerText,
  type Batch,
  batchText,
  contradictionsText,
  type StreamEnd,
  streamEndText,
} from '../render/beliefs.ts'
import type { Style } from '../render/style.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { show } from './beliefs-call.ts'
import {
  type BeliefFlags,
  type BeliefQueryFlags,
  beliefOf,
  type LiveFlags,
  liveInput,
  queryOf,
  scopeOf,
  withoutPage,
} from './beliefs-input.ts'
import { type Input, parsed, pipedText, textOf } from './input.ts'
import { print } from './print.ts'
import { mustTakeLines, printMembers } from './stream.ts'
import { watchOperation } from './watch.ts'

export interface AboutFlags extends BeliefQueryFlags {
  readonly sameHolder?: true
  readonly minSimilarity?: number
  readonly maxDepth?: number
  readonly history?: true
}

export interface ContextFlags extends BeliefQueryFlags {
  readonly purpose: string
  readonly maxTokens: number
  readonly targetTokens?: number
}

export async function runQuery(cli: Cli, words: readonly string[], flags: BeliefQueryFlags): Promise<void> {
  const query = queryOf(await asked(cli, words), flags)
  if (flags.stream) {
    mustTakeLines(flags)
    return streamBeliefs(cli, flags, query)
  }
  await show(cli, flags, 'beliefs.query', query, (answer: Answer, style) =>
    answerText(answer, style, cli.io.stdout.columns),
  )
}

/** A belief a line as they come. What else there is to say of the answer is said aside, for people. */
async function streamBeliefs(cli: Cli, flags: CommonFlags, query: Input): Promise<void> {
  cli.errors = 'json-aside'
  const options = { warm: true, onlyLenses: ['beliefs'] }
  const conflicts: unknown[] = []
  let count = 0
  async function* noted(pieces: AsyncIterable<JsonObject>): AsyncIterable<JsonObject> {
    for await (const { conflicts: ofPiece = [], ...piece } of pieces) {
      conflicts.push(...(ofPiece as readonly unknown[]))
      count += (piece['beliefs'] as readonly unknown[]).length
      yield piece
    }
  }
  const end = await withSession(cli, flags, options, ({ catalog, stream }) =>
    printMembers(cli, noted(stream(findOperation(catalog, 'beliefs.query'), query)), 'beliefs'),
  )
  // The cast: what the pieces declare.
  await write(cli.io.stderr, streamEndText(count, { ...end, conflicts } as unknown as StreamEnd))
}

export async function runWatch(cli: Cli, words: readonly string[], flags: BeliefQueryFlags & LiveFlags): Promise<void> {
  const query = queryOf(await asked(cli, words), flags)
  const { resume_token, ...options } = liveInput(flags)
  const input = { query, options, ...(resume_token !== undefined && { resume_token }) }
  // The casts: flags and input of any command.
  await watchOperation(cli, flags as unknown as Flags, 'beliefs.watch', input as unknown as JsonObject)
}

export async function runExplain(
  cli: Cli,
  id: string,
  words: readonly string[],
  flags: BeliefQueryFlags & { readonly over?: string },
): Promise<void> {
  const { over } = flags
  const query = queryOf(await asked(cli, words), flags)
  const input = { belief_id: id, query, ...(over !== undefined && { other_id: over }) }
  await show(cli, flags, 'beliefs.explain', input, explanationText)
}

export async function runCount(cli: Cli, words: readonly string[], flags: BeliefQueryFlags): Promise<void> {
  const query = withoutPage(queryOf(await asked(cli, words), flags))
  await show(cli, flags, 'beliefs.count', query, countText)
}

export async function runFacets(
  cli: Cli,
  words: readonly string[],
  flags: BeliefQueryFlags & { readonly field: readonly string[] },
): Promise<void> {
  const query = withoutPage(queryOf(await asked(cli, words), flags))
  await show(cli, flags, 'beliefs.facets', { query, fields: flags.field }, facetsText)
}

export async function runBatch(cli: Cli, file: string, flags: CommonFlags): Promise<void> {
  const queries = parsed(await textOf(cli, file), file)
  await show(cli, flags, 'beliefs.batch', { queries }, (answer: Batch, style) =>
    batchText(answer, style, cli.io.stdout.columns),
  )
}

export async function runContext(cli: Cli, words: readonly string[], flags: ContextFlags): Promise<void> {
  const { purpose, maxTokens, targetTokens } = flags
  const query = withoutPage(queryOf(await asked(cli, words), flags))
  const input = {
    ...{ ...query, purpose, max_tokens: maxTokens },
    ...(targetTokens !== undefined && { target_tokens: targetTokens }),
  }
  await show(cli, flags, 'beliefs.context_query', input, contextText)
}

/** `similar` and `contradictions`. */
export async function runAbout(
  cli: Cli,
  question: 'similar' | 'contradictions',
  id: string,
  flags: AboutFlags,
): Promise<void> {
  const { limit, sameHolder, minSimilarity, minConfidence } = flags
  const input = {
    belief_id: id,
    options: {
      scope: scopeOf(flags),
      ...(limit !== undefined && { limit }),
      ...(sameHolder && { include_same_holder: true }),
      ...(minSimilarity !== undefined && { min_similarity: minSimilarity }),
      ...(minConfidence !== undefined && { min_confidence: minConfidence }),
    },
  }
  if (question === 'similar') {
    const table = (answer: Answer, style: Style) => answerText(answer, style, cli.io.stdout.columns)
    await show(cli, flags, 'beliefs.similar', input, table)
  } else await show(cli, flags, 'beliefs.contradictions', input, contradictionsText)
}

export async function runExpand(
  cli: Cli,
  id: string,
  flags: BeliefQueryFlags & { readonly maxTokens: number; readonly include?: readonly string[] },
): Promise<void> {
  const { include, maxTokens } = flags
  const input = { belief_id: id, max_additional_tokens: maxTokens, scope: scopeOf(flags), ...(include && { include }) }
  await show(cli, flags, 'beliefs.expand', input, expandedText)
}

export async function runDerivation(cli: Cli, id: string, { maxDepth, ...flags }: AboutFlags): Promise<void> {
  const input = { belief_id: id, ...(maxDepth !== undefined && { max_depth: maxDepth }) }
  await show(cli, flags, 'beliefs.derivation', input, chainText)
}

export async function runPut(cli: Cli, content: string | undefined, flags: BeliefFlags): Promise<void> {
  const { file, wait } = flags
  const input =
    file === undefined
      ? { content: content === undefined || content === '-' ? await pipedText(cli) : content, ...beliefOf(flags) }
      : { beliefs: parsed(await textOf(cli, file), file), ...beliefOf(flags) }
  await show(cli, flags, 'beliefs.put', { ...input, wait }, writtenText)
}

export async function runSupersede(cli: Cli, id: string, flags: BeliefFlags): Promise<void> {
  const { content, wait } = flags
  const changes = {
    ...(content !== undefined && { content: content === '-' ? await pipedText(cli) : content }),
    ...beliefOf(flags),
  }
  if (Object.keys(changes).length === 0)
    throw invalidArgument('options', '', 'at least one of those that say what to change')
  await show(cli, flags, 'beliefs.supersede', { belief_id: id, ...changes, wait }, writtenText)
}

export async function runDelete(cli: Cli, id: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'beliefs.delete', { belief_id: id }, () => `${id} deleted\n`)
}

export async function runGet(cli: Cli, id: string, flags: AboutFlags): Promise<void> {
  const input = { belief_id: id, ...(flags.history && { include_superseded: true }) }
  await show(cli, flags, 'beliefs.get', input, beliefText)
}

export async function runDiagnostics(cli: Cli, flags: CommonFlags & { readonly calibrate: boolean }): Promise<void> {
  await show(cli, flags, 'beliefs.diagnostics', { calibrate: flags.calibrate }, fieldsText)
}

export async function runSample(cli: Cli, flags: CommonFlags): Promise<void> {
  // Loaded when it is wanted: other commands do without its data.
  const { loadBeliefsSample } = await import('../../../engine/openings/sample-beliefs.ts')
  const counts = await withProgress(cli.io, report => {
    const options = { create: true, onlyLenses: ['beliefs'], report }
    return withSession(cli, flags, options, ({ engine, context }) => loadBeliefsSample(engine, context.viewer, report))
  })
  await print(cli, flags, counts, { table: () => sampleText(counts) })
}

/** `-` alone reads the question from standard input. */
async function asked(cli: Cli, words: readonly string[]): Promise<readonly string[]> {
  return words.length === 1 && words[0] === '-' ? [await pipedText(cli)] : words
}
