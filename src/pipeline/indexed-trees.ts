/** Folders and files that a lens has read by itself, with a mark of what lay below them: so the engine finds what has changed since (QE-012). */
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

/** To be taken before anything is read: what changes during the run has another mark. `paths` null: the whole workspace. */
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
    // A run over a part says nothing of the rest.
    if (known.some(tree => isBelow(url, tree))) continue
    trees.push({ url, mark: await workspace.mark(url, signal) })
  }
  return trees
}

/** When the run is done. Trees within these are known with them. */
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

/** `paths` null: the whole workspace. */
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
