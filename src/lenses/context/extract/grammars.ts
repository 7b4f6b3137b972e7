/**
 * Parses source text with tree-sitter (WebAssembly, prebuilt grammars). The only place that knows the parser. A grammar is
 * loaded when its first file comes (1 to 9 ms); parsing is synchronous after that. A tree is copied out of the parser's
 * memory into flat arrays in one pass: the memory can be freed at once, and no depth of nesting can overflow the stack.
 */
import { type Tree, Language as TreeLanguage, Parser as TreeParser } from 'web-tree-sitter'
import { must } from '../../../base/assert.ts'
import { type Grammar, grammarOf, languageOf } from './concept.ts'

/** Returns whether to stop; called often. */
export type IsOverdue = () => boolean

/** Number of a node: its position in source order. The root is 0. */
export type Node = number

/** No such node. */
export const NONE: Node = -1

interface Nodes {
  readonly kinds: Uint16Array
  readonly fields: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly parents: Int32Array
  /** First node behind the node and all below it. */
  readonly untils: Int32Array
}

interface Parsed {
  readonly source: string
  readonly nodes: Nodes
  readonly kindNames: readonly string[]
  readonly fieldNames: readonly (string | null)[]
  readonly damage: number
}

export class SyntaxTree {
  readonly parsed: Parsed
  readonly source: string
  readonly size: number
  /**
   * Characters that the grammar could not place: those of error nodes, and of what holds a closing bracket that is not
   * there. 0: all was read. A semicolon that is not there is no error.
   */
  readonly damage: number
  readonly #nodes: Nodes

  constructor(parsed: Parsed) {
    this.parsed = parsed
    this.source = parsed.source
    this.size = parsed.nodes.kinds.length
    this.damage = parsed.damage
    this.#nodes = parsed.nodes
  }

  /** As the grammar names it; marks and key words with a colon in front (`:class`, `:,`); empty: could not be read. */
  kind(node: Node): string {
    return this.parsed.kindNames[this.#nodes.kinds[node] as number] ?? ''
  }

  /** The name the grammar gives the node within its parent. */
  field(node: Node): string | null {
    return this.parsed.fieldNames[this.#nodes.fields[node] as number] ?? null
  }

  /** In UTF-16 units of the text. */
  start(node: Node): number {
    return this.#nodes.starts[node] as number
  }

  end(node: Node): number {
    return this.#nodes.ends[node] as number
  }

  /** NONE for the root. */
  parent(node: Node): Node {
    return this.#nodes.parents[node] as number
  }

  /** First node behind the node and all below it. */
  until(node: Node): Node {
    return this.#nodes.untils[node] as number
  }

  text(node: Node): string {
    return node === NONE ? '' : this.source.slice(this.start(node), this.end(node))
  }

  /** Text of the first child that has the field. */
  textAt(node: Node, field: string): string {
    return this.text(this.child(node, field))
  }

  /** Direct children in order, marks such as brackets and key words among them. */
  *children(node: Node): Iterable<Node> {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) yield child
  }

  /** Direct children without marks and comments. */
  parts(node: Node): Node[] {
    return [...this.children(node)].filter(child => this.#isPart(child))
  }

  /** First child that has the field, or NONE. */
  child(node: Node, field: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.field(child) === field) return child
    }
    return NONE
  }

  /** Children that have the field, without marks; with a star behind it, the children of the first one that has it. */
  all(node: Node, field: string): Node[] {
    if (!field.endsWith('*')) return this.parts(node).filter(child => this.field(child) === field)
    const list = this.child(node, field.slice(0, -1))
    return list === NONE ? [] : this.parts(list)
  }

  /** First child of the kind, or NONE. */
  childOf(node: Node, kind: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.kind(child) === kind) return child
    }
    return NONE
  }

  /** First child that is neither a mark nor a comment; for wrappers that hold one expression. */
  inside(node: Node): Node {
    for (const child of this.children(node)) if (this.#isPart(child)) return child
    return NONE
  }

  #isPart(node: Node): boolean {
    const kind = this.kind(node)
    return !kind.startsWith(':') && !isComment(kind)
  }

  /** The last node, in source order, that begins at the offset or before it: a leaf. NONE in front of all. */
  lastFrom(offset: number): Node {
    let [low, high] = [0, this.size]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.start(middle) <= offset) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The child before it under the same parent, or NONE. Cost: the depth of that child. */
  before(node: Node): Node {
    const parent = this.parent(node)
    if (parent === NONE || node === parent + 1) return NONE
    let elder = node - 1
    while (this.parent(elder) !== parent) elder = this.parent(elder)
    return elder
  }
}

export function isComment(kind: string): boolean {
  return kind === 'comment' || kind === 'line_comment' || kind === 'block_comment'
}

interface Loaded {
  readonly language: TreeLanguage
  readonly kinds: readonly string[]
  readonly fields: readonly (string | null)[]
}

