/** A Python file while it is read, and what it declares. */
import type { Draft } from '../draft.ts'
import { SourceFile } from '../source-file.ts'
import type { Node, SyntaxTree } from '../syntax-tree.ts'
import { PythonScope } from './scope.ts'

export class PythonFile extends SourceFile<PythonScope> {
  /** Definition -> key of its concept. */
  readonly classes: Map<Node, string> = new Map()
  readonly functions: Map<Node, string> = new Map()
  /** Keys of functions of which only `@overload`s are known so far. */
  readonly overloads: Set<string> = new Set()

  constructor(draft: Draft, tree: SyntaxTree) {
    super(draft, tree, new PythonScope(null, '', null, false))
  }

  /** The definition with its decorators. */
  decorated(definition: Node): Node {
    const above = this.tree.parent(definition)
    return this.tree.kind(above) === 'decorated_definition' ? above : definition
  }

  /** What stands behind the @ of each decorator: `property`, `app.get("/")`. */
  decorators(definition: Node): string[] {
    const { tree } = this
    const whole = this.decorated(definition)
    if (whole === definition) return []
    return [...tree.children(whole)]
      .filter(part => tree.kind(part) === 'decorator')
      .map(part => this.text(this.inside(part)))
  }
}
