/** Added paths that are kept up to date no more: what was made of their files goes, unless another added path holds them too. */
import type { Instant } from '../base/clock.ts'
import { ADDED_PATHS, SEEN_FILES } from '../store/core-tables.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { addedPaths, isWithin, knownRows, ownFile, seenFiles, withoutOldRoots } from './known-files.ts'

/** How many entries were deleted. */
export async function forgetPaths(
  store: Store,
  paths: readonly string[],
  holder: string,
  now: Instant,
): Promise<number> {
  if (paths.length === 0) return 0
  return store.writeWhenFree(now, writer => {
    const others = addedPaths(writer, holder).filter(({ path }) => !paths.includes(path))
    let deleted = 0
    for (const forgotten of paths) {
      const isLeft = (path: string) => isWithin(path, forgotten) && !others.some(other => isWithin(path, other.path))
      deleted += deleteEntriesOf(writer, forgotten, isLeft, holder)
      for (const path of seenFiles(writer, holder).keys()) {
        if (isLeft(path)) writer.table(SEEN_FILES).delete({ holder, path })
      }
    }
    withoutOldRoots(writer, paths)
    // Last: what was added is found by these.
    for (const path of paths) writer.table(ADDED_PATHS).delete({ holder, path })
    return deleted
  })
}

function deleteEntriesOf(
  writer: StoreWriter,
  place: string,
  isLeft: (path: string) => boolean,
  holder: string,
): number {
  let deleted = 0
  for (const [path, rows] of knownRows(writer, place)) {
    if (!isLeft(path)) continue
    for (const { key } of ownFile(writer, rows, holder)?.entries.values() ?? []) if (writer.delete(key)) deleted++
  }
  return deleted
}
