/**
 * A partition is an interned audience: who may see an entry. Every entry is in exactly one, every index keeps its
 * blocks and statistics by partition, and a question touches only those its viewer may read. That is what makes hidden
 * knowledge invisible: a query cannot be influenced by a block it never opens.
 */
import { invalidArgument } from './errors.ts'

/** The store's number of a partition. Internal: it never leaves the engine. */
export type PartitionId = number

export type Audience =
  | { readonly kind: 'public'; readonly holder: string }
  | { readonly kind: 'private'; readonly holder: string }
  | {
      readonly kind: 'shared'
      readonly holder: string
      readonly federations: readonly string[]
      /** Its readers are not told who holds it: only what hides holders may read it for them. */
      readonly masked?: true
    }

/** The name of the local owner, who holds the store and reads all of it. No agent may take it. */
export const OWNER = 'owner'

/** Names of agents and federations: no separator of the partition key, no white space, no control character, no half one. */
const NAME = /^[^\s:,\p{Cc}\p{Cs}]{1,200}$/u

export function isHolderName(name: string): boolean {
  return NAME.test(name) || /^did:key:z[1-9A-HJ-NP-Za-km-z]{1,190}$/.test(name)
}

export function isFederationName(name: string): boolean {
  return NAME.test(name)
}

/** Checks names and sorts federations, so that equal audiences are equal values. */
export function audience(
  kind: Audience['kind'],
  holder: string = OWNER,
  federations: readonly string[] = [],
  masked: boolean = false,
): Audience {
  if (!isHolderName(holder)) throw invalidArgument('holder', holder, 'a name of 1 to 200 characters without blanks')
  if (kind !== 'shared') return { kind, holder }
  for (const id of federations) {
    if (!isFederationName(id)) throw invalidArgument('federations', id, 'names of 1 to 200 characters without blanks')
  }
  const sorted = [...new Set(federations)].sort()
  return masked ? { kind, holder, federations: sorted, masked } : { kind, holder, federations: sorted }
}

/**
 * The text that a partition is interned by. All public entries share one partition, whoever holds them; a private one
 * is `private:<holder>`, a shared one `shared:<holder>:<federations>`, ids joined by commas (`masked:…`).
 */
export function partitionKey(of: Audience): string {
  switch (of.kind) {
    case 'public':
      return 'public'
    case 'private':
      return `private:${of.holder}`
    case 'shared':
      return `${of.masked === true ? 'masked' : 'shared'}:${of.holder}:${of.federations.join(',')}`
  }
}

/** Whether somebody who may read entries for `from` may not read those for `to`, which is of the same holder. */
export function losesReaders(from: Audience, to: Audience): boolean {
  if (to.kind === 'public' || from.kind === 'private') return false
  if (from.kind === 'public' || to.kind === 'private') return true
  const isMaskedNow = to.masked === true && from.masked !== true
  return isMaskedNow || from.federations.some(id => !to.federations.includes(id))
}
