/** A file of which definitions are read, while it is read, and what it declares. */
import type { Language } from '../concept.ts'
import type { Draft } from '../draft.ts'
import { SourceFile } from '../source-file.ts'
import type { Node, SyntaxTree } from '../syntax-tree.ts'
import { type Dialect, dialectOf } from './dialects.ts'

/** The type that a node stands in. */
export interface Within {
  readonly typeName: string | null
  /** In front of the qualified names of what is declared here. */
  readonly prefix: string
  /** Within a function: what is declared here is no method. */
  readonly isFunction: boolean
  /** What the object itself is called, where the language lets the method choose. */
  readonly selfName?: string | null
}

const OUTSIDE: Within = { typeName: null, prefix: '', isFunction: false }
const MAX_PREFIX = 200

export class DefinitionsFile extends SourceFile<Within> {
  readonly language: Language
  readonly dialect: Dialect
  /** Simple name -> key; the first of a name stays. */
  readonly types: Map<string, string> = new Map()
  readonly functions: Map<string, string> = new Map()
  /** Of Rust: names of those that the file declares. */
  readonly modules: Set<string> = new Set()
  /** `Type.method` -> key */
  readonly methods: Map<string, string> = new Map()
  /** Declaration -> key of its concept; parts of one concept share it. */
  readonly declared: Map<Node, string> = new Map()
  readonly #late: (() => void)[] = []

  constructor(draft: Draft, tree: SyntaxTree, language: Language) {
    super(draft, tree, OUTSIDE)
    this.language = language
    this.dialect = dialectOf(language)
  }

  keyOf(node: Node): string | undefined {
    return this.declared.get(node)
  }

  /** From here on, within the node. */
  open(node: Node, within: Within): void {
    const isLong = within.prefix.length > MAX_PREFIX
    this.openScope(node, isLong ? { ...within, prefix: this.scope(node).prefix } : within)
  }

  /** For what names a type: it may be declared further down. */
  later(act: () => void): void {
    this.#late.push(act)
  }

  /** Once the whole file is declared. */
  doLater(): void {
    for (const act of this.#late) act()
  }
}
