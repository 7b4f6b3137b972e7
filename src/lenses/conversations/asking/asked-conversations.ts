/** Which conversations a question is about: those that it names, else those in which something speaks for an answer. */
import type { Bitset } from '../../../base/bitset.ts'
import type { Filter } from '../../../model/filter.ts'
import { allowedEntries } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { allOf } from '../../../pipeline/filter-input.ts'
import type { Plan } from '../../../pipeline/stage.ts'
import { MESSAGES } from '../tables.ts'
import { LISTED } from './cosines.ts'
import type { Transcript } from './transcript.ts'
import type { Transcripts } from './transcripts.ts'

const NAME = 'conversations.conversation'
/** Conversations ranked for one question that names none, the likeliest first, and messages of theirs together, about. */
const MOST_CONVERSATIONS = 100
const MOST_MESSAGES = 20_000

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
export function askedConversations(
  known: Transcripts,
  plan: Plan,
  depth: number,
  context: QueryContext,
): AskedConversations {
  const { partitions } = context.sight
  const conditions = conditionsOf(plan.filter)
  const naming = conditions.find(condition => namesIn(condition) !== null)
  if (naming !== undefined) {
    const threads = new Set(namesIn(naming)?.flatMap(name => [...known.named(name)]))
    // What all messages of these conversations fulfil need not be asked of the store.
    const others = conditions.filter(condition => condition !== naming && condition !== ONLY_MESSAGES)
    const allow = allowedEntries({ ...plan, filter: allOf(others) }, context)
    return { transcripts: known.of(threads, partitions), allow, isAll: true }
  }
  const allow = allowedEntries(plan, context)
  const scope = allow === null ? { partitions } : { partitions, allow }
  const wanted = Math.max(depth, LISTED)
  const byWords = plan.weights.words > 0 ? context.words.search({ ...scope, terms: plan.terms, k: wanted }) : []
  const { vector } = plan
  const byMeaning =
    vector === null ? [] : (context.vectors?.search({ ...scope, vector, k: wanted, approximate: true }) ?? [])
  const entries = new Set<number>()
  for (let at = 0; at < Math.max(byWords.length, byMeaning.length); at++) {
    for (const hit of [byWords[at], byMeaning[at]]) if (hit !== undefined) entries.add(hit.entry)
  }
  const threads = threadsOf([...entries], context)
  const transcripts = known.of(threads.slice(0, MOST_CONVERSATIONS), partitions, MOST_MESSAGES)
  const isEvery = threads.length <= transcripts.length
  return { transcripts, allow, isAll: isEvery && byWords.length < wanted && byMeaning.length < wanted }
}

/** All of these must hold. */
function conditionsOf(filter: Filter | null): readonly Filter[] {
  if (filter === null) return []
  return filter.op === 'and' ? filter.of.flatMap(conditionsOf) : [filter]
}

/** In the order of these entries. */
function threadsOf(entries: readonly number[], { reader }: QueryContext): readonly string[] {
  const rows = reader.table(MESSAGES).scan({}, { entries, columns: ['entry', 'thread'] })
  const byEntry = new Map(rows.map(row => [row['entry'] as number, row['thread'] as string]))
  return [...new Set(entries.flatMap(entry => byEntry.get(entry) ?? []))]
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
