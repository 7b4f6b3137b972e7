/** Looks over a folder: which files changed since they were indexed, which are gone, and what is left out and why. */
import { storableText } from '../../../base/storable.ts'
import type { Workspace, WorkspaceFile } from '../../../model/workspace.ts'
import { type FileStamp, type OwnFile, ownFiles, stampOf } from '../body/register.ts'
import { type Call, mustNotBeCancelled } from '../call.ts'
import { type Refusal, refusal } from '../envelope.ts'
import { type Extraction, READING_VERSION } from '../extract/concept.ts'
import { extractFile, isSkip, loadGrammars, MAX_READ_MS } from '../extract/extract-file.ts'
import { type Grammars, openGrammars } from '../extract/grammars.ts'
import { EXTRACTIONS } from '../tables.ts'
import { isBelow, pathBelow } from '../urls.ts'
import { leftOutByPath, leftOutByText } from './left-out.ts'

export interface ReadFile {
  readonly path: string
  readonly stamp: FileStamp
  readonly text: string
  /** No file of that name was known. */
  readonly isNew: boolean
  /** Null: kept without concepts. */
  readonly extraction: Extraction | null
}

export interface Told {
  readonly url: string
  readonly reason: string
}

export interface Findings {
  readonly gone: readonly OwnFile[]
  readonly unchanged: number
  readonly leftOut: readonly Told[]
  readonly errors: readonly Told[]
}

/** Files read ahead of the one that is looked at. */
const AHEAD = 8

/**
 * `paths` null: the whole workspace. `force`: unchanged files are read again as well. What changed goes to `take`, a file
 * at a time, so that nobody needs room for all of it.
 */
export async function lookOver(
  call: Call,
  workspace: Workspace,
  { paths, force }: { readonly paths: readonly string[] | null; readonly force: boolean },
  take: (file: ReadFile) => Promise<void>,
): Promise<Findings> {
  const leftOut: Told[] = []
  const { urls, missing } = await listed(call, workspace, paths, file => leftOut.push(file))
  const known = knownFiles(call, workspace, paths, urls, missing)
  const hashes = indexedHashes(call, paths === null ? null : known)
  const errors: Told[] = []
  const there = new Set<string>()
  let unchanged = 0
  let at = 0
  const started = performance.now()
  for await (const file of readAhead(call, workspace, urls)) {
    at++
    call.emit({ phase: 'read', current: at, total: urls.length, message: told(file.url, workspace, at, started) })
    const outcome = fileOrReason(file, workspace)
    if ('error' in outcome) errors.push({ url: file.url, reason: outcome.error })
    // What cannot be read just now stays as it was.
    if ('error' in outcome && outcome.keeps) there.add(file.url)
    if ('reason' in outcome) leftOut.push({ url: file.url, reason: outcome.reason })
    if (!('text' in outcome)) continue
    there.add(file.url)
    const before = known.get(file.url)
    if (!force && before !== undefined && hashes.get(before.entry) === outcome.stamp.hash) {
      unchanged++
      continue
    }
    const read = await extracted({ ...outcome, isNew: before === undefined })
    await take(read.file)
    if (read.reason !== null) leftOut.push({ url: file.url, reason: read.reason })
  }
  const unread = leftOut.filter(({ reason }) => reason === 'unreadable').map(({ url }) => url)
  const below = (paths ?? ['.']).map(path => workspace.urlOf(path))
  const isGone = ({ url }: OwnFile) =>
    !there.has(url) && below.some(folder => isBelow(url, folder)) && !unread.some(folder => isBelow(url, folder))
  return { gone: [...known.values()].filter(isGone), unchanged, leftOut, errors }
}

/** One a process: loading a grammar and getting it up to speed costs more than reading a file. */
let opened: Promise<Grammars> | null = null

function grammars(): Promise<Grammars> {
  opened ??= openGrammars()
  return opened
}

type Outcome =
  | { readonly path: string; readonly stamp: FileStamp; readonly text: string }
  | { readonly reason: string }
  | { readonly error: string; readonly keeps: boolean }

function fileOrReason(file: WorkspaceFile, workspace: Workspace): Outcome {
  const path = pathBelow(workspace.url, file.url)
  if (path === null) return { error: 'outside', keeps: false }
  if (!file.ok && file.code === 'too_large') return { reason: file.code }
  if (!file.ok) return { error: file.code, keeps: file.code === 'unreadable' }
  if (file.text === null) return { reason: 'binary' }
  const reason = leftOutByPath(path) ?? leftOutByText(path, file.text)
  if (reason !== null) return { reason }
  return { path, stamp: stampOf(file) as FileStamp, text: storableText(file.text) }
}

