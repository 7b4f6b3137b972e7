/**
 * Names of a language whose calls are linked across files: which declaration a name means where it stands, and what a
 * value is a value of. A language says how its grammar writes that (`LinkedLanguage`). What is not certain is null.
 */
import { isUndeclared, type Reference, type Shape, type Step } from '../concept.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'
import type { DefinitionsFile } from './definitions-file.ts'

export type Meaning =
  | { readonly ref: Reference }
  /** A value of the type written there. */
  | { readonly type: Node }
  /** What the expression gives, or an element of it. */
  | { readonly value: Node; readonly step?: Step }
  /** Something of which nothing is known; it hides what is outside. */
  | null

export class Names {
  readonly own: Map<string, Meaning> = new Map()
  readonly outer: Names | null
  /** Around a module that does not see its names. */
  readonly parent: Names | null
  /** That it was opened at. */
  readonly node: Node
  readonly #selfOf: () => Reference | null
  readonly #depth: number
  #self: Reference | null | undefined

  constructor(outer: Names | null, node: Node, selfOf: () => Reference | null, parent: Names | null = null) {
    this.outer = outer
    this.node = node
    this.parent = parent
    this.#selfOf = selfOf
    this.#depth = outer === null ? 0 : outer.#depth + 1
  }

  /** The type whose member this is. */
  get self(): Reference | null {
    if (this.#self === undefined) {
      // A type that is named by what it is in leads nowhere.
      this.#self = null
      this.#self = this.#selfOf() ?? this.outer?.self ?? null
    }
    return this.#self
  }

  /** Where scopes are nested too deeply, the outer one: then nothing is known of its names. */
  inner(node: Node, selfOf: () => Reference | null, isIsolated: boolean): Names {
    if (this.#depth >= MAX_SCOPES) return this
    return isIsolated ? new Names(null, node, selfOf, this) : new Names(this, node, selfOf)
  }

  /** Undefined: no such name in the file. */
  find(name: string): Meaning | undefined {
    for (let scope: Names | null = this; scope !== null; scope = scope.outer) {
      const found = scope.own.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Declared twice, it is not certain which one is meant. */
  declare(name: string, meaning: Meaning): void {
    if (name !== '' && name !== '_') this.own.set(name, this.own.has(name) ? null : meaning)
  }
}

const MAX_SCOPES = 200
const MAX_DEPTH = 24
/** A path with more parts, or a type nested deeper, says nothing. */
export const MAX_PARTS = 24

export interface LinkedLanguage {
  /** Kinds of nodes within which names are their own. */
  readonly scopes: ReadonlySet<string>
  /** Whether names from outside are not seen within. */
  isolates?(kind: string): boolean
  /** In source order, once the scope of the node is open. */
  declare(file: LinkedFile, node: Node, kind: string): void
  /** The type of `this` within a scope, null: as outside. Called once all is declared. */
  self(file: LinkedFile, node: Node, kind: string): Reference | null
  value(file: LinkedFile, node: Node, depth: number): Reference | null
  /** A value of the type. */
  type(file: LinkedFile, node: Node, depth: number): Reference | null
  /** Links of the node. */
  refer(file: LinkedFile, node: Node, kind: string): void
  /** Once all is declared: what other files see. */
  share(file: LinkedFile): void
}

export class LinkedFile {
  readonly tree: SyntaxTree
  readonly file: DefinitionsFile
  readonly top: Names = new Names(null, NONE, () => null)
  readonly #language: LinkedLanguage
  readonly #scopeOf: Names[] = []

  constructor(file: DefinitionsFile, language: LinkedLanguage) {
    this.file = file
    this.tree = file.tree
    this.#language = language
  }

  run(): void {
    const language = this.#language
    this.file.eachNode((node, kind) => {
      const outer = node === 0 ? this.top : (this.#scopeOf[this.tree.parent(node)] as Names)
      const selfOf = () => language.self(this, node, kind)
      this.#scopeOf[node] = language.scopes.has(kind)
        ? outer.inner(node, selfOf, language.isolates?.(kind) === true)
        : outer
      if (!kind.startsWith(':')) language.declare(this, node, kind)
    })
    this.file.eachNode((node, kind) => {
      if (!kind.startsWith(':')) language.refer(this, node, kind)
    })
    language.share(this)
  }

  text(node: Node): string {
    return this.file.text(node)
  }

  /** Within the node; of a leaf, where it stands. */
  scope(node: Node): Names {
    return this.#scopeOf[node] as Names
  }

  /** Whether the name is that of a variable: a function that it was given may be another one by now. */
  isVariable(node: Node): boolean {
    const meaning = this.scope(node).find(this.text(node))
    return meaning !== undefined && meaning !== null && !('ref' in meaning)
  }

  /** Around the node. */
  outside(node: Node): Names {
    return this.#scopeOf[Math.max(0, this.tree.parent(node))] as Names
  }

  value(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return known(this.#language.value(this, node, depth + 1))
  }

  type(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return known(this.#language.type(this, node, depth + 1))
  }

  meaning(meaning: Meaning, depth: number): Reference | null {
    if (meaning === null || depth > MAX_DEPTH) return null
    if ('ref' in meaning) return meaning.ref
    if ('type' in meaning) return this.type(meaning.type, depth + 1)
    const value = this.value(meaning.value, depth + 1)
    return meaning.step === undefined ? value : step(value, meaning.step)
  }

  refer(node: Node, relation: 'CALLS' | 'USES' | 'EXTENDS' | 'IMPLEMENTS', target: Reference | null): void {
    if (target !== null) this.file.draft.refer(this.file.owner(node), relation, target)
  }

  shape(key: string, more: Shape): void {
    const { shapes } = this.file.draft
    const before = shapes.get(key)
    const members = { ...before?.members, ...more.members }
    const bases = [...(before?.bases ?? []), ...(more.bases ?? [])]
    const merged = {
      ...before,
      ...more,
      ...(Object.keys(members).length > 0 ? { members } : {}),
      ...(bases.length > 0 ? { bases } : {}),
    }
    if (Object.keys(merged).length > 0) shapes.set(key, merged)
  }

  /** What the file exports by the name; declared twice, it is not certain which one is meant. */
  export(name: string, target: Reference | null): void {
    const { exports } = this.file.draft
    if (target === null || exports.has(name)) exports.set(name, { name })
    else exports.set(name, target)
  }
}

export function step(of: Reference | null, how: Step): Reference | null {
  return of === null ? null : { of, step: how }
}

export function instance(of: Reference | null): Reference | null {
  return step(of, 'instance')
}

export function member(of: Reference | null, name: string): Reference | null {
  return of === null || name === '' ? null : { of, member: name }
}

function known(reference: Reference | null): Reference | null {
  return reference === null || isUndeclared(reference) ? null : reference
}
