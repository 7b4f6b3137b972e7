/**
 * Which files link to which, as a viewer sees them. A link is resolved by Obsidian's rules when a query runs, among the files that exist
 * and that the viewer may see at that time. So a link never leads to a hidden, renamed or deleted file, and may lead to one that was added
 * after the link was written.
 */

import type { Bitset } from '../base/bitset.ts'
import { compareText } from '../base/compare.ts'
import type { EntryKey } from '../model/entry.ts'
import { foldCase } from '../model/filter.ts'
import type { Row } from '../model/table.ts'
import type { AccessScope } from '../model/viewer.ts'
import { ADDED_PATHS, FILE_LINKS, FILE_NAMES, FILES, lastPart, withoutMarkdownEnding } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'
import type { QueryContext } from './context.ts'

interface Link {
  readonly entry: EntryKey
  readonly target: string
  readonly isRelative: boolean
}

/** A visible file to which a link may refer by a name. */
interface Named extends AddedFile {
  readonly kind: string
  readonly holder: string
}

export class NoteLinks {
  readonly #reader: StoreReader
  readonly #partitions: ReadonlySet<number>
  readonly #accessScope: AccessScope
  readonly #files: FilePlaces
  readonly #named = new Map<string, readonly Named[]>()
  readonly #places = new Map<EntryKey, (AddedFile & { readonly holder: string }) | undefined>()

  /** The object caches file names and links, so use it for only one read of the store; later writes are not seen. */
  constructor(reader: StoreReader, accessScope: AccessScope) {
    this.#reader = reader
    this.#accessScope = accessScope
    this.#partitions = new Set(accessScope.partitions)
    this.#files = new FilePlaces(reader)
  }

  /** Files to which the entry links, each once, without the entry itself. */
  linksOf(entry: EntryKey): readonly EntryKey[] {
    const rows = this.#reader.table(FILE_LINKS).scan({ entry })
    const targets = rows.map(row => this.#resolve(linkOf(row))).filter(target => target !== undefined)
    return [...new Set(targets)].filter(target => target !== entry)
  }

  /**
   * Files that link to the entry, each once, without the entry itself. Time grows with the number of links that use one of the entry's
   * names.
   */
  backlinksOf(entry: EntryKey): readonly EntryKey[] {
    const names = this.#reader.table(FILE_NAMES).scan({ entry }).filter(isLinkable)
    const links = [...new Set(names.map(row => row['name'] as string))].flatMap(name =>
      this.#reader.table(FILE_LINKS).scan({ name }).map(linkOf),
    )
    this.#load(links.map(link => link.entry))
    const sources = new Set<EntryKey>()
    for (const link of links) {
      if (link.entry !== entry && !sources.has(link.entry) && this.#resolve(link) === entry) sources.add(link.entry)
    }
    return [...sources].sort((a, b) => a - b)
  }

  /** Files to which the entry links and files that link to the entry, each once. */
  linkedWith(entry: EntryKey): readonly EntryKey[] {
    return [...new Set([...this.linksOf(entry), ...this.backlinksOf(entry)])]
  }

  /** Visible files whose title, alias, file name or path is `name`, and visible entries whose id is `name`. */
  called(name: string): readonly EntryKey[] {
    const path = withoutMarkdownEnding(name.trim())
    const byName = [...this.#namedBy(foldCase(name.trim())), ...this.#namedBy(foldCase(lastPart(path)))]
    const found = byName.filter(file => file.kind !== 'file' || endsWith(file, path))
    const byId = this.#reader.find(name, this.#accessScope.partitions)
    return [...new Set([...byId, ...found.map(({ entry }) => entry)])]
  }

  #resolve(link: Link): EntryKey | undefined {
    const source = this.#placeOf(link.entry)
    if (source === undefined) return undefined
    const name = foldCase(lastPart(link.target))
    const files = this.#namedBy(name).filter(({ holder }) => holder === source.holder)
    const folder = source.path.slice(0, Math.max(0, source.path.lastIndexOf('/')))
    if (link.isRelative || /^\.\.?\//.test(link.target)) {
      const place = joined(slashed(source.root), link.target.startsWith('/') ? '' : folder, link.target)
      const exact = best(files.filter(file => foldCase(absolutePath(file)) === foldCase(place)))
      if (exact !== undefined) return exact.entry
    }
    const inside = files.filter(({ root }) => root === source.root)
    const path = joined('', '', link.target)
    const byPath = inside.filter(file => file.kind === 'file' && endsWith(file, path))
    const isExact = (file: Named) => foldCase(withoutMarkdownEnding(file.path)) === foldCase(path)
    const chosen = byPath.find(isExact) ?? best(byPath) ?? best(inside.filter(({ kind }) => kind === 'alias'))
    return chosen?.entry
  }

  /** Visible files that a link may call by this name. */
  #namedBy(name: string): readonly Named[] {
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const kinds = this.#reader.table(FILE_NAMES).scan({ name })
    this.#load(kinds.map(row => row['entry'] as EntryKey))
    const found = kinds.flatMap(row => {
      const place = this.#placeOf(row['entry'] as EntryKey)
      return place === undefined ? [] : [{ ...place, kind: row['kind'] as string }]
    })
    this.#named.set(name, found)
    return found
  }

  #placeOf(entry: EntryKey): (AddedFile & { readonly holder: string }) | undefined {
    this.#load([entry])
    return this.#places.get(entry)
  }

