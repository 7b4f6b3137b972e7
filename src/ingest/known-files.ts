/**
 * Which entries in the store were made from which file, and the state of the file at that time. A file is identified by its holder and
 * absolute path, so that a folder and one of its subfolders can both be added without duplicate entries.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import type { Row } from '../model/table.ts'
import { ADDED_PATHS, FILES, SEEN_FILES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/** An entry and the file that it was made from. */
export interface KnownRow {
  readonly entry: EntryKey
  /** `root`: the folder with which the file was added; `path`: the path from there, with `/` between its parts. */
  readonly root: string
  readonly path: string
  /** Hash of the file's bytes and of everything else that determines its entries, including the holder. */
  readonly hash: string
  readonly seen: SeenFile
}

/** Properties that show whether a file has changed without reading it. */
export interface SeenFile {
  /** Size of the file in bytes. */
  readonly size: number
  readonly modifiedAt: Instant
}

export interface KnownFile {
  readonly root: string
  readonly path: string
  /** Entries of the file by id. */
  readonly entries: ReadonlyMap<string, Entry>
}

/** Rows of a file (`place`), or of the files below a folder, by absolute path and for all holders. Reads no entry. */
export function knownRows(reader: StoreReader, place: string): ReadonlyMap<string, readonly KnownRow[]> {
  const known = new Map<string, KnownRow[]>()
  for (const root of rootsOf(reader).filter(root => isWithin(root, place) || isWithin(place, root))) {
    for (const row of reader.table(FILES).scan({ root })) {
      const path = row['path'] as string
      const absolute = absolutePath(root, path)
      if (!isWithin(absolute, place)) continue
      const rows = known.get(absolute) ?? []
      rows.push(knownRow(root, row))
      known.set(absolute, rows)
    }
  }
  return known
}

/** Rows of one file, for all holders. */
export function rowsOfFile(reader: StoreReader, absolute: string): readonly KnownRow[] {
  return rootsOf(reader)
    .filter(root => isWithin(absolute, root))
    .flatMap(root => {
      const rows = reader.table(FILES).scan({ root, path: pathWithin(root, absolute) })
      return rows.map(row => knownRow(root, row))
    })
}

/** Whether two look-ups of a file give the same rows, so that nobody has written it in between. */
export function areSame(some: readonly KnownRow[], others: readonly KnownRow[]): boolean {
  const stateOf = (rows: readonly KnownRow[]) =>
    rows
      .map(({ entry, hash }) => `${entry} ${hash}`)
      .sort()
      .join()
  return stateOf(some) === stateOf(others)
}

/** The file's entries that belong to this holder. */
export function ownFile(reader: StoreReader, rows: readonly KnownRow[], holder: string): KnownFile | undefined {
  // A damaged entry is skipped, and so added as if it were new.
  const readable = reader.around(
    () => undefined,
    () => reader.entries(rows.map(row => row.entry)),
  )
  const entries = readable.filter(entry => entry.audience.holder === holder)
  const row = rows.find(row => row.entry === entries[0]?.key)
  if (row === undefined) return undefined
  return { root: row.root, path: row.path, entries: new Map(entries.map(entry => [entry.id, entry])) }
}

function knownRow(root: string, row: Row): KnownRow {
  return {
    entry: Number(row['entry']),
    root,
    path: row['path'] as string,
    hash: row['hash'] as string,
    seen: seenIn(row),
  }
}

function seenIn(row: Row): SeenFile {
  return { size: Number(row['size']), modifiedAt: Number(row['modified_at']) }
}

/** Files in `SEEN_FILES` of this holder, by absolute path. */
export function seenFiles(reader: StoreReader, holder: string): ReadonlyMap<string, SeenFile> {
  const rows = reader.table(SEEN_FILES).scan({ holder })
  return new Map(rows.map(row => [row['path'] as string, seenIn(row)]))
}

export function areSeenAlike(one: SeenFile | null | undefined, other: SeenFile | null | undefined): boolean {
  return one?.size === other?.size && one?.modifiedAt === other?.modifiedAt
}

/** Absolute path of a stored path (with `/` between its parts) below the folder. */
export function absolutePath(root: string, path: string): string {
  // Avoids `path.join`: a check of all added files computes every path, and 5,000 joins take milliseconds.
  return sep === '/' && !root.endsWith(sep) ? `${root}/${path}` : join(root, ...path.split('/'))
}

/** Path from the folder to something in it, with `/` between its parts. */
export function pathWithin(root: string, absolute: string): string {
  return slashed(relative(root, absolute))
}

/** A path in the form in which it is stored: with `/` between its parts. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/')
}

export function isWithin(path: string, folder: string): boolean {
  const between = relative(folder, path)
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between))
}

/** Paths that this holder has added, which are read again when they change. */
export function addedPaths(reader: StoreReader, holder: string): readonly AddedPath[] {
  const rows = reader.table(ADDED_PATHS).scan({ holder })
  const added = rows.map(({ path, root }) => ({ path: path as string, isFolder: root === path }))
  return added.sort((a, b) => compareText(a.path, b.path))
}

/** Records the file of an entry that is deleted by itself, so that the file is not read again before it changes. */
export function keepSeen(writer: StoreWriter, entry: EntryKey, holder: string): void {
  const row = writer.table(FILES).get({ entry })
  if (row === undefined) return
  const path = absolutePath(row['root'] as string, row['path'] as string)
  const { size, modifiedAt } = seenIn(row)
  writer.table(SEEN_FILES).put({ holder, path, size, modified_at: modifiedAt })
}

export interface AddedPath {
  /** Absolute path with symbolic links resolved. */
  readonly path: string
  readonly isFolder: boolean
}

/** All folders ever added, by any holder, to find those above and below a path. */
function rootsOf(reader: StoreReader): readonly string[] {
  const rows = reader.table(ADDED_PATHS).scan()
  return [...new Set(rows.map(row => row['root'] as string))]
}
