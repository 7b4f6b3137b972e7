/**
 * What the store knows of files: which entries were made from which file, and the state it had then. A file is known by
 * its holder and absolute path, so that a folder and a folder within it can both be added without doubling anything.
 */
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Entry } from '../model/entry.ts'
import { FILES } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

export interface KnownFile {
  /** The folder it was added with, and the path from there, `/` between the parts. */
  readonly root: string
  readonly path: string
  readonly hash: string
  readonly entries: readonly Entry[]
}

/** All folders ever added, so that those above and below another one are found. */
const ROOTS = 'ingest-roots'

/** By absolute path: files of this holder at `place` (a file) or below it (a folder). */
export function knownFiles(reader: StoreReader, holder: string, place: string): ReadonlyMap<string, KnownFile> {
  const known = new Map<string, { root: string; path: string; hash: string; keys: number[] }>()
  for (const root of rootsOf(reader).filter(root => isWithin(root, place) || isWithin(place, root))) {
    for (const row of reader.table(FILES).scan({ root })) {
      const path = row['path'] as string
      const absolute = absolutePath(root, path)
      if (!isWithin(absolute, place)) continue
      const file = known.get(absolute) ?? { root, path, hash: row['hash'] as string, keys: [] }
      file.keys.push(Number(row['entry']))
      known.set(absolute, file)
    }
  }
  const files = new Map<string, KnownFile>()
  for (const [absolute, { root, path, hash, keys }] of known) {
    const entries = reader.entries(keys).filter(entry => entry.audience.holder === holder)
    if (entries.length > 0) files.set(absolute, { root, path, hash, entries })
  }
  return files
}

/** Keeps in mind that this folder was added. */
export function rememberRoot(writer: StoreWriter, root: string): void {
  const roots = rootsOf(writer)
  if (!roots.includes(root)) writer.setMeta(ROOTS, JSON.stringify([...roots, root]))
}

export function absolutePath(root: string, path: string): string {
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
