/**
 * Adds chat exports: opens the files on disk, which lenses (the engine's query modules) may not do themselves, and passes them to the lens
 * that reads chats.
 */
import { createReadStream } from 'node:fs'
import { basename, posix, relative, sep } from 'node:path'
import { type GivenOptions, rememberOptions } from '../ingest/added-paths.ts'
import { extensionOf, isMedia } from '../ingest/file-types.ts'
import { type IngestReport, VisibilityChanges } from '../ingest/ingest-report.ts'
import { messageOf, type Place, placeOf, shown } from '../ingest/place.ts'
import { walk } from '../ingest/walk.ts'
import type { ZipArchive } from '../ingest/zip.ts'
import type { ExportFile } from '../lenses/lens.ts'
import type { AddRequest } from '../model/entry-input.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { CallContext } from '../model/operation.ts'
import { type Audience, audience } from '../model/partition.ts'
import type { Parts } from './parts.ts'

type Report = { -readonly [Field in keyof IngestReport]: IngestReport[Field] }

export async function addChats(
  { store, clock, registry }: Parts,
  request: AddRequest,
  call: CallContext,
): Promise<IngestReport> {
  refuseOthers(request)
  const { paths, chat = {}, collection, tags, visibility, federations, map } = request
  const importChat = await registry.importChat()
  const given: GivenOptions = {
    ...{ collection, tags: tags && [...new Set(tags)], map },
    audience: visibility && audience(visibility, call.viewer.id, federations),
  }
  const places = await Promise.all(paths.map((path, at) => placeOf(path, `paths.${at}`)))
  const report: Report = {
    added: 0,
    updated: 0,
    unchanged: 0,
    deleted: 0,
    skipped: [],
    errors: [],
    warnings: [],
    chunks: 0,
    visibility_changes: [],
  }
  for (const place of places) {
    await using found = await filesOf(place, call.signal)
    const about = { holder: call.viewer.id, now: clock.now(), known: [] }
    const optionsOf = await rememberOptions(store, place, given, about)
    const kept = optionsOf(place.absolute)
    const options = { ...chat, map: kept.map ?? undefined }
    const settings = { given, ...about, ...kept }
    const names = { shown: (path: string) => shownIn(place, path), whole: place.given }
    const visibility = new VisibilityChanges()
    const moved = (from: Audience, to: Audience) => visibility.add(place.given, from, to)
    const made = await importChat(store, found.files, options, { ...settings, moved }, names, call)
    for (const count of ['added', 'updated', 'unchanged', 'deleted', 'chunks'] as const) report[count] += made[count]
    report.skipped = [...report.skipped, ...found.skipped, ...made.skipped]
    report.errors = [...report.errors, ...found.errors, ...made.errors]
    report.visibility_changes = [...report.visibility_changes, ...visibility.all()]
  }
  return report
}

/** Throws `invalid_argument` for the options `kind` and `lens` of an add request for chats, because chats ignore these options. */
function refuseOthers({ kind, lens }: AddRequest): void {
  if (kind !== undefined)
    throw invalidArgument('kind', kind, 'no kind together with chat: messages get the kind message')
  if (lens !== undefined) throw invalidArgument('lens', lens, 'no lens together with chat')
}

interface FoundFiles extends AsyncDisposable {
  readonly files: readonly ExportFile[]
  readonly skipped: IngestReport['skipped']
  readonly errors: IngestReport['errors']
}

const OPENED = { [Symbol.asyncDispose]: async () => {} }

/** Opens the files of one chat export. A folder, or a ZIP archive, is one export with all files in it. */
async function filesOf(place: Place, signal: AbortSignal): Promise<FoundFiles> {
  if (isZip(place)) return await filesInZip(place)
  if (!place.isFolder) return { ...OPENED, files: [fileOf(place, place.absolute)], skipped: [], errors: [] }
  const files: ExportFile[] = []
  const skipped: { path: string; reason: string }[] = []
  const errors: { path: string; message: string }[] = []
  for await (const found of walk(place.root, signal)) {
    const path = shown(place, found.path)
    if (found.kind === 'file') files.push(fileOf(place, found.path))
    else if (found.kind === 'skipped') skipped.push({ path, reason: found.reason })
    else errors.push({ path, message: messageOf(found.error) })
  }
  return { ...OPENED, files, skipped, errors }
}

function isZip({ isFolder, absolute }: Place): boolean {
  return !isFolder && extensionOf(basename(absolute)) === 'zip'
}

/**
 * Opens the files in a ZIP archive that holds a chat export. The archive is not unpacked to disk; each request for one of its files reads
 * that file from the archive.
 */
async function filesInZip(place: Place): Promise<FoundFiles> {
  const { openZipFile } = await import('../ingest/zip.ts')
  const zip = await openZipFile(place.absolute).catch((error: unknown) => {
    throw invalidArgument('paths', place.given, `a readable ZIP archive: ${messageOf(error)}`)
  })
  const files: ExportFile[] = []
  const skipped: { path: string; reason: string }[] = []
  const errors: { path: string; message: string }[] = []
  for (const name of zip.names) {
    const path = `${place.given}/${name}`
    const problem = zip.problemOf(name)
    if (isMedia(extensionOf(posix.basename(name)))) skipped.push({ path, reason: 'media' })
    else if (name.startsWith('__MACOSX/')) skipped.push({ path, reason: 'excluded' })
    else if (problem !== null) errors.push({ path, message: problem })
    else files.push({ path: name, bytes: () => bytesOf(zip, name, path) })
  }
  return { files, skipped, errors, [Symbol.asyncDispose]: async () => zip.close() }
}

async function* bytesOf(zip: ZipArchive, name: string, path: string): AsyncIterable<Uint8Array> {
  try {
    yield* await zip.stream(name)
  } catch (error) {
    throw new QuerentError('io_failed', `${path}: ${messageOf(error)}`, { path, cause: '' }, error)
  }
}

function fileOf({ root }: Place, absolute: string): ExportFile {
  return {
    path: relative(root, absolute).split(sep).join('/'),
    bytes: () => createReadStream(absolute),
  }
}

function shownIn(place: Place, path: string): string {
  return place.isFolder || isZip(place) ? `${place.given.replace(/[\\/]+$/, '')}/${path}` : place.given
}