async function extracted(
  file: Omit<ReadFile, 'extraction'>,
): Promise<{ readonly file: ReadFile; readonly reason: string | null }> {
  const loaded = await grammars()
  await loadGrammars(loaded, [file.path])
  const started = performance.now()
  const result = extractFile(file.path, file.text, loaded, {
    isOverdue: () => performance.now() - started > MAX_READ_MS,
  })
  return isSkip(result)
    ? { file: { ...file, extraction: null }, reason: result.reason }
    : { file: { ...file, extraction: result }, reason: null }
}

/** Throws `Refusal` with code `too_many` for more files than the settings allow. */
async function listed(
  { signal, emit, state }: Call,
  workspace: Workspace,
  paths: readonly string[] | null,
  leftOut: (file: Told) => void,
): Promise<{ readonly urls: readonly string[]; readonly missing: ReadonlySet<string> }> {
  const urls = new Set<string>()
  const missing = new Set<string>()
  let passedOver = 0
  const pass = (file: Told) => {
    passedOver++
    leftOut(file)
  }
  for (const path of paths ?? [null]) {
    const before = urls.size + passedOver
    for await (const url of workspace.list(path, signal, pass)) {
      urls.add(url)
      if (urls.size > state.settings.max_files) throw tooMany(workspace, state.settings.max_files)
      if (urls.size % 500 === 0) emit({ phase: 'find', current: urls.size, total: null, message: url })
    }
    // A path that leads nowhere is asked for by itself: it may have been a file.
    if (path !== null && urls.size + passedOver === before) missing.add(workspace.urlOf(path))
  }
  // A listing that was stopped is short: what it lacks is not gone.
  mustNotBeCancelled({ signal })
  return { urls: [...urls, ...missing], missing }
}

function tooMany({ url }: Workspace, max: number): Refusal {
  const what = `more than ${max} files at or below ${pathToShow(url)}; none was read`
  const help =
    'name files or folders with `paths`, leave some out with .querentignore, or raise lenses.context.max_files'
  return refusal('paths', 'too_many', `${what}: ${help}`)
}

function pathToShow(url: string): string {
  return decodeURI(url).replace(/^file:\/\//, '') || '/'
}

/** Those that the run can find changed or gone: for a few files these alone are looked up. */
function knownFiles(
  call: Call,
  workspace: Workspace,
  paths: readonly string[] | null,
  urls: readonly string[],
  missing: ReadonlySet<string>,
): ReadonlyMap<string, OwnFile> {
  const asked = paths?.map(path => workspace.urlOf(path)) ?? []
  const isFew = paths !== null && urls.length === new Set(asked).size && asked.every(url => urls.includes(url))
  const known = isFew ? ownFiles(call, urls) : ownFiles(call)
  // What is missing and was no file may have been a folder.
  return isFew && [...missing].some(url => !known.has(url)) ? ownFiles(call) : known
}

async function* readAhead(
  { signal }: Call,
  workspace: Workspace,
  urls: readonly string[],
): AsyncGenerator<WorkspaceFile> {
  const reading: Promise<WorkspaceFile>[] = []
  let next = 0
  while (next < urls.length || reading.length > 0) {
    mustNotBeCancelled({ signal })
    while (reading.length < AHEAD && next < urls.length) reading.push(workspace.read(urls[next++] as string))
    yield await (reading.shift() as Promise<WorkspaceFile>)
  }
}

/** Of the files whose concepts are kept as this version reads them; null: of all. */
function indexedHashes({ host }: Call, files: ReadonlyMap<string, OwnFile> | null): ReadonlyMap<number, string> {
  const entries = files === null ? undefined : [...files.values()].map(({ entry }) => entry)
  const page = { columns: ['entry', 'hash'], entries }
  const rows = host.store.table(EXTRACTIONS).scan({ version: READING_VERSION }, page)
  return new Map(rows.map(row => [row['entry'] as number, row['hash'] as string]))
}

function told(url: string, workspace: Workspace, count: number, started: number): string {
  const rate = Math.round(count / Math.max(0.001, (performance.now() - started) / 1000))
  return `${pathBelow(workspace.url, url) ?? url} (${rate} files/s)`
}
