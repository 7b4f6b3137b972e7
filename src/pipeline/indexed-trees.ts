/**
 * Folders and files that a lens (a kind of content with its own indexing, such as code) has indexed by itself, each with a fingerprint
 * (mark) of its contents at that time; a different mark later shows the engine that something changed (QE-012).
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
 * Computes the marks (fingerprints) of the folders and files that are about to be indexed. Must be called before any of them is read, so
 * that a change during indexing gives another mark. `paths` null: the whole workspace.
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
    // A folder inside a tree that is already recorded is skipped: indexing only a part of a tree must not update the mark of the whole
    // tree.
    if (known.some(tree => isBelow(url, tree))) continue
    trees.push({ url, mark: await workspace.mark(url, signal) })
  }
  return trees
}

/**
 * Records the marks of the trees after they were indexed; recorded trees that lie within one of them are deleted, since the larger tree
 * covers them.
 */
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

/** Deletes the recorded marks of the trees at or below these paths. `paths` null: the whole workspace. */
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
