/** What the doctor sees around the store: permissions, free space, the log, the snapshots. */
import { chmodSync, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import { SCHEMA } from '../../store/sqlite/schema.ts'
import { type Examined, finding, REPAIR } from './finding.ts'
import { VERSION } from '../version.ts'

/** Less than this is soon used up by a log and a snapshot. */
const LEAST_FREE = 32 * 1024 * 1024
/** The log is folded back long before, unless a reader keeps it from being. */
const MOST_LOG = 256 * 1024 * 1024
const OTHERS = 0o077
const OTHERS_ENTER = 0o011

/** `folder` is the home, `file` the store in it. */
export function filesFindings(folder: string, file: string): readonly Examined[] {
  return [permissions(folder), freeSpace(folder), log(file), versions()]
}

function permissions(folder: string): Examined {
  const open = isEntered(folder) ? filesOf(folder).filter(path => (modeOf(path) & OTHERS) !== 0) : []
  if (open.length === 0) return finding('permissions', true, 'only this user can read the home')
  const names = open.slice(0, 5).map(path => `${path.slice(folder.length + 1)} ${modeOf(path).toString(8)}`)
  const message = `other users can get at ${files(open.length)} of the home: ${names.join(', ')}${open.length > 5 ? ', …' : ''}`
  return finding('permissions', false, message, REPAIR, () => {
    for (const path of open) chmodSync(path, modeOf(path) & ~OTHERS)
    return `took ${files(open.length)} from other users`
  })
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`
}

/** Whether other users get into the folder at all; Windows has other rules. */
function isEntered(folder: string): boolean {
  return process.platform !== 'win32' && (modeOf(folder) & OTHERS_ENTER) !== 0
}

/** What holds texts, keys or settings. */
function filesOf(folder: string): readonly string[] {
  const named = ['store.db', 'store.db-wal', 'store.db-shm', 'config.json'].map(name => join(folder, name))
  const index = join(folder, 'index')
  const snapshots = existsSync(index) ? readdirSync(index).map(name => join(index, name)) : []
  const copies = readdirSync(folder).filter(name => name.startsWith('store.before-repair-'))
  return [...named, ...copies.map(name => join(folder, name)), ...snapshots].filter(path => existsSync(path))
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

function freeSpace(folder: string): Examined {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= LEAST_FREE) return finding('disk', true, 'there is room')
  return finding('disk', false, `only ${mebibytes(free)} are free`, 'Make room: what is written next may fail.')
}

function log(file: string): Examined {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const help = 'Some process has been reading for a long time; end it, and the log is folded back into the store.'
  if (bytes <= MOST_LOG) return finding('log', true, 'the log beside the store is short')
  return finding('log', false, `the log beside the store has ${mebibytes(bytes)}`, help)
}

function versions(): Examined {
  const { node, sqlite } = process.versions
  return finding('versions', true, `querent ${VERSION}, schema ${SCHEMA}, Node ${node}, SQLite ${sqlite}`)
}

/** Snapshots that nobody damaged, but that time or a restored backup has passed by: the index was built without. */
const HARMLESS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  missing: 'there is none yet',
  other_format: 'of another version, so the index was built anew',
  // Its bytes are as they were written, so another version wrote them.
  refused: 'of another version of the index, which was built anew',
  ahead_of_store: 'of a later state than the store, so the index was built anew',
  other_past: 'of another past of the store, so the index was built anew',
}

const HARMFUL: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  damaged: 'damaged',
  other_store: 'of another store',
  other_index: 'of another index',
  unreadable: 'not readable',
}

/** `renew` builds the index anew and writes its snapshot. */
export function snapshotFinding(name: string, loaded: SnapshotLoad, renew: () => void): Examined {
  const check = `snapshot ${name}`
  if (loaded.ok) return finding(check, true, 'can be read')
  const { reason } = loaded
  const harmless = HARMLESS[reason]
  if (harmless !== undefined) return finding(check, true, harmless)
  const help = `It is passed over, so starting takes longer. ${REPAIR}`
  return finding(check, false, HARMFUL[reason] ?? reason, help, () => {
    renew()
    return 'written anew'
  })
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}
