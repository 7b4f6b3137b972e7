/**
 * Registered files: entries that record what is known of a file and, once it is indexed, hold its text. `/body/init`, `/body/files/add` and
 * `/body/scan` register files (CX-047, CX-048); the calls under `/body/fts/` store their texts and search them (CX-049).
 */
import { z } from 'zod'
import { sha256 } from '../../base/canonical.ts'
import type { EntryDraft, EntryKey } from '../../model/entry.ts'
import { MAX_ID_LENGTH } from '../../model/limits.ts'
import { audience } from '../../model/partition.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { WorkspaceFile } from '../../model/workspace.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { chunkContent } from '../../text/chunk.ts'
import { assertNotCancelled, type Call, handler, inTurn, requireWorkspace, type Turn, transact } from './call.ts'
import { beginRevision, initialise, storePath } from './counters.ts'
import { clamped, type ErrorDetail, flag, type Outcome, REQUIRED, refusal, text, texts, total } from './envelope.ts'
import { isBelow } from './names.ts'
import { fileIn, type RegisteredFile } from './state.ts'
import { FILES } from './tables.ts'

const FILE_KIND = 'code'
const FILE_COLLECTION = 'code'

/** URL, hash, size and time that identify one state of a file. */
export interface FileStamp {
  readonly url: string
  readonly hash: string
  readonly size: number
  /** Modification time of the file in Unix seconds. */
  readonly mtime: number
}

/** The URL, hash, size and time of a file as read; undefined for a file that could not be read. */
export function stampOf(file: WorkspaceFile): FileStamp | undefined {
  if (!file.ok) return undefined
  const { url, hash, size, modifiedAt } = file
  return { url, hash, size, mtime: Math.floor(modifiedAt / 1000) }
}

export type OwnFile = Omit<RegisteredFile, 'partition'>

/** The registered files that the viewer holds, by URL. `urls`: only files with these URLs; null: all files. */
export function ownFiles(
  { host: { store }, viewer }: Call,
  urls: readonly string[] | null = null,
): ReadonlyMap<string, OwnFile> {
  const table = store.table(FILES)
  const rows = urls === null ? table.scan() : urls.flatMap(url => table.scan({ url }))
  const own = ownEntries(
    store,
    viewer,
    rows.map(row => row['entry'] as EntryKey),
  )
  return new Map(rows.filter(row => own.has(row['entry'] as EntryKey)).map(row => [row['url'] as string, fileIn(row)]))
}

function ownEntries(store: StoreReader, viewer: Viewer, entries: readonly EntryKey[]): ReadonlySet<EntryKey> {
  // The holder of each entry is read only where others may hold entries. It is skipped where every partition (part of the store) belongs to
  // the viewer and none is public, since entries in a public partition may have any holder.
  const isAlone = store
    .partitions()
    .every(({ audience: { holder, kind } }) => holder === viewer.id && kind !== 'public')
  if (isAlone) return new Set(entries)
  const held = store.identities(entries).filter(({ holder }) => holder === viewer.id)
  return new Set(held.map(({ key }) => key))
}

/** Registers a file or a new state of it. The entry keeps the text of the earlier state until the new text is indexed. */
function registerFile(writer: StoreWriter, call: Call, stamp: FileStamp, before: OwnFile | undefined): void {
  const { url, hash, size, mtime } = stamp
  const entry = before?.entry ?? putText(writer, call, url, '')
  writer.table(FILES).put({ entry, url, hash, size, mtime, indexed_hash: before?.indexedHash ?? null })
  writer.announce(entry)
}

/** Stores the text of a registered file in its entry. `hash`: hash of the file's bytes. */
export function indexText(
  writer: StoreWriter,
  call: Call,
  { url, size, mtime }: Omit<FileStamp, 'hash'>,
  text: string,
  hash: string,
): EntryKey {
  const entry = putText(writer, call, url, text)
  writer.table(FILES).put({ entry, url, hash, size, mtime, indexed_hash: hash })
  writer.announce(entry)
  return entry
}

export function forgetFile(writer: StoreWriter, { entry }: Pick<OwnFile, 'entry'>): void {
  writer.delete(entry)
}

