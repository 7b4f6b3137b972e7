/**
 * Reads a damaged home as far as possible: copies everything readable from its store into a temporary store, which is deleted after use.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Instant } from '../../base/clock.ts'
import { declaredTables } from '../../lenses/registry.ts'
import type { CallContext } from '../../model/operation.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import { type Salvage, salvageStore } from '../../store/care/salvage.ts'
import type { Backup, Engine } from '../engine.ts'
import { findHome, type Home, STORE_FILE } from '../home.ts'
import { openEngine } from '../open.ts'

// Also for files that commands write.
export { putInPlace, syncFile, unfinishedPath } from '../../store/care/finished-file.ts'

/**
 * The home (the folder with the store) that an engine opened with this option would use: the named one, that of QUERENT_HOME, or the
 * nearest one above the working folder. Throws `store_missing` if there is none.
 */
export function homeOf(named: string | undefined): Home {
  const environmentHome = process.env['QUERENT_HOME'] || undefined
  return findHome({ home: named, environmentHome, workingFolder: process.cwd(), create: false })
}

/**
 * Copies everything readable of a damaged store into a temporary store. Then calls `body` with an engine on the temporary store and a
 * report that lists the losses.
 */
export async function withSalvaged<T>(
  home: Home,
  now: Instant,
  body: (engine: Engine, salvage: Salvage) => Promise<T>,
): Promise<T> {
  return await inFolderOf(home, async folder => {
    const salvage = salvageStore(home.storeFile, join(folder, STORE_FILE), now, declaredTables())
    await using engine = await openEngine({ home: folder, embedder: 'none', background: false })
    return await body(engine, salvage)
  })
}

/** Copies everything readable of a damaged store into a new store file, as a backup. */
export async function backUpReadable(
  home: Home,
  now: Instant,
  request: { readonly to: string; readonly overwrite?: boolean | undefined },
  { report }: Pick<CallContext, 'report'>,
): Promise<Backup & Salvage> {
  return await inFolderOf(home, async folder => {
    const from = join(folder, STORE_FILE)
    const salvage = salvageStore(home.storeFile, from, now, declaredTables())
    const onCopied = (done: number, total: number) => report?.({ phase: 'copying', done, total })
    return { ...(await copyStore({ ...request, from, report: onCopied })), ...salvage, not_held: [] }
  })
}

/**
 * Makes the folder for the temporary store: beside the damaged store, where disk space for a store is likely, and accessible to this user
 * only.
 */
async function inFolderOf<T>(home: Home, body: (folder: string) => Promise<T>): Promise<T> {
  const folder = newFolder(home.folder)
  try {
    return await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function newFolder(home: string): string {
  try {
    return mkdtempSync(join(home, 'salvage-'))
  } catch {
    return mkdtempSync(join(tmpdir(), 'querent-salvage-'))
  }
}
