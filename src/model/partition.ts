/**
 * A partition is an audience (who may see an entry) with a number. Every entry is in exactly one partition, every index keeps its data and
 * statistics by partition, and a query reads only partitions that its viewer may read. So hidden entries cannot influence a query.
 */
import { invalidArgument } from './errors.ts'

/** The store's number of a partition; never shown outside the engine. */
export type PartitionId = number

export type Audience =
  | { readonly kind: 'public'; readonly holder: string }
  | { readonly kind: 'private'; readonly holder: string }
  | {
      readonly kind: 'shared'
      readonly holder: string
      readonly federations: readonly string[]
      /** Whether readers must not learn who the holder is. Only code that hides holders may then read the partition for such readers. */
      readonly masked?: true
    }

/** Name of the local owner, who administers the store and reads all of it. No agent may use this name. */
export const OWNER = 'owner'

/**
 * Pattern for names of agents and federations: 1 to 200 characters, without white space, colons and commas (which separate parts of a
 * partition's key), control characters and unpaired surrogates.
 */
const NAME = /^[^\s:,\p{Cc}\p{Cs}]{1,200}$/u

export function isHolderName(name: string): boolean {
  return NAME.test(name) || /^did:key:z[1-9A-HJ-NP-Za-km-z]{1,190}$/.test(name)
}

export function isFederationName(name: string): boolean {
  return NAME.test(name)
}

/** Makes an audience: checks the names and sorts the federations, so that equal audiences have equal values. */
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
 * The text that identifies the partition of an audience: `public` for all public entries, whoever holds them; `private:<holder>`;
 * `shared:<holder>:<federations>` with ids joined by commas, or `masked:…` where the holder is hidden from readers.
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

/** Whether some viewer may see an entry with the audience `from` but not with the audience `to`. Both have the same holder. */
export function losesReaders(from: Audience, to: Audience): boolean {
  if (to.kind === 'public' || from.kind === 'private') return false
  if (from.kind === 'public' || to.kind === 'private') return true
  const isMaskedNow = to.masked === true && from.masked !== true
  return isMaskedNow || from.federations.some(id => !to.federations.includes(id))
}
