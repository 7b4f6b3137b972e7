/**
 * What the store knows of files: which entries were made from which file, and the state it had then. A file is known by
 * its holder and absolute path, so that a folder and a folder within it can both be added without doubling anything.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Entry, EntryKey } from '../model/entry.ts'
import { FILES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/** One entry and the file it was made from. */
export interface KnownRow {
  readonly entry: EntryKey
  /** The folder it was added with, and the path from there, `/` between the parts. */
  readonly root: string
  readonly path: string
  /** Of the file's bytes and of all that decides what becomes of them, the holder included. */
  readonly hash: string
}

export interface KnownFile {
  readonly root: string
  readonly path: string
  /** By id. */
  readonly entries: ReadonlyMap<string, Entry>
}

/** All folders ever added, so that those above and below another one are found. */
const ROOTS = 'ingest-roots'

/** By absolute path: `place` (a file), or what lies below it (a folder), whoever holds it. Reads no entry. */
export function knownRows(reader: StoreReader, place: string): ReadonlyMap<string, readonly KnownRow[]> {
  const known = new Map<string, KnownRow[]>()
  for (const root of rootsOf(reader).filter(root => isWithin(root, place) || isWithin(place, root))) {
    for (const row of reader.table(FILES).scan({ root })) {
      const path = row['path'] as string
      const absolute = absolutePath(root, path)
      if (!isWithin(absolute, place)) continue
      const rows = known.get(absolute) ?? []
      rows.push({ entry: Number(row['entry']), root, path, hash: row['hash'] as string })
      known.set(absolute, rows)
    }
  }
  return known
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

/** Keeps in mind that this folder was added. */
export function rememberRoot(writer: StoreWriter, root: string): void {
  const roots = rootsOf(writer)
  if (!roots.includes(root)) writer.setMeta(ROOTS, JSON.stringify([...roots, root]))
}

function absolutePath(root: string, path: string): string {
  return join(root, ...path.split('/'))
}

/** From the folder to something in it, `/` between the parts. */
export function pathWithin(root: string, absolute: string): string {
  return relative(root, absolute).split(sep).join('/')
}

export function isWithin(path: string, folder: string): boolean {
  const between = relative(folder, path)
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between))
}

function rootsOf(reader: StoreReader): readonly string[] {
  const text = reader.meta(ROOTS)
  return text === undefined ? [] : (JSON.parse(text) as readonly string[])
}
