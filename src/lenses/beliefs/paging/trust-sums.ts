/** What trust in the holders of an order's matches sums up to. Costs a pass over the holders once a minute. */
import { Recent } from '../../../base/recent.ts'
import { hashOfTwo, shareHash } from '../../../base/text-hash.ts'
import type { Matches } from '../matching/matches.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { holderNames, trustQuestion } from '../ranking/trust-columns.ts'
import type { BeliefsState } from '../state.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import type { TrustStamp } from '../trust/stamp.ts'
import { type Sums, sumsOf } from './match-sums.ts'

const NINE_DECIMALS = 1e9
/** What trust comes to is summed as of the minute's beginning: after that it only fades, by a millionth at most. */
const MINUTE_MS = 60_000
/** 80 kB each over 10,000 holders. */
const MOST_COLUMNS = 64

interface TrustColumn {
  readonly stamp: TrustStamp
  readonly names: readonly string[]
  readonly trust: Float64Array
}

const COLUMNS = new WeakMap<BeliefsState, Recent<string, { value: TrustColumn | null }>>()
const TRUST_SUMS = new WeakMap<Matches, { readonly trust: Float64Array; readonly sums: readonly [number, number] }>()

export function trustSums(evaluation: Evaluation): readonly number[] {
  const { requester, trustColumns, question, matches } = evaluation
  const trust = trustOfMinute(evaluation)
  const known = TRUST_SUMS.get(matches)
  const sums = known?.trust === trust ? known.sums : holderSums(sumsOf(evaluation), trust)
  TRUST_SUMS.set(matches, { trust, sums })
  const strict = question.scope.federated ? requester.federations.filter(id => requester.isStrict(id)) : []
  return [...sums, ...strict.map(id => shareHash(trustColumns.named(federationTarget(id)).trust))]
}

/** To nine decimals, which fit 32 bits: longer numbers take four times as long. */
function holderSums({ holders, names }: Sums, trust: Float64Array): readonly [number, number] {
  let one = 0
  let other = 0
  for (let at = 0; at < holders.length; at++) {
    const value = Math.round((trust[holders[at] as number] as number) * NINE_DECIMALS)
    const name = names[at] as number
    one = (one + hashOfTwo(name, value)) | 0
    other = (other + hashOfTwo(value, name)) | 0
  }
  return [one, other]
}

/** By holder. The same array for as long as nothing but time has changed it, within the minute. */
function trustOfMinute({ state, view, requester, question, asOf }: Evaluation): Float64Array {
  const asked = trustQuestion(question.context)
  const minute = Math.floor(asOf / MINUTE_MS) * MINUTE_MS
  const found = state.trust.trustOf(requester.id, asked, minute, () => view.time?.check())
  const names = holderNames(view.columns)
  const columns = COLUMNS.get(state) ?? new Recent<string, { value: TrustColumn | null }>(MOST_COLUMNS)
  COLUMNS.set(state, columns)
  const kept = columns.get(JSON.stringify([requester.id, asked, minute]), () => ({ value: null }))
  if (kept.value?.names !== names || !kept.value.stamp.equals(found.stamp)) {
    kept.value = { stamp: found.stamp, names, trust: found.columns(names).trust }
  }
  return kept.value.trust
}
