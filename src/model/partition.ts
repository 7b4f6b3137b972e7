/**
 * A partition is an audience with a number: who may see an entry. Every entry is in exactly one partition, every index keeps its blocks and
 * statistics by partition, and a query reads only those that its viewer may read. So hidden entries cannot influence a query, because it
 * never opens their blocks.
 */
import { invalidArgument } from './errors.ts'

/** The store's number of a partition. It never leaves the engine. */
export type PartitionId = number

export type Audience =
  | { readonly kind: 'public'; readonly holder: string }
  | { readonly kind: 'private'; readonly holder: string }
  | {
      readonly kind: 'shared'
      readonly holder: string
      readonly federations: readonly string[]
      /** Readers are not told who the holder is: only code that hides holders may read the partition for them. */
      readonly masked?: true
    }

/** Name of the local owner, who administers the store and reads all of it. No agent may use this name. */
export const OWNER = 'owner'

/** Names of agents and federations: without separators of the partition key, white space, control characters and unpaired surrogates. */
const NAME = /^[^\s:,\p{Cc}\p{Cs}]{1,200}$/u

export function isHolderName(name: string): boolean {
  return NAME.test(name) || /^did:key:z[1-9A-HJ-NP-Za-km-z]{1,190}$/.test(name)
}

export function isFederationName(name: string): boolean {
  return NAME.test(name)
}

/** Makes an audience: checks names and sorts federations, so that equal audiences are equal values. */
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
 * The text that identifies a partition. All public entries share one partition, whoever holds them; a private one is `private:<holder>`, a
 * shared one `shared:<holder>:<federations>`, ids joined by commas (`masked:…`).
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

/** Whether a viewer who can read entries for the audience `from` may be unable to read those for `to`, an audience of the same holder. */
export function losesReaders(from: Audience, to: Audience): boolean {
  if (to.kind === 'public' || from.kind === 'private') return false
  if (from.kind === 'public' || to.kind === 'private') return true
  const isMaskedNow = to.masked === true && from.masked !== true
  return isMaskedNow || from.federations.some(id => !to.federations.includes(id))
}
