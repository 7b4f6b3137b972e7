/**
 * Records which entries of the store were made from which file, and the file's state at that time. A file is identified by holder and
 * absolute path, so that a folder and one of its subfolders can both be added without making entries twice.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import type { Row } from '../model/table.ts'
import { ADDED_PATHS, FILES, SEEN_FILES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/** A row of the table of files: an entry and the file from which it was made. */
export interface KnownRow {
  readonly entry: EntryKey
  /** `root`: absolute path of the added folder; `path`: path of the file from that folder, with `/` between its parts. */
  readonly root: string
  readonly path: string
  /**
   * Hash of the file's bytes and of everything else that determines its entries, including the holder; it shows whether the file must be
   * read again.
   */
  readonly hash: string
  readonly seen: SeenFile
}

/** Size and modification time of a file, by which a change is noticed without reading the file. */
export interface SeenFile {
  /** Size of the file in bytes when it was last examined. */
  readonly size: number
  readonly modifiedAt: Instant
}

export interface KnownFile {
  readonly root: string
  readonly path: string
  /** Entries made from this file, by id. */
  readonly entries: ReadonlyMap<string, Entry>
}

/**
 * Rows of the table of files for the file or folder `place` and everything below, for all holders, by absolute path. Does not read the
 * entries themselves.
 */
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

/** Rows of the table of files for one file, given by its absolute path, for all holders. */
export function rowsOfFile(reader: StoreReader, absolute: string): readonly KnownRow[] {
  return rootsOf(reader)
    .filter(root => isWithin(absolute, root))
    .flatMap(root => {
      const rows = reader.table(FILES).scan({ root, path: pathWithin(root, absolute) })
      return rows.map(row => knownRow(root, row))
    })
}

/** Whether two sets of rows of one file are equal, which means that no run has written the file's entries between the two look-ups. */
export function areSame(some: readonly KnownRow[], others: readonly KnownRow[]): boolean {
  const stateOf = (rows: readonly KnownRow[]) =>
    rows
      .map(({ entry, hash }) => `${entry} ${hash}`)
      .sort()
      .join()
  return stateOf(some) === stateOf(others)
}

/** The file with those of its entries that belong to this holder; undefined if there are none. */
export function ownFile(reader: StoreReader, rows: readonly KnownRow[], holder: string): KnownFile | undefined {
  // A damaged entry is skipped, so the file is added as if that entry did not exist.
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

/** Size and time of the files that the table `SEEN_FILES` has for this holder, by absolute path. */
export function seenFiles(reader: StoreReader, holder: string): ReadonlyMap<string, SeenFile> {
  const rows = reader.table(SEEN_FILES).scan({ holder })
  return new Map(rows.map(row => [row['path'] as string, seenIn(row)]))
}

export function areSeenAlike(one: SeenFile | null | undefined, other: SeenFile | null | undefined): boolean {
  return one?.size === other?.size && one?.modifiedAt === other?.modifiedAt
}

/** Absolute path of a file below the folder `root`. `path`: stored form of its relative path, with `/` between the parts. */
export function absolutePath(root: string, path: string): string {
  // `path.join` is avoided here because it is slow: a check of all added files computes every path, and 5,000 calls would take
  // milliseconds.
  return sep === '/' && !root.endsWith(sep) ? `${root}/${path}` : join(root, ...path.split('/'))
}

/** Relative path from the folder `root` to a file or folder below, with `/` between the parts on every system. */
export function pathWithin(root: string, absolute: string): string {
  return slashed(relative(root, absolute))
}

/** Converts a relative path to the form in which the store has it: with `/` between the parts. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/')
}

export function isWithin(path: string, folder: string): boolean {
  const between = relative(folder, path)
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between))
}

/** Paths that this holder has added and that are still kept up to date, sorted by path. */
export function addedPaths(reader: StoreReader, holder: string): readonly AddedPath[] {
  const rows = reader.table(ADDED_PATHS).scan({ holder })
  const added = rows.map(({ path, root }) => ({ path: path as string, isFolder: root === path }))
  return added.sort((a, b) => compareText(a.path, b.path))
}

/**
 * When a single entry is deleted: remembers size and modification time of the file from which it was made, so that the file is not read
 * again, and the entry not made again, until the file changes.
 */
export function keepSeen(writer: StoreWriter, entry: EntryKey, holder: string): void {
  const row = writer.table(FILES).get({ entry })
  if (row === undefined) return
  const path = absolutePath(row['root'] as string, row['path'] as string)
  const { size, modifiedAt } = seenIn(row)
  writer.table(SEEN_FILES).put({ holder, path, size, modified_at: modifiedAt })
}

export interface AddedPath {
  /** Absolute path of the added file or folder, with symbolic links resolved. */
  readonly path: string
  readonly isFolder: boolean
}

/**
 * Paths of all folders that any holder (owner of entries) has added; for a file that was added by itself, the folder that contains it.
 * Folders above and below a given path are found by comparing these.
 */
function rootsOf(reader: StoreReader): readonly string[] {
  const rows = reader.table(ADDED_PATHS).scan()
  return [...new Set(rows.map(row => row['root'] as string))]
}
