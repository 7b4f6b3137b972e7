/** What a peer has to do to be measured: be built once from the rows, be opened, answer questions by row numbers. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { RowFilter } from './filters.ts'
import type { Item, Items } from './item.ts'

export interface Asked {
  readonly text: string
  readonly vector: Float32Array
  /** The same numbers, for libraries that take no typed arrays. */
  readonly list: number[]
}

/** What an answer holds besides ids and scores. Only alike is compared with alike. */
export type Holds = 'ids' | 'texts'

/** One number that a peer lets its users set, where more is more exact and slower. */
export interface Knob {
  readonly name: string
  /** Rising. */
  readonly values: readonly number[]
}

/** Answers are row numbers, best first. A method that is missing is something the peer does not have. */
export interface OpenPeer {
  /** What the knob is for a question without or with a filter; absent: exact, or nothing to set. */
  knob?(filtered: boolean): Knob | undefined
  /** Called before questions with another setting; not timed. */
  set?(value: number, filtered: boolean): void | Promise<void>
  nearest?(asked: Asked, k: number, filter: RowFilter | undefined): readonly number[] | Promise<readonly number[]>
  words?(text: string, k: number): readonly number[] | Promise<readonly number[]>
  hybrid?(asked: Asked, k: number): readonly number[] | Promise<readonly number[]>
  /** Makes the row findable by vectors, and by words where there are any; again with another item: replaces it. */
  put?(item: Item, isNew: boolean): unknown
  remove?(row: number): unknown
  close(): unknown
}

export interface Peer {
  readonly name: string
  /** Version of what is measured. */
  readonly version: () => string
  readonly holds: Holds
  /** Its settings, and what its time includes, in words for the page. */
  readonly settings: string
  /** What updates leave undone: for the page. */
  readonly durability: string
  /** Its work and memory are in a process that is not looked at. */
  readonly isServer?: boolean
  /** The peer whose build it opens, in place of one of its own. */
  readonly sharesBuildOf?: string
  /** Megabytes of V8's heap; default: Node's own limit. */
  readonly heap?: number
  build(folder: string, items: Items): Promise<void>
  open(folder: string, items: Items): Promise<OpenPeer>
}

const require = createRequire(import.meta.url)

/** A package of bench/peers, which the packages of the repository do not know. The caller says what it uses of it. */
export async function load<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(resolve(name)).href)) as T
}

export function versionOf(name: string): string {
  const { dependencies, optionalDependencies } = require('../package.json') as Record<string, Record<string, string>>
  return optionalDependencies?.[name] ?? dependencies?.[name] ?? 'unknown'
}

/** By the rules of `import`, which some packages answer otherwise than those of `require`. */
function resolve(name: string): string {
  return new URL(import.meta.resolve(name)).pathname
}
