/** A new file with the bytes of one that is gone is the same file at another place. */

/** Finds by a hash which file was moved. Of several with the same bytes each is found once, in the order of `gone`. */
export function movedFiles<T extends { readonly hash: string }>(gone: readonly T[]): (hash: string) => T | undefined {
  const left = Map.groupBy(gone, ({ hash }) => hash)
  return hash => left.get(hash)?.shift()
}