function putText(writer: StoreWriter, { host, viewer }: Call, url: string, content: string): number {
  const id = url.length <= MAX_ID_LENGTH ? url : `${url.slice(0, MAX_ID_LENGTH - 65).toWellFormed()}~${sha256(url)}`
  const now = host.clock.now()
  const everywhere = writer.partitions().map(partition => partition.id)
  const before = writer.entries(writer.find(id, everywhere)).find(entry => entry.audience.holder === viewer.id)
  const draft: EntryDraft = {
    id,
    collection: FILE_COLLECTION,
    kind: FILE_KIND,
    title: decodeURI(url.slice(url.lastIndexOf('/') + 1)),
    content,
    tags: [],
    metadata: {},
    audience: before?.audience ?? audience('private', viewer.id),
    origin: url,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    validFrom: null,
    validUntil: null,
    knownAt: before !== undefined && before.content === content ? before.knownAt : now,
  }
  return writer.put(draft, chunkContent(content, { format: 'code' })).key
}

const init = handler({
  path: '/body/init',
  summary: 'Create the tables of files and their texts',
  effect: 'write',
  params: () => z.object({}),
  result: () =>
    z.strictObject({
      path: z.string().nullable().describe('The file of the store, for its owner; null for others'),
      created: z.boolean().describe('false: it existed already'),
    }),
  async run(call) {
    const created = await transact(call, writer => initialise(writer, 'body'))
    return { result: { path: storePath(call), created } }
  },
})

const url = z.string()
const stamp = z.lazy(() =>
  z.strictObject({
    url: url.describe('URL of the file'),
    hash: z.string().describe('SHA-256 of its bytes'),
    size: total.describe('Its length in bytes'),
    mtime: z.int().describe('When it was changed last, Unix seconds'),
  }),
)
const registered = z.lazy(() =>
  z.strictObject({
    files: z.array(stamp).describe('All files that were named, or found in named folders'),
    summary: z
      .strictObject({
        added: total.describe('Files that were not registered before'),
        updated: total.describe('Files whose bytes have changed'),
        errors: total.describe('Files that could not be read; errors.paths of the envelope names them'),
      })
      .describe('How many of each'),
  }),
)

const add = handler({
  path: '/body/files/add',
  summary: 'Register files, or all files of folders',
  effect: 'write',
  needs: ['body'],
  params: () =>
    z
      .object({
        path: text.nullish().describe('A file or folder, from the folder of the store; this or paths is required'),
        paths: texts.describe('Several files or folders; this or path is required'),
      })
      .refine(({ path, paths }) => (path ?? paths ?? null) !== null, {
        ...REQUIRED,
        path: ['path'],
        error: 'or paths is required',
      })
      .meta({ anyOf: [{ required: ['path'] }, { required: ['paths'] }], examples: [{ path: 'src' }] }),
  result: () => registered,
  async run(call, { path, paths: several }) {
    const paths = [...(several ?? []), ...(path ? [path] : [])]
    // A caller who may not read the disk is refused at once, before the call waits for its turn (one call at a time reads files).
    if (paths.length > 0) requireWorkspace(call)
    return (await inTurn(call, turn => register(turn, paths))).value
  },
})

async function register({ call, write }: Turn, paths: readonly string[]): Promise<Outcome<z.infer<typeof registered>>> {
  const all = new Map<string, WorkspaceFile>()
  for (const path of paths) for (const file of await readAll(call, path)) all.set(file.url, file)
  const found = [...all.values()]
  const stamps = found.flatMap(file => stampOf(file) ?? [])
  const failed = found.flatMap((file): ErrorDetail[] =>
    file.ok ? [] : [{ code: file.code, message: file.message, meta: { url: file.url } }],
  )
  const known = ownFiles(call)
  const changed = stamps.filter(({ url, hash }) => known.get(url)?.hash !== hash)
  await write(writer => {
    for (const file of changed) registerFile(writer, call, file, known.get(file.url))
  })
  const added = changed.filter(({ url }) => !known.has(url)).length
  return {
    result: {
      files: stamps.map(stamp => ({ ...stamp })),
      summary: { added, updated: changed.length - added, errors: failed.length },
    },
    ...(failed.length === 0 ? {} : { errors: { paths: failed } }),
  }
}

