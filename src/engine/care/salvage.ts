/** Reads a damaged home as far as possible: copies what is readable into a temporary store, which is deleted afterwards. */
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

/** The home that an engine opened with these options would use. Throws `store_missing`. */
export function homeOf(named: string | undefined): Home {
  const environmentHome = process.env['QUERENT_HOME'] || undefined
  return findHome({ home: named, environmentHome, workingFolder: process.cwd(), create: false })
}

/** Calls `body` with an engine on the salvaged store, and a report of what was lost. */
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

/** Writes everything that can be read into a new store file. */
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

/** Folder for the new store: beside the damaged one, which has the disk space for it; accessible to this user only. */
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
