/**
 * Why a belief is not among the matches: the first step that let it go. Asked only of beliefs that the requester may see,
 * and answered from them and the question alone.
 */
import { atOnce } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { ALL_SOURCES } from '../access/requester.ts'
import { SOURCE_NUMBERS } from '../access/row-origins.ts'
import { validInstants } from '../matching/in-scope.ts'
import { Matches } from '../matching/matches.ts'
import type { TextOperators } from '../matching/operators.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Dropped } from '../schema/answers.ts'
import { type CheckedFilters, NO_FILTER } from '../schema/filters.ts'

/** Null: it matches. The row is one in sight. */
export function droppedAt(evaluation: Evaluation, row: number): Dropped | null {
  if (evaluation.matches.has(row)) return null
  const { columns, requester } = evaluation.view
  const partition = columns.arrays.partitions[row] as number
  const holder = columns.holderOf(row)
  const source = requester.sourceOf(partition, holder, evaluation.question.scope)
  if (source === null) {
    const kind = requester.sourceOf(partition, holder, ALL_SOURCES)?.kind
    return { stage: 'scope', reason: `It would come from ${kind}, which options.scope leaves out.` }
  }
  const number = SOURCE_NUMBERS[source.kind]
  return (
    byTime(evaluation, row) ??
    byFilters(evaluation, row, number) ??
    byOperators(evaluation, row, number) ??
    byMeaning(evaluation, row) ??
    byCopies(evaluation, row)
  )
}

function byTime({ view, question, asOf }: Evaluation, row: number): Dropped | null {
  const { created, validFrom, validUntil } = view.columns.arrays
  const at = validInstants(question.filters, asOf)
  const drop = (reason: string): Dropped => ({ stage: 'time', reason })
  if ((created[row] as number) > asOf) return drop('It was made later.')
  const from = validFrom[row] as number
  const until = validUntil[row] as number
  if (from > Math.min(...at)) return drop(`It is valid from ${toIso(from)} on only.`)
  return until <= Math.max(...at) ? drop(`It was valid until ${toIso(until)} only.`) : null
}

/** As a request names them. */
const FILTER_NAMES: Readonly<Record<keyof CheckedFilters, string>> = {
  confidence: 'min_confidence',
  validAt: 'valid_at',
  createdAfter: 'created_after',
  createdBefore: 'created_before',
  createdWithinMs: 'preset recent',
  domainsInclude: 'domains_include',
  domainsExclude: 'domains_exclude',
  holderIds: 'holder_ids',
  excludeHolders: 'exclude_holders',
  minHolderReputation: 'min_holder_reputation',
  directTrustAbove: 'preset from_trusted',
  derivationTypes: 'derivation_types',
  maxDerivationDepth: 'max_derivation_depth',
  visibilityLevels: 'visibility_levels',
}

function byFilters(evaluation: Evaluation, row: number, source: number): Dropped | null {
  for (const filter of evaluation.question.filters) {
    for (const name of Object.keys(FILTER_NAMES) as (keyof CheckedFilters)[]) {
      const tests = evaluation.testsOf([{ ...NO_FILTER, [name]: filter[name] }])
      if (tests.every(test => test(row, source))) continue
      return { stage: 'filters', reason: `It does not pass the filter ${FILTER_NAMES[name]}.` }
    }
  }
  return null
}

function byOperators(evaluation: Evaluation, row: number, source: number): Dropped | null {
  const { question, understood, view } = evaluation
  if (question.semantic === null) return null
  const alone = new Matches(view.columns, Int32Array.of(row), Uint8Array.of(source))
  const none = { phrases: [], include: [], exclude: [] }
  const meets = (some: Partial<TextOperators>) =>
    atOnce(evaluation.meetingOperators(alone, { ...none, ...some })).count > 0
  for (const phrase of question.semantic.phrases) {
    if (!meets({ phrases: [phrase] }))
      return { stage: 'phrases', reason: `The phrase "${phrase}" does not stand in it.` }
  }
  for (const operand of understood.exclude) {
    if (!meets({ exclude: [operand] })) return { stage: 'exclusions', reason: `It says, or means, -${operand.text}.` }
  }
  for (const operand of understood.include) {
    if (!meets({ include: [operand] })) {
      return { stage: 'inclusions', reason: `It neither says nor means +${operand.text}.` }
    }
  }
  return null
}

function byMeaning({ copies, cosines, floor, understood, view, requester }: Evaluation, row: number): Dropped | null {
  const { meaning } = understood
  if (cosines === null || copies.has(row)) return null
  const entry = view.columns.arrays.entries[row] as EntryKey
  const { partitions } = requester.accessScope
  const [hit] = meaning.by === 'vector' ? meaning.index.score(meaning.vector, [entry], { partitions }) : []
  const reason =
    hit === undefined
      ? 'It has no vector to compare, and too few of the words of the text.'
      : floor !== null && hit.score < floor
        ? `It is too far from the text: its cosine is ${hit.score.toFixed(2)}, and ${floor.toFixed(2)} is needed.`
        : 'Others are nearer to the text, more than take part.'
  return { stage: 'candidates', reason }
}

function byCopies({ view: { columns }, matches }: Evaluation, row: number): Dropped {
  const { ids, contents } = columns.arrays
  const sameId = matches.rows.find(other => ids[other] === ids[row])
  const kept = sameId ?? matches.rows.find(other => contents[other] === contents[row])
  const which = kept === undefined ? '' : `, ${columns.idOf(kept)}`
  return { stage: 'copies', reason: `A copy of it stands for it${which}.` }
}
