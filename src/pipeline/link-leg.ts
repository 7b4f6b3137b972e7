/**
 * The leg of one hop: what the best result links to, or is linked from, is lifted by a share of its relevance, the less the more
 * links it has. How that was measured: docs/decisions/020.
 */
import type { SearchScope } from '../index/contract.ts'
import type { Candidate } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { FILE_LINKS } from '../store/core-tables.ts'
import type { QueryContext } from './context.ts'
import { boundDefault, scoredBy } from './formula.ts'
import { isNoise } from './noise.ts'
import { NoteLinks } from './note-links.ts'
import { firstInOrder } from './order.ts'
import type { Plan, Retrieval } from './stage.ts'

/** A result with more links says nothing of any of them. */
const MOST_LINKS = 100

/** By entry the relevance of the best result by the root of its links; null: it has none. Nothing that is hidden has a part in it. */
export function linkLifts(
  candidates: readonly Candidate[],
  { bmTop = 0 }: Retrieval['statistics'],
  plan: Plan,
  { allow }: SearchScope,
  context: QueryContext,
): ReadonlyMap<EntryKey, number> | null {
  const { reader, accessScope, model } = context
  // What is ranked by passages, or is like an entry, is not asked of notes.
  if (plan.query.group === 'passage' || plan.except !== null) return null
  if (reader.table(FILE_LINKS).scan({}, { limit: 1 }).length === 0) return null
  const bound = boundDefault(plan.weights, bmTop, model?.cosineScale ?? 1)
  const scored = candidates.filter(candidate => !isNoise(candidate, context)).map(scoredBy(bound))
  const [best] = firstInOrder(scored, 1, context)
  if (best === undefined || best.score <= 0) return null
  const linked = new NoteLinks(reader, accessScope).linkedWith(best.entry)
  if (linked.length === 0 || linked.length > MOST_LINKS) return null
  const lift = best.score / Math.sqrt(linked.length)
  return new Map(linked.filter(entry => allow?.has(entry) ?? true).map(entry => [entry, lift]))
}
