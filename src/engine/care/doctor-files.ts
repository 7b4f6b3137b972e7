/**
 * Checks of the health check that concern the files of a store (permissions, free disk space, write-ahead log, versions) and the repairs of
 * all findings, also for a store that no engine can open.
 */
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import type { DoctorRequest } from '../../model/reports.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import { storeFiles } from '../../store/care/file.ts'
import { fileFinding } from '../../store/care/header.ts'
import { REPAIR_HELP, RESTORE_HELP, type StoreFinding } from '../../store/care/problem.ts'
import { examineStore, repairStore } from '../../store/care/store-care.ts'
import { SCHEMA } from '../../store/sqlite/schema.ts'
import type { Examination, Finding } from '../engine.ts'
import { type Home, STORE_FILE, VERSION } from '../home.ts'

/**
 * Minimum of free disk space in bytes below which the health check reports a problem; a write-ahead log and an index snapshot soon need as
 * much.
 */
const MIN_FREE = 32 * 1024 * 1024
/**
 * Maximum size of the write-ahead log in bytes above which the health check reports a problem. A log is checkpointed long before, unless a
 * reader that stays open prevents it.
 */
const MAX_LOG = 256 * 1024 * 1024
const OTHERS = 0o077
const OTHERS_ENTER = 0o011

/** Examines the files of a home. `folder`: the home; `file`: the store file in it. */
export function filesFindings(folder: string, file: string): readonly Examined[] {
  return [permissions(folder), freeSpace(folder), log(file), versions()]
}

