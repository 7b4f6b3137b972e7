/** A source file while it is read: its tree, and the scope and the enclosing concept of every node. */
import type { Draft } from './draft.ts'
import { NONE, type Node, type SyntaxTree } from './syntax-tree.ts'

/** `S` is what a language keeps of a scope. */
export class SourceFile<S> {
  readonly draft: Draft
  readonly tree: SyntaxTree
  /** Names that declare, and so do not refer. */
  readonly #declaring: Uint8Array
  readonly #scopeOf: Int32Array
  readonly #scopes: S[]
  readonly #ownerOf: Int32Array
  readonly #owners: string[]

  constructor(draft: Draft, tree: SyntaxTree, outermost: S) {
    this.draft = draft
    this.tree = tree
    this.#declaring = new Uint8Array(tree.size)
    this.#scopeOf = new Int32Array(tree.size)
    this.#scopes = [outermost]
    this.#ownerOf = new Int32Array(tree.size)
    this.#owners = [draft.fileKey]
  }

  /** In source order. Throws `Overdue`. */
  eachNode(visit: (node: Node, kind: string) => void): void {
    for (let node = 0; node < this.tree.size; node++) {
      this.draft.step()
      visit(node, this.tree.kind(node))
    }
  }

  get top(): S {
    return this.#scopes[0] as S
  }

  /** The scope within the node; of a leaf, the one it stands in. */
  scope(node: Node): S {
    return this.#scopes[this.#scopeOf[node] as number] as S
  }

  /** Key of the concept that the node is part of. */
  owner(node: Node): string {
    return this.#owners[this.#ownerOf[node] as number] as string
  }

  /** Key of the concept that the node stands in, null at the top of the file. */
  ownerAbove(node: Node): string | null {
    const at = this.#ownerOf[Math.max(0, this.tree.parent(node))] as number
    return at === 0 ? null : (this.#owners[at] as string)
  }

  /** To be called for every node in source order, before anything is opened at it. */
  enter(node: Node): void {
    const parent = this.tree.parent(node)
    if (parent === NONE) return
    // What was opened ahead for this node stays.
    if (this.#scopeOf[node] === 0) this.#scopeOf[node] = this.#scopeOf[parent] as number
    if (this.#ownerOf[node] === 0) this.#ownerOf[node] = this.#ownerOf[parent] as number
  }

  /** From here on, within the node. */
  openScope(node: Node, scope: S): void {
    this.#scopeOf[node] = this.#scopes.push(scope) - 1
  }

  openOwner(node: Node, key: string): void {
    this.#ownerOf[node] = this.#owners.push(key) - 1
  }

  /** What is within the node belongs to what the node stands in. */
  closeOwner(node: Node): void {
    this.#ownerOf[node] = this.#ownerOf[Math.max(0, this.tree.parent(node))] as number
  }

  markDeclaring(node: Node): void {
    if (node !== NONE) this.#declaring[node] = 1
  }

  isDeclaring(node: Node): boolean {
    return this.#declaring[node] === 1
  }

  text(node: Node): string {
    return node === NONE ? '' : this.tree.textOf(node)
  }

  /** First child that is neither a mark nor a comment; for wrappers that hold one expression. */
  inside(node: Node): Node {
    for (const child of this.tree.children(node)) {
      const kind = this.tree.kind(child)
      if (!kind.startsWith(':') && kind !== 'comment') return child
    }
    return NONE
  }
}
