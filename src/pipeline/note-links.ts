/**
 * Which files link to which, as a viewer sees them. A link is resolved as Obsidian does, when it is asked for and among the files
 * that the viewer may see: so a file that is hidden, renamed or deleted takes part in nothing, and one that is added later does.
 */
import { compareText } from '../base/compare.ts'
import type { EntryKey } from '../model/entry.ts'
import { foldCase } from '../model/filter.ts'
import type { Row } from '../model/table.ts'
import type { AccessScope } from '../model/viewer.ts'
import { FILE_LINKS, FILE_NAMES, lastPart, withoutMarkdownEnding } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'
import { type AddedFile, FilePlaces, slashed } from './file-places.ts'

interface Link {
  readonly entry: EntryKey
  readonly target: string
  readonly isRelative: boolean
}

/** A visible file that something may call by a name. */
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

  /** For one read. */
  constructor(reader: StoreReader, accessScope: AccessScope) {
    this.#reader = reader
    this.#accessScope = accessScope
    this.#partitions = new Set(accessScope.partitions)
    this.#files = new FilePlaces(reader)
  }

  /** Files that it links to, each once, without itself. */
  linksOf(entry: EntryKey): readonly EntryKey[] {
    const rows = this.#reader.table(FILE_LINKS).scan({ entry })
    const targets = rows.map(row => this.#resolve(linkOf(row))).filter(target => target !== undefined)
    return [...new Set(targets)].filter(target => target !== entry)
  }

  /** Files that link to it, each once, without itself. Costs the number of links that use one of its names. */
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

  /** What is linked with it, either way. */
  linkedWith(entry: EntryKey): readonly EntryKey[] {
    return [...new Set([...this.linksOf(entry), ...this.backlinksOf(entry)])]
  }

  /** Visible files of this title, alias, file name or path, and the visible entries of this id. */
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

  /** Visible ones alone. */
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

  /** Where these are, all at once; undefined for what is no visible file. */
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

/** The shortest path first, then by text. */
function best(files: readonly Named[]): Named | undefined {
  const parts = ({ path }: Named) => path.split('/').length
  return files.toSorted(
    (a, b) => parts(a) - parts(b) || a.path.length - b.path.length || compareText(a.path, b.path),
  )[0]
}

/** Whether its path is this one, or ends with it. */
function endsWith({ path }: AddedFile, end: string): boolean {
  return `/${foldCase(withoutMarkdownEnding(path))}`.endsWith(`/${foldCase(end)}`)
}

function absolutePath({ root, path }: AddedFile): string {
  return `${slashed(root)}/${withoutMarkdownEnding(path)}`
}

/** One path, without `.` and `..`; what leads out of the root of the disk stays there. */
function joined(root: string, folder: string, path: string): string {
  const parts: string[] = []
  for (const part of `${root}/${folder}/${path}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `${root.startsWith('/') ? '/' : ''}${parts.join('/')}`
}
