/**
 * Folders and files that a lens has indexed by itself, with a fingerprint (mark) of what was below them, by which the engine finds later
 * changes (QE-012).
 */
import type { Workspace } from '../model/workspace.ts'
import { INDEXED_TREES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

export interface TreeOwner {
  readonly holder: string
  readonly lens: string
}

interface Tree {
  readonly url: string
  readonly mark: string
}

/**
 * Marks of the trees to be indexed. Must be taken before anything is read, so that a change during the run gives another mark. `paths`
 * null: the whole workspace.
 */
export async function marksOf(
  reader: StoreReader,
  workspace: Workspace,
  owner: TreeOwner,
  paths: readonly string[] | null,
  signal: AbortSignal,
): Promise<readonly Tree[]> {
  const known = treesOf(reader, owner)
  const trees: Tree[] = []
  for (const url of new Set((paths ?? ['.']).map(path => workspace.urlOf(path)))) {
    // A run over part of a known tree does not update the whole tree's mark.
    if (known.some(tree => isBelow(url, tree))) continue
    trees.push({ url, mark: await workspace.mark(url, signal) })
  }
  return trees
}

/** Records the trees when the run is done; trees within them are covered and dropped. */
export function rememberTrees(
  writer: StoreWriter,
  workspace: Workspace,
  owner: TreeOwner,
  trees: readonly Tree[],
): void {
  const table = writer.table(INDEXED_TREES)
  for (const { url, mark } of trees) {
    for (const known of treesOf(writer, owner)) if (isBelow(known, url)) table.delete({ ...owner, url: known })
    table.put({ ...owner, url, folder: workspace.url, mark })
  }
}

/** Removes trees below the paths. `paths` null: the whole workspace. */
export function forgetTrees(
  writer: StoreWriter,
  workspace: Workspace,
  owner: TreeOwner,
  paths: readonly string[] | null,
): void {
  const forgotten = (paths ?? ['.']).map(path => workspace.urlOf(path))
  const isForgotten = (url: string) => forgotten.some(folder => url === folder || isBelow(url, folder))
  for (const url of treesOf(writer, owner).filter(isForgotten)) writer.table(INDEXED_TREES).delete({ ...owner, url })
}

function treesOf(reader: StoreReader, owner: TreeOwner): readonly string[] {
  const rows = reader.table(INDEXED_TREES).scan({ ...owner })
  return rows.map(row => row['url'] as string)
}

function isBelow(url: string, folder: string): boolean {
  return url !== folder && url.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
