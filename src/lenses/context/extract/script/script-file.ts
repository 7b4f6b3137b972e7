/** A script while it is read, and what it declares. */
import type { Draft } from '../draft.ts'
import { SourceFile } from '../source-file.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'
import { Scope, type Self } from './scope.ts'

export class ScriptFile extends SourceFile<Scope> {
  /** Names that the top of the file exports in a statement of their own. */
  readonly exportedNames: Set<string> = new Set()
  /** Declaration of a concept with a shape -> its key. */
  readonly classes: Map<Node, string> = new Map()
  readonly functions: Map<Node, string> = new Map()
  readonly constants: Map<Node, string> = new Map()
  readonly aliases: Map<Node, string> = new Map()
  /** Key of a class -> its members that are methods, by name. */
  readonly methods: Map<string, Map<string, string>> = new Map()

  /** Functions that are given to a class by assignment. */
  readonly selves: Map<Node, Self> = new Map()

  constructor(draft: Draft, tree: SyntaxTree) {
    super(draft, tree, Scope.outermost())
  }

  /** The text of a string without its quotes, null for anything else. */
  stringOf(node: Node): string | null {
    if (node === NONE || this.tree.kind(node) !== 'string') return null
    return this.tree.text.slice(this.tree.start(node) + 1, this.tree.end(node) - 1)
  }
}