export class Grammars {
  readonly #parser: TreeParser
  readonly #loading = new Map<Grammar, Promise<Loaded>>()
  readonly #ready = new Map<Grammar, Loaded>()

  constructor(parser: TreeParser) {
    this.#parser = parser
  }

  async load(grammar: Grammar): Promise<void> {
    const loading = this.#loading.get(grammar) ?? loadGrammar(grammar)
    this.#loading.set(grammar, loading)
    this.#ready.set(grammar, await loading)
  }

  /**
   * Null when `isOverdue` said stop. Never throws for what the text holds. `parsed`: a text of the same length that is
   * parsed in place of `text`; the texts of the nodes are still those of `text`.
   */
  parse(grammar: Grammar, text: string, isOverdue: IsOverdue, parsed: string = text): SyntaxTree | null {
    const loaded = must(this.#ready.get(grammar), `the grammar ${grammar}`)
    this.#parser.setLanguage(loaded.language)
    const tree = this.#parser.parse(parsed, null, { progressCallback: () => isOverdue() })
    // Without it the next parse would go on with this text.
    if (tree === null) this.#parser.reset()
    try {
      return tree === null ? null : copy(tree, text, loaded, isOverdue)
    } finally {
      // The parser's memory has no garbage collector.
      tree?.delete()
    }
  }
}

/** One a process: loading a grammar and getting it up to speed costs more than reading a file. */
let opened: Promise<Grammars> | null = null

/** With what these files need; further calls for the same languages cost nothing. */
export async function grammarsFor(paths: Iterable<string>): Promise<Grammars> {
  opened ??= TreeParser.init().then(() => new Grammars(new TreeParser()))
  const grammars = await opened
  for (const grammar of new Set([...paths].map(path => grammarOf(languageOf(path))))) {
    if (grammar !== null) await grammars.load(grammar)
  }
  return grammars
}

async function loadGrammar(grammar: Grammar): Promise<Loaded> {
  const address = new URL(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`))
  // Declared as a path, but handed to the file system as it is, which takes an address as well.
  const language = await TreeLanguage.load(address as unknown as string)
  const kinds = Array.from({ length: language.nodeTypeCount }, (_, id) => {
    return `${language.nodeTypeIsNamed(id) ? '' : ':'}${language.nodeTypeForId(id) ?? ''}`
  })
  const fields = Array.from({ length: language.fieldCount + 1 }, (_, id) => language.fieldNameForId(id))
  return { language, kinds, fields }
}

/** Nodes copied between two checks of the time. */
const NODES_A_CHECK = 8192

function copy(tree: Tree, source: string, { kinds, fields }: Loaded, isOverdue: IsOverdue): SyntaxTree | null {
  const { hasError, descendantCount: size } = tree.rootNode
  const nodes: Nodes = {
    ...{ kinds: new Uint16Array(size), fields: new Uint8Array(size) },
    ...{ starts: new Uint32Array(size), ends: new Uint32Array(size) },
    ...{ parents: new Int32Array(size), untils: new Int32Array(size) },
  }
  const missing: Node[] = []
  const cursor = tree.walk()
  try {
    let parent = NONE
    for (let node = 0; ; ) {
      if (node % NODES_A_CHECK === 0 && isOverdue()) return null
      if (hasError && cursor.nodeIsMissing) missing.push(node)
      nodes.kinds[node] = cursor.nodeTypeId
      nodes.fields[node] = cursor.currentFieldId
      nodes.starts[node] = cursor.startIndex
      nodes.ends[node] = cursor.endIndex
      nodes.parents[node] = parent
      if (cursor.gotoFirstChild()) {
        parent = node++
        continue
      }
      nodes.untils[node] = node + 1
      node++
      while (!cursor.gotoNextSibling()) {
        if (parent === NONE || !cursor.gotoParent()) {
          const damage = hasError ? damageOf(nodes, missing, kinds) : 0
          return new SyntaxTree({ source, nodes, kindNames: kinds, fieldNames: fields, damage })
        }
        nodes.untils[parent] = node
        parent = nodes.parents[parent] as number
      }
    }
  } finally {
    cursor.delete()
  }
}

/** The parser's number for what it could not read. */
const ERROR_KIND = 65_535

/** See `SyntaxTree.damage`. */
function damageOf(
  { kinds, starts, ends, parents, untils }: Nodes,
  missing: readonly Node[],
  names: readonly string[],
): number {
  const lengthOf = (node: Node): number => Math.max(1, (ends[node] as number) - (starts[node] as number))
  let damage = 0
  for (let node = 0; node < kinds.length; node++) {
    if (kinds[node] !== ERROR_KIND) continue
    damage += lengthOf(node)
    node = (untils[node] as number) - 1
  }
  for (const node of missing) {
    const name = names[kinds[node] as number] ?? ''
    const isCloser = /^:[)\]}>]$|^:end$/.test(name)
    if (name !== ':;') damage += isCloser ? lengthOf(parents[node] as number) : 1
  }
  return damage
}
