/** Who is meant by a name at a place of a script: scopes as the language nests them, and what each name stands for. */
import type { Node } from '../syntax-tree.ts'

/** What a name stands for; the parts that need types are read only when the name is used. */
export type Meaning =
  | { readonly is: 'concept'; readonly key: string }
  | { readonly is: 'import'; readonly module: string; readonly name: string | null }
  /** A value of that type. */
  | { readonly is: 'typed'; readonly node: Node }
  /** The value of that expression. */
  | { readonly is: 'expression'; readonly node: Node }
  /** A destructured part. */
  | { readonly is: 'member'; readonly of: Meaning; readonly member: string }
  | { readonly is: 'element'; readonly of: Meaning }
  /** A value of the type that a comment names; `at` tells where. */
  | { readonly is: 'written'; readonly type: string; readonly at: Node }
  /** A parameter of a function that is handed to the call. */
  | { readonly is: 'argument'; readonly call: Node }
  /** What is declared in it is a part of it. */
  | { readonly is: 'namespace'; readonly scope: Scope }
  /** A type parameter; `bound` is its constraint or NONE. */
  | { readonly is: 'parameter'; readonly bound: Node }
  /** Declared, but nothing is known of it: it hides what is outside. */
  | { readonly is: 'unknown' }

export const UNKNOWN: Meaning = { is: 'unknown' }

export interface Self {
  /** Key of the class. */
  readonly key: string
  /** In a static member `this` is the class itself. */
  readonly isStatic: boolean
}

/** Scopes within scopes beyond this share one: no code is nested so deep, and a search up the scopes stays short. */
const MAX_DEPTH = 200

export class Scope {
  readonly parent: Scope | null
  /** In front of the qualified names of what is declared here. */
  readonly prefix: string
  /** Declarations with `var` belong to the next one of these. */
  readonly isFunction: boolean
  /** What `this` is here. */
  readonly self: Self | null
  readonly values: Map<string, Meaning> = new Map()
  readonly types: Map<string, Meaning> = new Map()
  readonly #depth: number

  private constructor(parent: Scope | null, prefix: string, isFunction: boolean, self: Self | null) {
    this.parent = parent
    this.prefix = prefix
    this.isFunction = isFunction
    this.self = self
    this.#depth = parent === null ? 0 : parent.#depth + 1
  }

  static outermost(): Scope {
    return new Scope(null, '', true, null)
  }

  inner(isFunction: boolean, prefix: string = this.prefix, self: Self | null = this.self): Scope {
    return this.#depth >= MAX_DEPTH ? this : new Scope(this, prefix, isFunction, self)
  }

  value(name: string): Meaning | null {
    return this.#find(name, 'values')
  }

  type(name: string): Meaning | null {
    return this.#find(name, 'types')
  }

  /** The first declaration of a name stays: what follows are overloads, or the same thing again. */
  declare(name: string, meaning: Meaning, space: 'value' | 'type' | 'both'): void {
    if (space !== 'type' && !this.values.has(name)) this.values.set(name, meaning)
    if (space !== 'value' && !this.types.has(name)) this.types.set(name, meaning)
  }

  get functionScope(): Scope {
    let scope: Scope = this
    while (!scope.isFunction && scope.parent !== null) scope = scope.parent
    return scope
  }

  #find(name: string, space: 'values' | 'types'): Meaning | null {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope[space].get(name)
      if (found !== undefined) return found
    }
    return null
  }
}
