/** Names of Python: only modules, classes and functions are scopes, and a class is not seen from its methods. */
import type { Node } from '../syntax-tree.ts'

export type Meaning =
  | { readonly is: 'concept'; readonly key: string }
  | { readonly is: 'import'; readonly module: string; readonly name: string | null }
  /** A value of the class that encloses the method. */
  | { readonly is: 'self'; readonly key: string }
  | { readonly is: 'typed'; readonly node: Node }
  | { readonly is: 'expression'; readonly node: Node }
  | { readonly is: 'element'; readonly node: Node }
  | { readonly is: 'unknown' }

const MAX_DEPTH = 200

export class PythonScope {
  readonly names: Map<string, Meaning> = new Map()
  readonly prefix: string
  /** Key of the class whose body this is, or whose method. */
  readonly classKey: string | null
  readonly isClass: boolean
  readonly #outer: PythonScope | null
  readonly #depth: number

  constructor(outer: PythonScope | null, prefix: string, classKey: string | null, isClass: boolean) {
    this.#outer = outer
    this.prefix = prefix
    this.classKey = classKey
    this.isClass = isClass
    this.#depth = outer === null ? 0 : outer.#depth + 1
  }

  inner(prefix: string, classKey: string | null, isClass: boolean): PythonScope {
    return this.#depth >= MAX_DEPTH ? this : new PythonScope(this, prefix, classKey, isClass)
  }

  find(name: string): Meaning | null {
    const own = this.names.get(name)
    if (own !== undefined) return own
    for (let scope = this.#outer; scope !== null; scope = scope.#outer) {
      const found = scope.isClass ? undefined : scope.names.get(name)
      if (found !== undefined) return found
    }
    return null
  }

  declare(name: string, meaning: Meaning): void {
    const known = this.names.get(name)
    if (known === undefined || known.is === 'unknown') this.names.set(name, meaning)
  }
}
