/**
 * What is known of all indexed code: of every file enough to tell whose links a change touches, the rest when it is asked
 * for. Loaded from the store when a run needs it, and kept for the next one while nothing else has changed it.
 */
import type { EntryKey } from '../../../model/entry.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { Store } from '../../../store/store.ts'
import type { OwnFile } from '../body/register.ts'
import { READING_VERSION } from '../extract/concept.ts'
import type { Card } from '../extract/resolve/card.ts'
import { CodeGraph } from '../extract/resolve/code-graph.ts'
import type { LinkTarget } from '../extract/resolve/link-file.ts'
import type { ConceptAt } from '../mind/rows.ts'
import { CARDS, CONCEPTS } from '../tables.ts'
import { pathBelow } from '../urls.ts'
import { cardIn } from './card-row.ts'
import { revisionOf } from './revision.ts'
import { MOST_HELD, Shelf } from './shelf.ts'
import { packageNamed, symbolOf } from './symbols.ts'
import type { Turn } from './turn.ts'

export class CodeBase {
  graph: CodeGraph = new CodeGraph()
  /** Of the store that this is a picture of; -1: of none. */
  revision = -1
  /** Path -> the file's entry; of those that are written. */
  readonly entries: Map<string, EntryKey> = new Map()
  readonly packages: Map<string, ConceptAt> = new Map()
  readonly #store: Store
  readonly #workspace: Workspace
  readonly #mostHeld: number
  /** Path -> symbol -> id; read when first asked for. */
  readonly #ids = new Map<string, Map<string, number>>()
  #shelf: Shelf
  /** Who loaded it last. */
  #turn: Turn | null = null

  constructor(store: Store, workspace: Workspace, mostHeld: number) {
    this.#store = store
    this.#workspace = workspace
    this.#mostHeld = mostHeld
    this.#shelf = this.#newShelf()
  }

  /** What was read and is not written yet. */
  get shelf(): Shelf {
    return this.#shelf
  }

  /** `turn`: only if it is this one that has it. */
  forget(turn?: Turn): void {
    if (turn === undefined || this.isOf(turn)) this.revision = -1
  }

  /** One that lost its turn while it hung must leave alone what a later one has loaded. */
  isOf(turn: Turn): boolean {
    return this.#turn === turn
  }

  /** Reads nothing when this is the picture already. `files` are all of the viewer's own. */
  load(turn: Turn, files: () => Iterable<OwnFile>): void {
    this.#turn = turn
    const revision = revisionOf(this.#store)
    if (this.revision === revision) return
    const paths = new Map<EntryKey, string>()
    for (const { entry, url } of files()) {
      const path = pathBelow(this.#workspace.url, url)
      if (path !== null) paths.set(entry, path)
    }
    this.entries.clear()
    this.#ids.clear()
    this.#shelf = this.#newShelf()
    this.graph = new CodeGraph(this.#shelf, this.#cards(paths))
    this.#readPackages()
    this.revision = revision
  }

  /** By symbol; the caller adds what it makes. */
  idsIn(path: string): Map<string, number> {
    const known = this.#ids.get(path)
    if (known !== undefined) return known
    const url = this.#workspace.urlOf(path)
    const made = new Map<string, number>()
    for (const { symbol, id } of this.#store.table(CONCEPTS).scan({ url }, { columns: ['id', 'symbol'] })) {
      if (symbol !== null) made.set(symbol as string, id as number)
    }
    this.#ids.set(path, made)
    return made
  }

  idOf(target: LinkTarget): number | undefined {
    if ('package' in target) return this.packages.get(target.package)?.id
    return this.idsIn(target.path).get(symbolOf(target.key))
  }

  drop(path: string): void {
    this.entries.delete(path)
    this.#ids.delete(path)
  }

  *#cards(paths: ReadonlyMap<EntryKey, string>): Generator<readonly [string, Card]> {
    for (const row of this.#store.table(CARDS).scan({ version: READING_VERSION })) {
      const entry = row['entry'] as EntryKey
      const path = paths.get(entry)
      if (path === undefined) continue
      this.entries.set(path, entry)
      yield [path, cardIn(row)]
    }
  }

  #readPackages(): void {
    this.packages.clear()
    for (const row of this.#store.table(CONCEPTS).scan({ url: null }, { columns: ['entry', 'id', 'symbol'] })) {
      const symbol = row['symbol'] as string | null
      if (symbol === null) continue
      this.packages.set(packageNamed(symbol), { id: row['id'] as number, entry: row['entry'] as EntryKey })
    }
  }

  #newShelf(): Shelf {
    return new Shelf(this.#store, path => this.entries.get(path), this.#mostHeld)
  }
}

const BASES = new WeakMap<Workspace, CodeBase>()

/** One an engine. `mostHeld`: see `MOST_HELD`. */
export function codeBaseOf(store: Store, workspace: Workspace, mostHeld: number = MOST_HELD): CodeBase {
  const known = BASES.get(workspace)
  if (known !== undefined) return known
  const made = new CodeBase(store, workspace, mostHeld)
  BASES.set(workspace, made)
  return made
}
