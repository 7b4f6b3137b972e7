/**
 * Parses source text with tree-sitter (WebAssembly, prebuilt grammars); no other module uses the parser. A grammar is loaded for its first
 * file (1 to 9 ms), after which parsing is synchronous. The tree is copied from the parser's memory into flat arrays in one pass, so that
 * memory can be freed at once and deep nesting cannot overflow the stack.
 */
import { type Tree, Language as TreeLanguage, Parser as TreeParser } from 'web-tree-sitter'
import { must } from '../../../base/assert.ts'
import { type Grammar, grammarOf, languageOf } from './concept.ts'

/** Returns true when parsing must stop because it takes too long; called often. */
export type IsOverdue = () => boolean

/** A node of a syntax tree, given by its position in source order; the root is 0. */
export type Node = number

/** Value for a syntax node that does not exist. */
export const NONE: Node = -1

interface Nodes {
  readonly kinds: Uint16Array
  readonly fields: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly parents: Int32Array
  /** For each node, the number of the first node that follows it in source order without being one of its descendants. */
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
   * Number of characters that the grammar could not parse: those in error nodes, and those of nodes that lack a closing bracket. 0 when the
   * whole text was parsed; a missing semicolon does not count.
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

  /**
   * Kind of a node, as the grammar names it. Punctuation and keywords have a colon in front (`:class`, `:,`); the empty text means source
   * that could not be parsed.
   */
  kind(node: Node): string {
    return this.parsed.kindNames[this.#nodes.kinds[node] as number] ?? ''
  }

  /** Name of the field that the grammar gives the node within its parent; null where it has none. */
  field(node: Node): string | null {
    return this.parsed.fieldNames[this.#nodes.fields[node] as number] ?? null
  }

  /** Offset in the text at which the node starts, in UTF-16 units. */
  start(node: Node): number {
    return this.#nodes.starts[node] as number
  }

  end(node: Node): number {
    return this.#nodes.ends[node] as number
  }

  /** The parent of a node in the syntax tree; NONE for the root. */
  parent(node: Node): Node {
    return this.#nodes.parents[node] as number
  }

  /** The first node in source order that follows the given node and is not one of its descendants. */
  until(node: Node): Node {
    return this.#nodes.untils[node] as number
  }

  text(node: Node): string {
    return node === NONE ? '' : this.source.slice(this.start(node), this.end(node))
  }

  /** Source text of the node's first child in the given field. */
  textAt(node: Node, field: string): string {
    return this.text(this.child(node, field))
  }

  /** Iterates over the direct children of a node in order, including punctuation and keywords. */
  *children(node: Node): Iterable<Node> {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) yield child
  }

  /** Direct children of a node, without punctuation, keywords and comments. */
  parts(node: Node): Node[] {
    return [...this.children(node)].filter(child => this.#isPart(child))
  }

  /** The first child of a node in the given field; NONE when there is none. */
  child(node: Node, field: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.field(child) === field) return child
    }
    return NONE
  }

  /**
   * Children of a node in the given field, without punctuation and keywords. When the field name ends with a star: the children of the
   * first child in that field.
   */
  all(node: Node, field: string): Node[] {
    if (!field.endsWith('*')) return this.parts(node).filter(child => this.field(child) === field)
    const list = this.child(node, field.slice(0, -1))
    return list === NONE ? [] : this.parts(list)
  }

  /** The first child of a node that has the given kind; NONE when there is none. */
  childOf(node: Node, kind: string): Node {
    const until = this.until(node)
    for (let child = node + 1; child < until; child = this.until(child)) {
      if (this.kind(child) === kind) return child
    }
    return NONE
  }

  /** The first child of a node that is neither punctuation, keyword nor comment; used for wrapper nodes that hold one expression. */
  inside(node: Node): Node {
    for (const child of this.children(node)) if (this.#isPart(child)) return child
    return NONE
  }

  #isPart(node: Node): boolean {
    const kind = this.kind(node)
    return !kind.startsWith(':') && !isComment(kind)
  }

  /** The last node in source order that starts at or before the offset (a node without children); NONE when every node starts later. */
  lastFrom(offset: number): Node {
    let [low, high] = [0, this.size]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.start(middle) <= offset) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The previous child of the node's parent; NONE for the first child. The cost grows with the depth of the previous child's subtree. */
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
   * Parses a text into a syntax tree; null when `isOverdue` stopped the parser. No text makes the call throw. `parsed`: a repaired text of
   * equal length that is parsed in place of `text`; the text of nodes is still taken from `text`.
   */
  parse(grammar: Grammar, text: string, isOverdue: IsOverdue, parsed: string = text): SyntaxTree | null {
    return this.#parsed(grammar, parsed, isOverdue, (tree, loaded) => copy(tree, text, loaded, isOverdue))
  }

  /** Whether the text parses without damage; null when `isOverdue` stopped the parser. Costs half of `parse`, as no tree is copied. */
  isSound(grammar: Grammar, text: string, isOverdue: IsOverdue): boolean | null {
    return this.#parsed(grammar, text, isOverdue, (tree, loaded) => {
      // A tree with errors may still be without damage: a missing semicolon counts as none.
      if (!tree.rootNode.hasError) return true
      const copied = copy(tree, text, loaded, isOverdue)
      return copied === null ? null : copied.damage === 0
    })
  }

  #parsed<T>(
    grammar: Grammar,
    text: string,
    isOverdue: IsOverdue,
    use: (tree: Tree, loaded: Loaded) => T | null,
  ): T | null {
    const loaded = must(this.#ready.get(grammar), `the grammar ${grammar}`)
    this.#parser.setLanguage(loaded.language)
    const tree = this.#parser.parse(text, null, { progressCallback: () => isOverdue() })
    // Without a reset, the parser would continue this text in the next call.
    if (tree === null) this.#parser.reset()
    try {
      return tree === null ? null : use(tree, loaded)
    } finally {
      // The WebAssembly parser's memory is not garbage-collected, so the tree must be freed explicitly.
      tree?.delete()
    }
  }
}

/**
 * The parser with its grammars; there is one per process, since loading a grammar and preparing it for its first parse costs more than
 * reading a file.
 */
let opened: Promise<Grammars> | null = null

/** The parser, with the grammars that these files need loaded; a further call for languages already loaded costs nothing. */
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
  // `load` declares its parameter as a path, but passes it to the file system unchanged, so a file URL works too.
  const language = await TreeLanguage.load(address as unknown as string)
  const kinds = Array.from({ length: language.nodeTypeCount }, (_, id) => {
    return `${language.nodeTypeIsNamed(id) ? '' : ':'}${language.nodeTypeForId(id) ?? ''}`
  })
  const fields = Array.from({ length: language.fieldCount + 1 }, (_, id) => language.fieldNameForId(id))
  return { language, kinds, fields }
}

/** Number of syntax nodes that are copied between two checks whether the time limit has passed. */
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

/** Number of the node kind by which the parser marks text that it could not parse. */
const ERROR_KIND = 65_535

/** Number of characters that the grammar could not parse: those in error nodes, and those of nodes that lack a closing bracket. */
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
