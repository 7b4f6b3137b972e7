/** What the operators of a text demand of a belief (BQ-037 to BQ-039). */
import type { Steps } from '../../../base/turns.ts'
import type { VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { TimeLimit } from '../time-limit.ts'
import type { Contents } from './literal.ts'
import { foldContent, hasPhrase, hasTokens, tokensOf } from './literal.ts'
import type { Matches } from './matches.ts'

/** A word or the words of a quote, with its vector where there is one. */
export interface Operand {
  readonly text: string
  readonly vector: Float32Array | null
}

/** What a text demands, shuts out and quotes. */
export interface TextOperators {
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly phrases: readonly string[]
}

interface OperatorsRequest extends TextOperators {
  readonly columns: BeliefColumns
  readonly contents: Contents
  readonly matches: Matches
  /** Raw cosines; null: words alone decide. */
  readonly thresholds: { readonly include: number; readonly exclude: number } | null
  readonly index: VectorIndex | null
  readonly accessScope: AccessScope
  readonly time?: TimeLimit | undefined
}

/** Those that meet all of it: a step for some hundred contents that are looked through. */
export function* meetingOperators(request: OperatorsRequest): Steps<Matches> {
  const { include, exclude, phrases, thresholds } = request
  let { matches } = request
  if (include.length + exclude.length + phrases.length === 0) return matches
  matches = yield* holding(request, matches, phrases.map(wholePhrase), true)
  matches = yield* without(request, matches, exclude, thresholds?.exclude ?? null)
  for (const operand of include) {
    const meant = meaning(request, matches, operand, thresholds?.include ?? null)
    const test = wordTest(operand)
    const literal: Matches = yield* holding(
      request,
      matches.where(row => !meant.has(row)),
      [test],
      true,
    )
    const kept = new Set([...meant, ...literal.rows])
    matches = matches.where(row => kept.has(row))
  }
  return matches
}

/** Those that hold one of these terms at least as it is written. */
export function* holdingAny(request: Omit<OperatorsRequest, 'exclude' | 'phrases'>): Steps<Matches> {
  const { matches, include } = request
  const without: Matches = yield* holding(request, matches, include.map(wordTest), false)
  return matches.where(row => !without.has(row))
}

type Test = (folded: string) => boolean

function wholePhrase(phrase: string): Test {
  const wanted = foldContent(phrase).trim()
  return folded => hasPhrase(folded, wanted)
}

function wordTest({ text }: Operand): Test {
  const tokens = tokensOf(text)
  return folded => hasTokens(folded, tokens)
}

function* without(
  request: OperatorsRequest,
  matches: Matches,
  operands: readonly Operand[],
  threshold: number | null,
): Steps<Matches> {
  let left = matches
  for (const operand of operands) {
    const meant = meaning(request, left, operand, threshold)
    left = left.where(row => !meant.has(row))
    yield
  }
  return yield* holding(request, left, operands.map(wordTest), false)
}

/** With `wanted`, the matches whose content passes all tests; else those whose content passes none. */
function* holding(
  { contents, time }: Pick<OperatorsRequest, 'contents' | 'time'>,
  matches: Matches,
  tests: readonly Test[],
  wanted: boolean,
): Steps<Matches> {
  if (tests.length === 0) return matches
  const passed = new Set<number>()
  const looked = time?.reader()
  const passes = (test: Test, folded: string): boolean => {
    looked?.(folded.length)
    return test(folded)
  }
  const visit = (row: number, folded: string): void => {
    if (tests.every(test => passes(test, folded) === wanted)) passed.add(row)
  }
  time?.check()
  yield* contents.each(matches.rows, visit, looked)
  return matches.where(row => passed.has(row))
}

const FIRST = 256

/** Rows of matches whose raw cosine with the operand is at least the threshold. */
function meaning(
  { columns, index, time, accessScope: { partitions } }: OperatorsRequest,
  matches: Matches,
  { vector }: Operand,
  threshold: number | null,
): ReadonlySet<number> {
  if (vector === null || index === null || threshold === null || matches.count === 0) return new Set()
  for (let k = FIRST; ; k *= 4) {
    time?.check()
    const hits = index.search({ vector, k, partitions, allow: matches.bits })
    const isAll = hits.length < k || (hits.at(-1)?.score ?? 0) < threshold
    if (!isAll) continue
    const near = hits.filter(({ score }) => score >= threshold)
    return new Set(near.map(({ entry }) => columns.rowOf(entry as EntryKey)))
  }
}
