/** Where a row comes from, as a number. */
import type { ScopeKind } from '../model.ts'

export const LOCAL = 1
export const FEDERATED = 2
export const NETWORK = 3

export const SOURCE_NUMBERS: Readonly<Record<ScopeKind, number>> = {
  local: LOCAL,
  federated: FEDERATED,
  network: NETWORK,
}
