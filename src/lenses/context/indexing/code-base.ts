/**
 * What is known of all indexed code, in memory: extractions with their links, and which id each concept has. Loaded from the
 * store when a run needs it, and kept for the next one while no other process has run.
 */
import { storableText } from '../../../base/storable.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { RegisteredFile } from '../body/files.ts'
import type { Extraction } from '../extract/concept.ts'
import type { Grammars } from '../extract/grammars.ts'
import { CodeGraph } from '../extract/resolve/code-graph.ts'
import type { LinkTarget } from '../extract/resolve/link-file.ts'
import type { ConceptAt } from '../mind/rows.ts'
import { counter } from '../parts.ts'
import { CONCEPTS, EXTRACTIONS } from '../tables.ts'

/** Another way of reading files or of keeping what was read: all files are read again. */
export const READING_VERSION = 1

/** Counts runs that wrote. */
export const REVISION = 'index_revision'
/** 1 while a run writes: what it left behind must be compared as a whole. */
export const UNFINISHED = 'index_unfinished'

export class CodeBase {
  graph: CodeGraph = new CodeGraph()
  /** Path -> symbol -> id. */
  readonly ids: Map<string, Map<string, number>> = new Map()
  readonly packages: Map<string, ConceptAt> = new Map()
  /** Of the store that this is a picture of; -1: of none. */
  revision = -1
  grammars: Grammars | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** Runs one after the other. */
  alone<T>(body: () => Promise<T>): Promise<T> {
    const run = this.#last.then(body)
    this.#last = run.catch(() => undefined)
    return run
  }

  forget(): void {
    this.revision = -1
  }

  /** Does nothing when this is the picture already. */
  load(reader: StoreReader, files: Iterable<RegisteredFile>, workspace: Workspace): void {
    const revision = revisionOf(reader)
    if (this.revision === revision) return
    const paths = new Map<EntryKey, string>()
    for (const { entry, url } of files) {
      const path = pathOf(workspace, url)
      if (path !== null) paths.set(entry, path)
    }
    this.graph = new CodeGraph()
    this.graph.update({ put: extractionsOf(reader, [...paths.keys()]) })
    this.#readIds(reader, workspace)
    this.revision = revision
  }

  idOf(target: LinkTarget): number | undefined {
    if ('package' in target) return this.packages.get(target.package)?.id
    return this.ids.get(target.path)?.get(symbolOf(target.key))
  }

  #readIds(reader: StoreReader, workspace: Workspace): void {
    this.ids.clear()
    this.packages.clear()
    for (const row of reader.table(CONCEPTS).scan({}, { columns: ['entry', 'id', 'url', 'symbol'] })) {
      const symbol = row['symbol'] as string | null
      if (symbol === null) continue
      const id = row['id'] as number
      const url = row['url'] as string | null
      const path = url === null ? null : pathOf(workspace, url)
      if (path !== null) idsIn(this, path).set(symbol, id)
      else if (url === null) this.packages.set(packageNamed(symbol), { id, entry: row['entry'] as EntryKey })
    }
  }
}

const BASES = new WeakMap<Workspace, CodeBase>()

/** One an engine. */
export function codeBaseOf(workspace: Workspace): CodeBase {
  const known = BASES.get(workspace)
  if (known !== undefined) return known
  const made = new CodeBase()
  BASES.set(workspace, made)
  return made
}

export function revisionOf(reader: StoreReader): number {
  return counter(reader, REVISION) ?? 0
}

export function idsIn({ ids }: CodeBase, path: string): Map<string, number> {
  const known = ids.get(path)
  if (known !== undefined) return known
  const made = new Map<string, number>()
  ids.set(path, made)
  return made
}

/** Relative to the workspace; null: outside of it. */
export function pathOf({ url: root }: Workspace, url: string): string | null {
  return url.startsWith(`${root}/`) ? decodeURIComponent(url.slice(root.length + 1)) : null
}

/** What a concept's row is known by within its file. */
export function symbolOf(key: string): string {
  return storableText(key)
}

const PACKAGE = 'Package '

export function packageSymbol(name: string): string {
  return storableText(`${PACKAGE}${name}`)
}

function packageNamed(symbol: string): string {
  return symbol.slice(PACKAGE.length)
}

function extractionsOf(reader: StoreReader, entries: readonly EntryKey[]): Extraction[] {
  const rows = reader.table(EXTRACTIONS).scan({ version: READING_VERSION }, { entries })
  return rows.flatMap(row => {
    const json = row['extraction'] as string | null
    return json === null ? [] : [JSON.parse(json) as Extraction]
  })
}