const comparison = z.lazy(() =>
  z.strictObject({
    added: z.array(url).describe('URLs of files that are not registered yet'),
    updated: z.array(url).describe('URLs of files whose bytes have changed'),
    deleted: z.array(url).describe('URLs of registered files that are gone'),
    unchanged: total.describe('Files that have not changed'),
    summary: z
      .strictObject({
        added: total.describe('Length of the list of that name'),
        updated: total.describe('Length of the list of that name'),
        deleted: total.describe('Length of the list of that name'),
        unchanged: total.describe('Files that have not changed'),
      })
      .describe('How many of each'),
  }),
)

const scan = handler({
  path: '/body/scan',
  summary: 'Compare the registered files with those on disk',
  effect: 'write',
  needs: ['body'],
  params: () =>
    z.object({
      path: text.nullish().describe('Only below this folder. Default: the folder of the store'),
      dry_run: flag.describe('Report what has changed, and write nothing. Default: false'),
    }),
  result: () => comparison,
  async run(call, { path = null, dry_run }) {
    if (dry_run) return { result: (await comparedWithDisk(call, path)).report }
    requireWorkspace(call)
    const { value } = await inTurn(call, async turn => {
      const { added, updated, deleted, known, report } = await comparedWithDisk(turn.call, path)
      await turn.write(writer => {
        for (const file of [...added, ...updated]) registerFile(writer, call, file, known.get(file.url))
        for (const file of deleted) forgetFile(writer, file)
        if (deleted.some(({ indexedHash }) => indexedHash !== null)) beginRevision(writer)
      })
      return report
    })
    return { result: value }
  },
})

export const FILE_HANDLERS = [init, add, scan] as const

interface Comparison {
  readonly added: readonly FileStamp[]
  readonly updated: readonly FileStamp[]
  readonly deleted: readonly OwnFile[]
  readonly known: ReadonlyMap<string, OwnFile>
  readonly report: z.infer<typeof comparison>
}

/** Compares the registered files with the files on disk. Throws `Refusal` for a path outside the workspace. */
async function comparedWithDisk(call: Call, path: string | null): Promise<Comparison> {
  const workspace = requireWorkspace(call)
  const below = path === null ? workspace.url : workspace.urlOf(path)
  const found = await readAll(call, path)
  const outside = found.find(file => !file.ok && file.code === 'outside')
  if (outside !== undefined) throw refusal('path', 'outside', 'path lies outside of the workspace')
  const stamps = found.flatMap(file => stampOf(file) ?? [])
  const known = ownFiles(call)
  const there = new Set(stamps.map(({ url }) => url))
  const added = stamps.filter(({ url }) => !known.has(url))
  const updated = stamps.filter(({ url, hash }) => known.has(url) && known.get(url)?.hash !== hash)
  const deleted = [...known.values()].filter(({ url }) => isBelow(url, below) && !there.has(url))
  const unchanged = stamps.length - added.length - updated.length
  const urls = (files: readonly { readonly url: string }[]) => files.map(({ url }) => url)
  const counts = { added: added.length, updated: updated.length, deleted: deleted.length, unchanged }
  const lists = { added: urls(added), updated: urls(updated), deleted: urls(deleted), unchanged }
  return { added, updated, deleted, known, report: { ...lists, summary: counts } }
}

/** Reads all files under a path of the workspace. A path that does not exist is returned as one missing file. */
async function readAll(call: Call, path: string | null): Promise<readonly WorkspaceFile[]> {
  const workspace = requireWorkspace(call)
  const files: WorkspaceFile[] = []
  for await (const url of workspace.list(path, call.signal)) {
    assertNotCancelled(call)
    files.push(await workspace.read(url))
    call.emit({ phase: 'scan', current: files.length, total: null, message: url })
  }
  // A cancelled listing of files is incomplete, so a file that it lacks must not be taken as deleted.
  assertNotCancelled(call)
  return files.length > 0 || path === null ? files : [await workspace.read(workspace.urlOf(path))]
}

const DEFAULT_MATCHES = 100
const MAX_MATCHES = 1000
const SNIPPET = 240

const NOTHING = { indexed: 0, skipped: 0, deleted: 0, errors: 0 }

