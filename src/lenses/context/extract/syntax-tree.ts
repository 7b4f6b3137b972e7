/**
 * A syntax tree in flat arrays, in the order of the source. Copied out of the parser's memory in one pass: the parser's
 * tree can be freed at once, every look is an array access, and no depth of nesting can overflow the stack.
 */

/** Number of a node: its place in source order. The root is 0. */
export type Node = number

/** No such node. */
export const NONE: Node = -1

export interface TreeArrays {
  readonly kinds: Uint16Array
  readonly fields: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly parents: Int32Array
  /** First node behind the node and all below it. */
  readonly untils: Int32Array
}

export class SyntaxTree {
  readonly text: string
  readonly size: number
  /**
   * Characters that the grammar could not place: those of error nodes, and of what holds a closing bracket that is not
   * there. 0: all was read. A semicolon that is not there is no error.
   */
  readonly damage: number
  readonly #arrays: TreeArrays
  readonly #kindNames: readonly string[]
  readonly #fieldNames: readonly (string | null)[]

  constructor(
    text: string,
    arrays: TreeArrays,
    kindNames: readonly string[],
    fieldNames: readonly (string | null)[],
    damage: number,
  ) {
    this.text = text
    this.size = arrays.kinds.length
    this.damage = damage
    this.#arrays = arrays
    this.#kindNames = kindNames
    this.#fieldNames = fieldNames
  }

  /** As the grammar names it; marks and key words with a colon in front (`:class`, `:,`); empty: could not be read. */
  kind(node: Node): string {
    return this.#kindNames[this.#arrays.kinds[node] as number] ?? ''
  }

  /** The name the grammar gives the node within its parent. */
  field(node: Node): string | null {
    return this.#fieldNames[this.#arrays.fields[node] as number] ?? null
  }

  /** In UTF-16 units of the text. */
  start(node: Node): number {
    return this.#arrays.starts[node] as number
  }

  end(node: Node): number {
    return this.#arrays.ends[node] as number
  }

  /** NONE for the root. */
  parent(node: Node): Node {
    return this.#arrays.parents[node] as number
  }

  /** First node behind the node and all below it. */
  until(node: Node): Node {
    return this.#arrays.untils[node] as number
  }

  textOf(node: Node): string {
    return this.text.slice(this.start(node), this.end(node))
  }

  /** Direct children in order, marks such as brackets and key words among them. */
  *children(node: Node): Iterable<Node> {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) yield child
  }

  /** Direct children without the marks; comments are among them. */
  parts(node: Node): Node[] {
    return [...this.children(node)].filter(child => !this.kind(child).startsWith(':'))
  }

  /** First child that has the field, or NONE. */
  child(node: Node, field: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.field(child) === field) return child
    }
    return NONE
  }

  /** First child of the kind, or NONE. */
  childOf(node: Node, kind: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.kind(child) === kind) return child
    }
    return NONE
  }

  /** The child before it under the same parent, or NONE. Cost: the parent's children. */
  before(node: Node): Node {
    const parent = this.parent(node)
    if (parent === NONE || node === parent + 1) return NONE
    // The node in front belongs to the elder sibling, maybe deep below it.
    let elder = node - 1
    while (this.parent(elder) !== parent) elder = this.parent(elder)
    return elder
  }
}
