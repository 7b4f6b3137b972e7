/** What the ids among the sources of a version mean to its writer, who may not see all there is (BQ-097, BQ-111). */
import type { EntryKey } from '../../../model/entry.ts'
import { Requester } from '../access/requester.ts'
import type { Derivation } from '../model.ts'
import { BELIEFS, VERSIONS } from '../tables.ts'
import { historyOf } from './read.ts'
import type { KeptDerivation } from './references.ts'
import type { WriteContext } from './write.ts'

/** Holders by id: of what the same act stores, sooner or later. */
export type Together = ReadonlyMap<string, string>

/** `self`: the id of the version that it is of, which may name itself. */
export function keptDerivation(
  context: WriteContext,
  derivation: Derivation,
  self: string,
  together: Together,
): KeptDerivation {
  const named = (id: string) => (id === self ? context.holder : (together.get(id) ?? holderOf(context, id)))
  const sources = derivation.sources.map(source => {
    return { ...source, holder: source.belief_id === null ? null : named(source.belief_id) }
  })
  return { ...derivation, sources }
}

/**
 * Of several holders' with this id: the writer's, whether it is current or not, else the oldest current one that the writer
 * may see, else one of the past. Null: there is none, or none that the writer may see, which are one.
 */
function holderOf(context: WriteContext, id: string): string | null {
  const { writer, holder } = context
  const requester = requesterOf(context)
  const keys = currentBeliefs(context, writer.find(id, requester.sight.partitions))
  const current = writer
    .entries(keys)
    .map(({ key, audience, createdAt }) => ({ key, holder: audience.holder, createdAt }))
  if (current.some(belief => belief.holder === holder)) return holder
  if (writer.table(VERSIONS).count({ holder, id }) > 0) return holder
  // Of one moment, what was written first: a name that sorts low takes nothing over.
  const [oldest] = current.sort((a, b) => a.createdAt - b.createdAt || a.key - b.key)
  if (oldest !== undefined) return oldest.holder
  const past = writer.table(VERSIONS).scan({ id }, { columns: ['holder', 'chain'] })
  const seen = past.find(row => {
    const history = historyOf({ reader: writer, requester }, row['holder'] as string, row['chain'] as string)
    return history.some(({ version }) => version.id === id)
  })
  return (seen?.['holder'] as string | undefined) ?? null
}

/** Other entries may have the id of a belief. */
function currentBeliefs({ writer }: WriteContext, entries: readonly EntryKey[]): readonly EntryKey[] {
  if (entries.length === 0) return []
  return writer
    .table(BELIEFS)
    .scan({}, { entries, columns: ['entry'] })
    .map(row => row['entry'] as EntryKey)
}

/** One an act: what the writer's own act adds to its sight is its own, and found by `together`. */
const REQUESTERS = new WeakMap<WriteContext, Requester>()

function requesterOf(context: WriteContext): Requester {
  const known = REQUESTERS.get(context)
  if (known !== undefined) return known
  const made = new Requester(context.writer, context.holder)
  REQUESTERS.set(context, made)
  return made
}
