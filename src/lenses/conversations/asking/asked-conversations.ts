/** Which conversations a question is about: those that it names, else those in which something speaks for an answer. */
import type { Bitset } from '../../../base/bitset.ts'
import type { Filter } from '../../../model/filter.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import type { Plan } from '../../../pipeline/stage.ts'
import { MESSAGES } from '../tables.ts'
import { LISTED } from './cosines.ts'
import type { Transcript } from './transcript.ts'
import type { Transcripts } from './transcripts.ts'

const NAME = 'conversations.conversation'
/** Conversations ranked for one question, the likeliest first. */
const MOST_CONVERSATIONS = 100

export interface AskedConversations {
  readonly transcripts: readonly Transcript[]
  /** False: there may be others that have an answer. */
  readonly isAll: boolean
}

/** `allow`: the messages that may be answers; `depth`: as retrieval is asked. */
export function askedConversations(
  known: Transcripts,
  plan: Plan,
  depth: number,
  allow: Bitset | null,
  context: QueryContext,
): AskedConversations {
  const names = plan.filter === null ? null : namesIn(plan.filter)
  const { partitions } = context.sight
  if (names !== null) {
    const threads = new Set(names.flatMap(name => [...known.named(name)]))
    return { transcripts: known.of(threads, partitions), isAll: true }
  }
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
  return {
    transcripts: known.of(threads.slice(0, MOST_CONVERSATIONS), partitions),
    isAll: threads.length <= MOST_CONVERSATIONS && byWords.length < wanted && byMeaning.length < wanted,
  }
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
    case 'and': {
      for (const part of filter.of) {
        const names = namesIn(part)
        if (names !== null) return names
      }
      return null
    }
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
