import type { Dimension } from '../../../../src/lenses/beliefs/dimensions.ts'
import type { Belief, BeliefSource } from '../../../../src/lenses/beliefs/model.ts'
import { day } from '../../parts/format.ts'
import { addressOf } from '../../shell/router.ts'

const NAMES: Readonly<Record<Dimension, string>> = {
  source_reliability: 'Source reliability',
  method_quality: 'Method quality',
  internal_consistency: 'Internal consistency',
  temporal_freshness: 'Freshness',
  corroboration: 'Corroboration',
  domain_applicability: 'Domain fit',
}

export function dimensionName(dimension: Dimension): string {
  return NAMES[dimension]
}

export function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

/** As far as who looks may know it. */
export function holderOf({ holder_id }: Belief): string {
  return holder_id ?? 'somebody in a federation that names nobody'
}

/** `node`: the one that answered with it; absent: this one. */
export function sourceName({ kind, id }: BeliefSource, node?: string): string {
  if (kind === 'federated' && id !== null) return `federation ${id}${node === undefined ? '' : ` by node ${node}`}`
  if (node !== undefined) return `node ${node}`
  return kind === 'local' ? 'this node' : kind
}

export function validity({ valid_from, valid_until }: Belief): string {
  return `${day(valid_from)} – ${valid_until === null ? 'open' : day(valid_until)}`
}

export function contentOf({ content, deleted_at }: Belief): string {
  return deleted_at === null ? content : 'Deleted by its holder.'
}

/** The question goes with it: what a belief is worth is said for a question. */
export function beliefAddress(ids: readonly string[], question: string): string {
  return addressOf('beliefs', ids, { q: question })
}