const index = handler({
  path: '/body/fts/index',
  summary: 'Store the texts of registered files for search and previews',
  effect: 'write',
  needs: ['body'],
  params: () => z.object({ force: flag.describe('Read unchanged files again. Default: false') }),
  result: () =>
    z.strictObject({
      indexed: total.describe('Files whose text was kept'),
      skipped: total.describe('Unchanged, too large or binary files'),
      deleted: total.describe('Files whose text was removed'),
      errors: total.describe('Files that could not be read'),
    }),
  async run(call, { force }) {
    // A caller without registered files has nothing to index, so the call skips the wait for its turn (one call at a time reads files).
    if (ownFiles(call).size === 0) return { result: NOTHING }
    return { result: (await inTurn(call, turn => indexAll(turn, force))).value }
  },
})

async function indexAll(turn: Turn, force: boolean): Promise<typeof NOTHING> {
  const { call } = turn
  const files = [...ownFiles(call).values()]
  const counts = { ...NOTHING }
  for (const [at, file] of files.entries()) {
    assertNotCancelled(call)
    counts[await indexOne(turn, file, force)]++
    call.emit({ phase: 'text', current: at + 1, total: files.length, message: file.url })
  }
  return counts
}

const search = handler({
  path: '/body/fts/search',
  summary: 'Search the texts of files by words',
  effect: 'read',
  needs: ['body'],
  first: ['query', 'path', 'limit'],
  params: () =>
    z.object({
      query: text.describe('Words, at least one of which a file must contain; no operators'),
      path: text.nullish().describe('Only files whose URL contains this text. Default: all files'),
      limit: clamped('Most matches', DEFAULT_MATCHES, 1, MAX_MATCHES),
    }),
  result: () =>
    z.strictObject({
      matches: z.array(textMatch).describe('Best first'),
      total: total.describe(`Number of matches, at most ${MAX_MATCHES}`),
    }),
  async run(call, { query, path = null, limit }) {
    const matches = await matchesOf(call, query.trim(), path)
    return { result: { matches: matches.slice(0, limit), total: matches.length } }
  },
})

const textMatch = z.lazy(() =>
  z.strictObject({
    url: z.string().describe('URL of the file'),
    snippet: z.string().describe('Its best passage; words that were found are between >>> and <<<'),
    score: z.number().describe('Score as in a query by words: higher is better'),
  }),
)

export const TEXT_HANDLERS = [index, search] as const

async function indexOne(
  { call, write }: Turn,
  file: OwnFile,
  force: boolean,
): Promise<'indexed' | 'skipped' | 'errors'> {
  if (!force && file.indexedHash === file.hash) return 'skipped'
  const read = await requireWorkspace(call).read(file.url)
  if (!read.ok) return read.code === 'too_large' ? 'skipped' : 'errors'
  const { text, hash } = read
  if (text === null) return 'skipped'
  await write(writer => indexText(writer, call, file, text, hash))
  return 'indexed'
}

/** Files whose texts match a search, best first. */
async function matchesOf(
  call: Call,
  query: string,
  path: string | null,
): Promise<readonly z.infer<typeof textMatch>[]> {
  const { host, state, viewer } = call
  const files = state.files.visible(host.accessScope(viewer).partitions)
  const matches: z.infer<typeof textMatch>[] = []
  for (let cursor: string | null | undefined; matches.length < MAX_MATCHES; ) {
    const { page } = await host.query(
      {
        text: query,
        syntax: 'plain',
        lens: 'default',
        mode: 'words',
        filter: { kinds: ['code'] },
        any: true,
        touch: false,
        memory: false,
        limit: 100,
        excerpt_length: SNIPPET,
        ...(cursor ? { cursor } : {}),
      },
      call,
    )
    for (const { origin, excerpt, score } of page.items) {
      const isWanted = origin !== null && files.byUrl(origin) !== undefined && origin.includes(path ?? '')
      if (isWanted && excerpt.highlights.length > 0) {
        matches.push({ url: origin, snippet: marked(excerpt.text, excerpt.highlights), score })
      }
    }
    cursor = page.cursor
    if (cursor === null) break
  }
  return matches
}

function marked(text: string, spans: readonly (readonly [number, number])[]): string {
  let at = 0
  let result = ''
  for (const [start, end] of spans) {
    result += `${text.slice(at, start)}>>>${text.slice(start, end)}<<<`
    at = end
  }
  return result + text.slice(at)
}