  /** Loads the file paths of these entries with one read; an entry that is no visible file is recorded as undefined. */
  #load(entries: readonly EntryKey[]): void {
    const unknown = [...new Set(entries)].filter(entry => !this.#places.has(entry))
    if (unknown.length === 0) return
    for (const entry of unknown) this.#places.set(entry, undefined)
    const visible = this.#reader.identities(unknown).filter(({ partition }) => this.#partitions.has(partition))
    const holders = new Map(visible.map(({ key, holder }) => [key, holder]))
    for (const file of this.#files.of([...holders.keys()])) {
      this.#places.set(file.entry, { ...file, holder: holders.get(file.entry) as string })
    }
  }
}

function linkOf(row: Row): Link {
  return { entry: row['entry'] as EntryKey, target: row['target'] as string, isRelative: row['relative'] === 1 }
}

function isLinkable(row: Row): boolean {
  return row['kind'] !== 'title'
}

/**
 * Of several files with the name of a link, the one that the link means: the path with the fewest folders, then the shortest path, then the
 * first in text order.
 */
function best(files: readonly Named[]): Named | undefined {
  const parts = ({ path }: Named) => path.split('/').length
  return files.toSorted(
    (a, b) => parts(a) - parts(b) || a.path.length - b.path.length || compareText(a.path, b.path),
  )[0]
}

/** Whether the file's path equals `end`, or ends with `end` at a folder border; letter case and a Markdown ending are ignored. */
function endsWith({ path }: AddedFile, end: string): boolean {
  return `/${foldCase(withoutMarkdownEnding(path))}`.endsWith(`/${foldCase(end)}`)
}

function absolutePath({ root, path }: AddedFile): string {
  return `${slashed(root)}/${withoutMarkdownEnding(path)}`
}

/**
 * Joins a root folder, a folder and a relative path, and resolves `.` and `..`; a path that would leave the file system's root stays at the
 * root.
 */
function joined(root: string, folder: string, path: string): string {
  const parts: string[] = []
  for (const part of `${root}/${folder}/${path}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `${root.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

// Files that were added to the store, found by their place on disk or by the entry made from them.

/**
 * An entry made from a file, and the file's place: `root`, the added folder, and `path` within it, with `/` as separator on every system.
 */
export interface AddedFile {
  readonly entry: EntryKey
  readonly root: string
  readonly path: string
}

export class FilePlaces {
  readonly #reader: StoreReader
  #roots: readonly string[] | null = null

  /** Use the object for only one read of the store: it does not see later writes. */
  constructor(reader: StoreReader) {
    this.#reader = reader
  }

  /** The files from which these entries were made; entries that were not made from a file are left out. */
  of(entries: readonly EntryKey[]): readonly AddedFile[] {
    const rows = this.#reader.table(FILES).scan({}, { entries, columns: ['entry', 'root', 'path'] })
    return rows.map(row => ({
      entry: row['entry'] as EntryKey,
      root: row['root'] as string,
      path: row['path'] as string,
    }))
  }

  /** Entries made from the file at this absolute path, through whichever added folder. */
  at(absolute: string): readonly EntryKey[] {
    return this.roots.flatMap(root => {
      const folder = slashed(root)
      if (!absolute.startsWith(`${folder}/`)) return []
      const path = absolute.slice(folder.length + 1)
      return this.#reader
        .table(FILES)
        .scan({ root, path })
        .map(row => row['entry'] as EntryKey)
    })
  }

  get roots(): readonly string[] {
    const rows = () => this.#reader.table(ADDED_PATHS).scan({}, { columns: ['holder', 'path', 'root'] })
    this.#roots ??= [...new Set(rows().map(row => row['root'] as string))]
    return this.#roots
  }
}

/** The path with `/` as separator and without a separator at its end. */
export function slashed(path: string): string {
  return path.replaceAll('\\', '/').replace(/\/$/, '')
}

// A file that was added as a document and also indexed as source code is shown only once: as the document, which contains the author's
// text. The entries made by other readings of the file are left out of an answer that may contain the document.

const NONE: ReadonlySet<EntryKey> = new Set()

/**
 * Those of the given entries that are left out because a document made from the same file is shown instead. The document must be visible to
 * the viewer and, where the query has conditions, meet them (be in `allow`; null: no conditions).
 */
export function readOfDocuments(
  entries: readonly EntryKey[],
  allow: Bitset | null,
  { readings = [], reader, accessScope }: QueryContext,
): ReadonlySet<EntryKey> {
  const files = new FilePlaces(reader)
  if (readings.length === 0 || files.roots.length === 0) return NONE
  const byUrl = new Map<string, EntryKey[]>()
  for (const table of readings) {
    const { url, symbol } = table.readOf
    const columns = [...new Set([...table.key, 'entry', url, symbol ?? url])]
    for (const row of reader.table(table).scan({}, { entries, columns })) {
      if (row[url] === null || (symbol !== undefined && row[symbol] === null)) continue
      const file = String(row[url])
      byUrl.set(file, [...(byUrl.get(file) ?? []), row['entry'] as EntryKey])
    }
  }
  if (byUrl.size === 0) return NONE
  const visible = new Set(accessScope.partitions)
  const isInAnswer = (entry: EntryKey) => {
    if (allow !== null) return allow.has(entry)
    return reader.identities([entry]).some(({ partition }) => visible.has(partition))
  }
  const stoodFor = [...byUrl].filter(([url]) => files.at(placeOf(url)).some(isInAnswer))
  return new Set(stoodFor.flatMap(([, read]) => read))
}

/** The decoded path of a file URL, with `/` as separator. */
function placeOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url).pathname).replace(/^\/(?=[A-Za-z]:\/)/, '')
  } catch {
    return ''
  }
}