function permissions(folder: string): Examined {
  const open = isEntered(folder) ? filesOf(folder).filter(path => (modeOf(path) & OTHERS) !== 0) : []
  if (open.length === 0) return finding('permissions', true, 'only this user can read the home')
  const names = open.slice(0, 5).map(path => `${path.slice(folder.length + 1)} ${modeOf(path).toString(8)}`)
  const message = `other users can access ${files(open.length)} of the home: ${names.join(', ')}${open.length > 5 ? ', …' : ''}`
  return finding('permissions', false, message, REPAIR_HELP, () => {
    for (const path of open) chmodSync(path, modeOf(path) & ~OTHERS)
    return `removed the access of other users to ${files(open.length)}`
  })
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`
}

/** Whether users other than the owner may enter the home folder; on Windows, whose permissions differ, this is not checked. */
function isEntered(folder: string): boolean {
  return process.platform !== 'win32' && (modeOf(folder) & OTHERS_ENTER) !== 0
}

/** Paths of the files and folders in the home that contain stored texts, keys or settings, and so must not be readable for other users. */
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
  if (free >= MIN_FREE) return finding('disk', true, 'there is room')
  return finding('disk', false, `only ${mebibytes(free)} are free`, 'Free some disk space: the next writes may fail.')
}

function log(file: string): Examined {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const help = 'A process has been reading for a long time. End it, so that the log is merged into the store.'
  if (bytes <= MAX_LOG) return finding('log', true, 'the write-ahead log of the store is short')
  return finding('log', false, `the write-ahead log of the store has ${mebibytes(bytes)}`, help)
}

function versions(): Examined {
  const { node, sqlite } = process.versions
  return finding('versions', true, `querent ${VERSION}, schema ${SCHEMA}, Node ${node}, SQLite ${sqlite}`)
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}

export interface Examined extends Finding {
  /**
   * How to repair the problem of a finding: a function that does it, or `store` if the store file must be repaired. Null: nothing is wrong,
   * or the correct state is unknown.
   */
  readonly repair: (() => string | Promise<string>) | 'store' | null
}

export function finding(
  check: string,
  ok: boolean,
  message: string,
  help: string | null = null,
  repair: Examined['repair'] = null,
): Examined {
  return { check, ok, message, help: ok ? null : help, repaired: null, repair }
}

/** Converts a finding of the store's own examination to the form of the health check. */
export function ofStore({ check, ok, message, help, isRepairable }: StoreFinding): Examined {
  return finding(check, ok, message, help, isRepairable ? 'store' : null)
}

/** Runs an asynchronous check. If the check itself fails, its error becomes a finding, so that the other checks still run. */
export async function lookedLong(
  check: string,
  look: () => Promise<readonly Examined[]>,
): Promise<readonly Examined[]> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'cancelled') throw error
    return looked(check, () => {
      throw error
    })
  }
}

/** Runs a check of the health check. If the check itself fails, its error becomes a finding, so that the other checks still run. */
export function looked(check: string, look: () => readonly Examined[]): readonly Examined[] {
  try {
    return look()
  } catch (error) {
    if (error instanceof QuerentError) return [finding(check, false, error.message, helpOf(error))]
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return [finding(check, false, (error as Error).message, 'Check the path, its permissions and the free space.')]
  }
}

/** Advice for an error that a check reports. For a damaged store the advice is to restore a backup or save what is still readable. */
function helpOf({ code, help }: QuerentError): string {
  return code === 'store_corrupt' ? RESTORE_HELP : help
}

/** The result of the health check in the form that callers see: all findings, without their repair functions. */
export function examination(findings: readonly Finding[], backup: string | null = null): Examination {
  const shown = findings.map(({ check, ok, message, help, repaired }) => ({ check, ok, message, help, repaired }))
  return { ok: shown.every(({ ok }) => ok), findings: shown, backup }
}

/** Prefix of the names of the copies of a damaged store file that are kept beside it before a repair. */
const COPY_BEFORE_REPAIR = 'store.before-repair-'

interface RepairInput {
  readonly examine: () => Promise<readonly Examined[]>
  readonly storeFile: string | null
  /** Whether to copy the store file before a repair writes to it. */
  readonly backup: boolean
  readonly now: () => Instant
  /** Called after the store file was repaired: rebuilds the vectors and indexes that are derived from the store. */
  readonly follow: () => Promise<void>
}

export async function repair(input: RepairInput): Promise<Examination> {
  const before = await input.examine()
  const done = new Map<string, string[]>()
  const note = (check: string, what: string) => done.set(check, [...(done.get(check) ?? []), what])
  let backup: string | null = null
  if (input.storeFile !== null && before.some(({ repair }) => repair === 'store')) {
    if (input.backup) backup = await backupBeside(input.storeFile, input.now())
    for (const { check, done: what } of repairStore(input.storeFile, input.now())) note(check, what)
    await input.follow()
  }
  for (const { check, repair } of before) {
    if (typeof repair === 'function') note(check, await attempt(repair))
  }
  if (done.size === 0) return examination(before)
  const after = await input.examine()
  // A repaired finding is kept in the report, although the check may give other findings after the repair because it is no longer stopped
  // by the damage.
  const gone = before.filter(({ check }) => done.has(check) && !after.some(one => one.check === check))
  const shown = [...gone, ...after].map(one => ({ ...one, repaired: done.get(one.check)?.join('; ') ?? null }))
  return examination(shown, backup)
}

/**
 * Runs one repair and returns a text on its outcome. If the repair fails, the text says so and the problem remains a finding; other repairs
 * are still tried.
 */
async function attempt(repair: () => string | Promise<string>): Promise<string> {
  try {
    return await repair()
  } catch (error) {
    if (error instanceof QuerentError) return `not repaired: ${error.message}`
    throw error
  }
}

async function backupBeside(storeFile: string, now: Instant): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  const to = join(dirname(storeFile), `${COPY_BEFORE_REPAIR}${stamp}.db`)
  try {
    const { path } = await copyStore({ from: storeFile, to, overwrite: true })
    return path
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
    return copyOfDamaged(storeFile, to)
  }
}

/** Copies the store file and its write-ahead log byte for byte, because SQLite cannot read and so cannot copy a damaged store. */
function copyOfDamaged(storeFile: string, to: string): string {
  for (const end of ['', '-wal']) {
    rmSync(to + end, { force: true })
    if (!existsSync(storeFile + end)) continue
    copyFileSync(storeFile + end, to + end)
    chmodSync(to + end, 0o600)
  }
  return to
}

/** Codes of errors on opening or reading a store that the health check reports as findings; errors with other codes are thrown. */
const OF_STORE: ReadonlySet<string> = new Set([
  'store_corrupt',
  'store_newer',
  'store_locked',
  'store_readonly',
  'io_failed',
])

export function isOfStore(error: unknown): error is QuerentError {
  return error instanceof QuerentError && OF_STORE.has(error.code)
}

/** Health check of a home whose store no engine can open; only its files are examined. `error`: why opening failed. */
export async function examineClosed(
  home: Home,
  error: QuerentError,
  { repair: repairs = false, backup = true }: DoctorRequest,
  now: Instant,
): Promise<Examination> {
  const look = async () => examineFiles(home, error)
  if (!repairs) return examination(await look())
  return repair({ examine: look, storeFile: home.storeFile, backup, now: () => now, follow: async () => undefined })
}

function examineFiles(home: Home, error: QuerentError): readonly Examined[] {
  return [
    finding('opening', false, error.message, helpOf(error)),
    ...looked('file', () => [ofStore(fileFinding(home.storeFile))]),
    ...looked('home', () => filesFindings(home.folder, home.storeFile)),
    ...looked('pages', () => (error.code === 'store_newer' ? [] : examineStore(home.storeFile).map(ofStore))),
  ]
}
