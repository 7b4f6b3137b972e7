/**
 * What the store knows of files: which entries were made from which file, and the state it had then. A file is known by
 * its holder and absolute path, so that a folder and a folder within it can both be added without doubling anything.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import type { Row } from '../model/table.ts'
import { ADDED_PATHS, FILES, SEEN_FILES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/** One entry and the file it was made from. */
export interface KnownRow {
  readonly entry: EntryKey
  /** The folder it was added with, and the path from there, `/` between the parts. */
  readonly root: string
  readonly path: string
  /** Of the file's bytes and of all that decides what becomes of them, the holder included. */
  readonly hash: string
  readonly seen: SeenFile
}

/** What tells that a file has changed without reading it. */
export interface SeenFile {
  /** Bytes. */
  readonly size: number
  readonly modifiedAt: Instant
}

export interface KnownFile {
  readonly root: string
  readonly path: string
  /** By id. */
  readonly entries: ReadonlyMap<string, Entry>
}

/** By absolute path: `place` (a file), or what lies below it (a folder), whoever holds it. Reads no entry. */
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

/** The same of one file. */
export function rowsOfFile(reader: StoreReader, absolute: string): readonly KnownRow[] {
  return rootsOf(reader)
    .filter(root => isWithin(absolute, root))
    .flatMap(root => {
      const rows = reader.table(FILES).scan({ root, path: pathWithin(root, absolute) })
      return rows.map(row => knownRow(root, row))
    })
}

/** Whether nobody has written the file between the two lookups. */
export function areSame(some: readonly KnownRow[], others: readonly KnownRow[]): boolean {
  const stateOf = (rows: readonly KnownRow[]) =>
    rows
      .map(({ entry, hash }) => `${entry} ${hash}`)
      .sort()
      .join()
  return stateOf(some) === stateOf(others)
}

/** What this holder has of a file. */
export function ownFile(reader: StoreReader, rows: readonly KnownRow[], holder: string): KnownFile | undefined {
  // One that is damaged is added as if it were new.
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

/** By absolute path: see `SEEN_FILES`. */
export function seenFiles(reader: StoreReader, holder: string): ReadonlyMap<string, SeenFile> {
  const rows = reader.table(SEEN_FILES).scan({ holder })
  return new Map(rows.map(row => [row['path'] as string, seenIn(row)]))
}

export function areSeenAlike(one: SeenFile | null | undefined, other: SeenFile | null | undefined): boolean {
  return one?.size === other?.size && one?.modifiedAt === other?.modifiedAt
}

/** `path` with `/` between its parts, below the folder. */
export function absolutePath(root: string, path: string): string {
  // Not by `path.join`: a look at all added files makes each path, and 5,000 joins take milliseconds.
  return sep === '/' && !root.endsWith(sep) ? `${root}/${path}` : join(root, ...path.split('/'))
}

/** From the folder to something in it, `/` between the parts. */
export function pathWithin(root: string, absolute: string): string {
  return slashed(relative(root, absolute))
}

/** A path as it is kept: `/` between its parts. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/')
}

export function isWithin(path: string, folder: string): boolean {
  const between = relative(folder, path)
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between))
}

/** Paths that this holder has added and that are read again when they change. */
export function addedPaths(reader: StoreReader, holder: string): readonly AddedPath[] {
  const rows = reader.table(ADDED_PATHS).scan({ holder })
  const added = rows.map(({ path, root }) => ({ path: path as string, isFolder: root === path }))
  return added.sort((a, b) => compareText(a.path, b.path))
}

/** So that a file whose entry is deleted by itself is not read again before it changes. */
export function keepSeen(writer: StoreWriter, entry: EntryKey, holder: string): void {
  const row = writer.table(FILES).get({ entry })
  if (row === undefined) return
  const path = absolutePath(row['root'] as string, row['path'] as string)
  const { size, modifiedAt } = seenIn(row)
  writer.table(SEEN_FILES).put({ holder, path, size, modified_at: modifiedAt })
}

export interface AddedPath {
  /** Absolute, symbolic links resolved. */
  readonly path: string
  readonly isFolder: boolean
}

/** All folders ever added, so that those above and below another one are found. */
function rootsOf(reader: StoreReader): readonly string[] {
  const rows = reader.table(ADDED_PATHS).scan()
  return [...new Set(rows.map(row => row['root'] as string))]
}
