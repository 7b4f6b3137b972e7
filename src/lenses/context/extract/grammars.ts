/**
 * Parses source text with tree-sitter (WebAssembly, prebuilt grammars). The only place that knows the parser. A grammar is
 * loaded when its first file comes (1 to 9 ms); parsing is synchronous after that.
 */
import { type Tree, Language as TreeLanguage, Parser as TreeParser } from 'web-tree-sitter'
import { SyntaxTree, type TreeArrays } from './syntax-tree.ts'

export type Grammar =
  | 'typescript'
  | 'tsx'
  | 'javascript'
  | 'python'
  | 'go'
  | 'rust'
  | 'java'
  | 'cpp'
  | 'c-sharp'
  | 'ruby'
  | 'php'

/** Tells whether to stop: asked often. */
export type IsOverdue = () => boolean

export interface Grammars {
  /** Must have been called and have ended before `parse` with the same grammar. */
  load(grammar: Grammar): Promise<void>
  /**
   * Null when `isOverdue` said stop. Never throws for what the text holds. `parsed`: a text of the same length that is
   * parsed in place of `text`; what the nodes say is still that of `text`.
   */
  parse(grammar: Grammar, text: string, isOverdue: IsOverdue, parsed?: string): SyntaxTree | null
  close(): void
}

interface Loaded {
  readonly language: TreeLanguage
  readonly kinds: readonly string[]
  readonly fields: readonly (string | null)[]
}

/** Nodes copied between two looks at the clock. */
const NODES_A_LOOK = 8192

export async function openGrammars(): Promise<Grammars> {
  await TreeParser.init()
  const parser = new TreeParser()
  const loaded = new Map<Grammar, Promise<Loaded>>()
  const ready = new Map<Grammar, Loaded>()
  return {
    async load(grammar) {
      const loading = loaded.get(grammar) ?? loadGrammar(grammar)
      loaded.set(grammar, loading)
      ready.set(grammar, await loading)
    },
    parse(grammar, text, isOverdue, parsed = text) {
      const found = ready.get(grammar)
      if (found === undefined) throw new Error(`grammar ${grammar} is not loaded`)
      parser.setLanguage(found.language)
      const tree = parser.parse(parsed, null, { progressCallback: () => isOverdue() })
      // Without it the next parse would go on with this text.
      if (tree === null) parser.reset()
      try {
        return tree === null ? null : copy(tree, text, found, isOverdue)
      } finally {
        // The parser's memory has no garbage collector.
        tree?.delete()
      }
    },
    close: () => parser.delete(),
  }
}

async function loadGrammar(grammar: Grammar): Promise<Loaded> {
  const address = new URL(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`))
  // Declared as a path, but handed to the file system as it is, which takes an address as well.
  const language = await TreeLanguage.load(address as unknown as string)
  const kinds = Array.from({ length: language.nodeTypeCount }, (_, id) => kindName(language, id))
  const fields = Array.from({ length: language.fieldCount + 1 }, (_, id) => language.fieldNameForId(id))
  return { language, kinds, fields }
}

function kindName(language: TreeLanguage, id: number): string {
  const name = language.nodeTypeForId(id) ?? ''
  return language.nodeTypeIsNamed(id) ? name : `:${name}`
}

function copy(tree: Tree, text: string, { kinds, fields }: Loaded, isOverdue: IsOverdue): SyntaxTree | null {
  const arrays = new GrowingArrays(Math.max(64, text.length >> 2))
  const cursor = tree.walk()
  const { hasError } = tree.rootNode
  const missing: number[] = []
  try {
    let parent = -1
    let node = 0
    for (;;) {
      if (node % NODES_A_LOOK === 0 && isOverdue()) return null
      if (hasError && cursor.nodeIsMissing) missing.push(node)
      arrays.put(node, cursor.nodeTypeId, cursor.currentFieldId, cursor.startIndex, cursor.endIndex, parent)
      if (cursor.gotoFirstChild()) {
        parent = node++
        continue
      }
      node++
      while (!cursor.gotoNextSibling()) {
        if (parent === -1 || !cursor.gotoParent()) {
          const whole = arrays.finish(node)
          const damage = hasError ? damageOf(whole, missing, kinds) : 0
          return new SyntaxTree(text, whole, kinds, fields, damage)
        }
        parent = arrays.parents[parent] as number
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
  { kinds, starts, ends, parents, untils }: TreeArrays,
  missing: readonly number[],
  names: readonly string[],
): number {
  const lengthOf = (node: number): number => Math.max(1, (ends[node] as number) - (starts[node] as number))
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

class GrowingArrays {
  #kinds: Uint16Array
  #fields: Uint8Array
  #starts: Uint32Array
  #ends: Uint32Array
  parents: Int32Array

  constructor(size: number) {
    this.#kinds = new Uint16Array(size)
    this.#fields = new Uint8Array(size)
    this.#starts = new Uint32Array(size)
    this.#ends = new Uint32Array(size)
    this.parents = new Int32Array(size)
  }

  put(node: number, kind: number, field: number, start: number, end: number, parent: number): void {
    if (node === this.#kinds.length) this.#grow()
    this.#kinds[node] = kind
    this.#fields[node] = field
    this.#starts[node] = start
    this.#ends[node] = end
    this.parents[node] = parent
  }

  finish(size: number): TreeArrays {
    const parents = this.parents.subarray(0, size)
    return {
      kinds: this.#kinds.subarray(0, size),
      fields: this.#fields.subarray(0, size),
      starts: this.#starts.subarray(0, size),
      ends: this.#ends.subarray(0, size),
      parents,
      untils: untilsOf(parents),
    }
  }

  #grow(): void {
    this.#kinds = enlarged(this.#kinds, new Uint16Array(this.#kinds.length * 2))
    this.#fields = enlarged(this.#fields, new Uint8Array(this.#fields.length * 2))
    this.#starts = enlarged(this.#starts, new Uint32Array(this.#starts.length * 2))
    this.#ends = enlarged(this.#ends, new Uint32Array(this.#ends.length * 2))
    this.parents = enlarged(this.parents, new Int32Array(this.parents.length * 2))
  }
}

function enlarged<A extends Uint8Array | Uint16Array | Uint32Array | Int32Array>(from: A, into: A): A {
  into.set(from)
  return into
}

function untilsOf(parents: Int32Array): Int32Array {
  const untils = new Int32Array(parents.length)
  for (let node = parents.length - 1; node >= 0; node--) {
    if (untils[node] === 0) untils[node] = node + 1
    const parent = parents[node] as number
    if (parent >= 0 && (untils[parent] as number) < (untils[node] as number)) untils[parent] = untils[node] as number
  }
  return untils
}
