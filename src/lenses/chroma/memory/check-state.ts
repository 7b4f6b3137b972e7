/** What no node's state may be (CQ-129): for everything that is imported or written. */
import { invalidState } from '../errors.ts'
import { MODE_NAMES } from '../mode-names.ts'
import type { NodeMemory } from '../model.ts'
import { isModeName } from './modes.ts'

/** As it came: nothing of it is taken for granted. */
export type GivenState = {
  readonly [K in 'created_at' | 'mode_name' | Exclude<keyof NodeMemory, 'version'>]: unknown
} & { readonly version?: unknown }

/** Throws `invalid_state`; `where` names the node in the message (`nodes[3]`). Times are Unix seconds. */
export function checkState(state: GivenState, now: number, where = 'state'): void {
  const problem = problemOf(state, now)
  if (problem === null) return
  const [field, expected] = problem
  throw invalidState(`${where}.${field}`, { value: state[field], expected })
}

type Problem = readonly [field: keyof GivenState, expected: string]

function problemOf(state: GivenState, now: number): Problem | null {
  const { created_at, last_accessed, strength_raw, decay_health, ascension, rotten, access_count, version } = state
  if (!isWhole(created_at)) return ['created_at', 'whole Unix seconds']
  if (created_at > now) return ['created_at', `no later than now (${now})`]
  if (!isWhole(last_accessed)) return ['last_accessed', 'whole Unix seconds']
  if (last_accessed < created_at) return ['last_accessed', `no earlier than created_at (${created_at})`]
  if (!isNumber(strength_raw) || strength_raw < 0) return ['strength_raw', 'a finite number ≥ 0']
  if (!isNumber(decay_health) || decay_health < 0 || decay_health > 1) return ['decay_health', 'a number 0 to 1']
  if (typeof ascension !== 'boolean') return ['ascension', 'true or false']
  if (typeof rotten !== 'boolean') return ['rotten', 'true or false']
  if (ascension && rotten) return ['rotten', 'false for an ascended node']
  if (!isWhole(access_count) || access_count < 0) return ['access_count', 'a whole number ≥ 0']
  if (version !== undefined && (!isWhole(version) || version < 0)) return ['version', 'a whole number ≥ 0']
  if (!isModeName(state.mode_name)) return ['mode_name', `one of ${MODE_NAMES.join(', ')}`]
  return null
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}
