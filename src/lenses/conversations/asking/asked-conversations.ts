/** Which conversations a question is about: those that it names, else those in which something speaks for an answer. */
import type { Bitset } from '../../../base/bitset.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Hit, SearchScope } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Filter } from '../../../model/filter.ts'
import { allowedEntries } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { allOf } from '../../../pipeline/resolve-query.ts'
import type { Plan } from '../../../pipeline/stage.ts'
import { LISTED, MOST_SCANNED } from './cosines.ts'
import type { Transcript } from './transcript.ts'
import type { Transcripts } from './transcripts.ts'

const NAME = 'conversations.conversation'
/** Conversations ranked for one question, the likeliest first: so many in any case, and others while all can be looked at. */
const LEAST_CONVERSATIONS = 8
const MOST_CONVERSATIONS = 100

/** All messages there are, and nothing else. */
export const ONLY_MESSAGES = { op: 'eq', field: 'kind', value: 'message' } as const

export interface AskedConversations {
  readonly transcripts: readonly Transcript[]
  /** Messages of theirs that may be answers; null: all. */
  readonly allow: Bitset | null
  /** False: there may be others that have an answer. */
  readonly isAll: boolean
}

/** `depth`: as retrieval is asked. */
export function* askedConversations(
  known: Transcripts,
  plan: Plan,
  depth: number,
  context: QueryContext,
): Steps<AskedConversations> {
  const { partitions } = context.accessScope
  const conditions = conditionsOf(plan.filter)
  const naming = conditions.find(condition => namesIn(condition) !== null)
  if (naming !== undefined) {
    // What all messages of these conversations fulfil need not be asked of the store.
    const others = conditions.filter(condition => condition !== naming && condition !== ONLY_MESSAGES)
    const allow = yield* allowedEntries({ ...plan, filter: allOf(others) }, context)
    return { transcripts: yield* known.ofNamed(namesIn(naming) ?? [], partitions), allow, isAll: true }
  }
  const allow = yield* allowedEntries(plan, context)
  const scope = allow === null ? { partitions } : { partitions, allow }
  const wanted = Math.max(depth, LISTED)
  const byWords = plan.weights.words > 0 ? yield* foundByWords(plan, wanted, scope, context) : []
  yield
  const { vector } = plan
  const byMeaning =
    vector === null ? [] : (context.vectors?.search({ ...scope, vector, k: wanted, approximate: true }) ?? [])
  const best = inTurn(byWords, byMeaning)
  // Asked deeper, as for later pages, it reaches further in proportion.
  const reach = wanted / LISTED
  const { transcripts, isAll } = yield* known.around(best, partitions, {
    atLeast: Math.ceil(LEAST_CONVERSATIONS * reach),
    atMost: Math.ceil(MOST_CONVERSATIONS * reach),
    messages: MOST_SCANNED * reach,
  })
  const isRest = byWords.length === wanted || byMeaning.length === wanted
  return { transcripts, allow, isAll: isAll && !isRest }
}

function* foundByWords({ terms }: Plan, k: number, scope: SearchScope, { words }: QueryContext): Steps<readonly Hit[]> {
  const reading = words.prepare?.(terms, scope)
  if (reading !== undefined) yield* reading
  return yield* words.searchInSteps({ ...scope, terms, k })
}

/** The entries of two lists, the best of each first. */
function inTurn(hits: readonly Hit[], others: readonly Hit[]): readonly EntryKey[] {
  const entries: EntryKey[] = []
  for (let at = 0; at < hits.length || at < others.length; at++) {
    if (at < hits.length) entries.push((hits[at] as Hit).entry)
    if (at < others.length) entries.push((others[at] as Hit).entry)
  }
  return entries
}

/** All of these must hold. */
function conditionsOf(filter: Filter | null): readonly Filter[] {
  if (filter === null) return []
  return filter.op === 'and' ? filter.of.flatMap(conditionsOf) : [filter]
}

/** Names of conversations one of which must be that of an answer; null: any may. */
function namesIn(filter: Filter): readonly string[] | null {
  switch (filter.op) {
    case 'or': {
      const names = filter.of.map(namesIn)
      return names.includes(null) ? null : names.flatMap(each => each ?? [])
    }
    case 'eq':
      return filter.field === NAME ? [String(filter.value)] : null
    case 'in':
      return filter.field === NAME ? filter.values.map(String) : null
    default:
      return null
  }
}
