/**
 * Stores that take minutes to make: made once and kept in bench/out. Every measurement works on a copy, so that none finds
 * the traces of another.
 */
import {
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/base/canonical.ts'
import type { Embedder } from '../../src/embed/embedder.ts'
import { openEngine } from '../../src/engine/open.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { type TempFolder, tempFolder } from '../../test/support/temp-folder.ts'

const OUT = fileURLToPath(new URL('../out', import.meta.url))

export interface Kept {
  /** With the size, for example `home-100000`. */
  readonly name: string
  /** Of a store that is a file, with the dot; a folder has none. */
  readonly ending?: string
  /** Tells apart what was made otherwise: see `madeOf`. */
  readonly made: string
  /** What it holds, for whoever waits. */
  readonly holds: string
}

/** Eight hex digits that another making has others of; `sources` are files below src that decide what is made. */
export function madeOf(facts: readonly (string | number)[], sources: readonly string[]): string {
  const texts = sources.map(path => readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8'))
  return sha256([...facts, ...texts].join('\n')).slice(0, 8)
}

/**
 * Where it lies. If it is not there, older ones of its name are removed, and `make` fills the folder that it is given and
 * says which path in it is to be kept.
 */
export async function keptStore(kept: Kept, make: (folder: string) => string | Promise<string>): Promise<string> {
  const { name, made, ending = '', holds } = kept
  const path = join(OUT, `${name}-${made}${ending}`)
  if (existsSync(path)) return path
  console.error(`  making a store of ${holds} in bench/out, once …`)
  for (const old of globSync(`${name}-????????${ending}`, { cwd: OUT })) rmSync(join(OUT, old), { recursive: true })
  mkdirSync(OUT, { recursive: true })
  // A name of its own: another benchmark may be making it too.
  const half = mkdtempSync(`${path}-`)
  const ready = await make(half)
  if (!existsSync(path)) renameSync(ready, path)
  rmSync(half, { recursive: true, force: true })
  return path
}

/** Of a kept folder; gone when disposed of. */
export function copyOf(kept: string, isNeeded: (path: string) => boolean = () => true): TempFolder {
  const folder = tempFolder()
  cpSync(kept, folder.path, { recursive: true, mode: constants.COPYFILE_FICLONE, filter: isNeeded })
  return folder
}

/** A home with a store that `fill` writes straight into, and with snapshots of all indexes. */
export async function keptHome(kept: Kept, embedder: Embedder, fill: (store: Store) => void): Promise<string> {
  const home = await keptStore(kept, async folder => {
    await (await openEngine({ home: folder, create: true, embedder: 'none', background: false })).close()
    const store = openSqliteStore({ file: join(folder, 'store.db') })
    fill(store)
    store.close()
    return folder
  })
  await saveSnapshots(home, embedder)
  return home
}

/** Closing saves them where there are none, or none that this version understands. */
export async function saveSnapshots(home: string, embedder: Embedder): Promise<void> {
  await using engine = await openEngine({ home, embedder, background: false })
  await engine.status()
}
