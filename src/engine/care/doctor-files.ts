/** What the doctor sees around the store: permissions, free space, the log, versions. */
import { chmodSync, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { storeFiles } from '../../store/care/file.ts'
import { REPAIR_HELP } from '../../store/care/problem.ts'
import { SCHEMA } from '../../store/sqlite/schema.ts'
import { STORE_FILE } from '../home.ts'
import { VERSION } from '../version.ts'
import { type Examined, finding } from './finding.ts'
import { COPY_BEFORE_REPAIR } from './repair.ts'

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
  return finding('permissions', false, message, REPAIR_HELP, () => {
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
  const named = [...storeFiles(join(folder, STORE_FILE)), join(folder, 'config.json')]
  const index = join(folder, 'index')
  const snapshots = existsSync(index) ? readdirSync(index).map(name => join(index, name)) : []
  const copies = readdirSync(folder).filter(name => name.startsWith(COPY_BEFORE_REPAIR))
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

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}
