/**
 * A source file while it is read, in any language: its tree, the scope and the enclosing concept of every node, and what
 * names, expressions and types in it stand for. How a grammar writes these is a table of each language (`Reader`). What is
 * not certain is null.
 */
import { isUndeclared, MAX_NAME, type Reference, type Relation, type Shape, type Step } from './concept.ts'
import type { ConceptSpan, Draft } from './draft.ts'
import { isComment, NONE, type Node, SyntaxTree } from './grammars.ts'

/** What a name stands for. Expressions and types are read only when the name is used. */
export type Meaning =
  | { readonly ref: Reference }
  /** A value of the type written there. */
  | { readonly type: Node }
  /** The value of the expression, or an element of it. */
  | { readonly value: Node; readonly step?: Step }
  | { readonly late: (depth: number) => Reference | null }
  /** A namespace: what is declared in it is a part of it. */
  | { readonly scope: Scope }
  /** A type parameter, by its constraint or NONE. */
  | { readonly bound: Node }
  /** Declared, but nothing is known of it: it hides what is outside. */
  | null

/** In front of names of types: they are other names than those of values. */
export const TYPE = 'type '

/** Scopes within scopes beyond this share one: no code is nested so deep, and a search up the scopes stays short. */
const MAX_SCOPES = 200
/** An expression or a type nested deeper says nothing. */
export const MAX_DEPTH = 24
/** A path with more parts says nothing. */
export const MAX_PARTS = 24
/** Characters of the name of a module. A file may repeat what it names in each reference, so no name may be long. */
const MAX_MODULE = 1_000

/** What `this` is. */
export interface Self {
  /** Key of the class. */
  readonly key: string
  /** In a static member `this` is the class itself. */
  readonly isStatic: boolean
}

export interface Frame {
  /** That the scope was opened at. */
  readonly node: Node
  /** In front of the qualified names of what is declared here. */
  readonly prefix: string
  readonly isFunction: boolean
  /** Its names are not seen from the scopes within it: the body of a class in Python. */
  readonly isHidden: boolean
  /** It does not see what is around it: a module of Rust. */
  readonly isIsolated: boolean
  readonly self: Self | null
  /** Simple name of the type whose members are declared here. */
  readonly typeName: string | null
}

const LOCAL = { isFunction: false, isHidden: false, isIsolated: false }
const OUTERMOST: Frame = { node: NONE, prefix: '', ...LOCAL, self: null, typeName: null }

export class Scope {
  readonly outer: Scope | null
  readonly frame: Frame
  readonly own: Map<string, Meaning> = new Map()
  readonly #depth: number

  constructor(outer: Scope | null = null, frame: Frame = OUTERMOST) {
    this.outer = outer
    this.frame = frame
    this.#depth = outer === null ? 0 : outer.#depth + 1
  }

  inner(node: Node, change: Partial<Frame>): Scope {
    return this.#depth >= MAX_SCOPES ? this : new Scope(this, { ...this.frame, ...LOCAL, ...change, node })
  }

  /** Undefined: no such name in the file. */
  find(name: string): Meaning | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.frame.isIsolated ? null : scope.outer) {
      const found = scope === this || !scope.frame.isHidden ? scope.own.get(name) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The first declaration of a name stays: what follows are overloads, or the same thing again. */
  declare(name: string, meaning: Meaning): void {
    if (!this.own.has(name)) this.own.set(name, meaning)
  }

  /** Declared twice, it is not certain which one is meant. */
  declareOnce(name: string, meaning: Meaning): void {
    if (name !== '' && name !== '_') this.own.set(name, this.own.has(name) ? null : meaning)
  }

  /** Of the function around, or the file. */
  get functionScope(): Scope {
    let scope: Scope = this
    while (!scope.frame.isFunction && scope.outer !== null) scope = scope.outer
    return scope
  }
}

export type Visit<F extends CodeFile> = (file: F, node: Node) => void
type Read<F extends CodeFile> = (file: F, node: Node, depth: number) => Reference | null
type Rules = ReadonlyMap<string, Read<CodeFile>>

/** What nodes stand for, by kind. Null: nothing known. */
export interface Reader {
  /** Of an expression: a symbol, or a value of a type. */
  readonly values: Rules
  /** Of a type: a value of it. */
  readonly types: Rules
  /** For a node that names a type: the type itself. */
  readonly symbols: Rules
}

/** A table by kind of node, several kinds with blanks between them. */
export function byKind<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table).flatMap(([kinds, one]) => words(kinds).map(kind => [kind, one] as const)))
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

/**
 * A rule is a function, or `how field`, without a field for what is inside: `value`, `type` and `symbol` of that child;
 * `member field name`, the member of its value; `call`, `element` and `list` of its value; `list-type`, `map-type` and
 * `function-type` of its type. `instance`: a value of the type that the node itself names.
 */
export function rules<F extends CodeFile>(table: Readonly<Record<string, string | Read<F>>>): Rules {
  const made = [...byKind(table)].map(([kind, rule]) => [kind, typeof rule === 'string' ? ruleOf(rule) : rule] as const)
  return new Map(made) as unknown as Rules
}

function ruleOf(rule: string): Read<CodeFile> {
  const [how = '', field, name = ''] = rule.split(' ')
  const [first = '', isOfType] = how.split('-')
  if (first === 'instance') return (file: CodeFile, node: Node, depth: number) => instance(file.symbol(node, depth))
  return (file: CodeFile, node: Node, depth: number) => {
    const at = field === undefined ? file.inside(node) : file.child(node, field)
    if (first === 'symbol') return file.symbol(at, depth)
    const found = first === 'type' || isOfType !== undefined ? file.type(at, depth) : file.value(at, depth)
    if (first === 'member') return member(found, file.textAt(node, name))
    return first === 'value' || first === 'type' ? found : step(found, first as Step)
  }
}

/** What a name stands for where it is written; `unknown`: where the file does not declare it. */
export function named<F extends CodeFile>(unknown: (file: F, name: string, node: Node) => Reference | null): Read<F> {
  return (file: F, node: Node, depth: number) => {
    const name = file.text(node)
    const meaning = file.scope(node).find(name)
    return meaning === undefined ? unknown(file, name, node) : file.meaning(meaning, depth)
  }
}

interface Binding {
  /** The type of the names; `var` is none. */
  readonly type?: string
  /** One value for each name, or one for the first. */
  readonly value?: string
  /** What holds a value of each name. */
  readonly element?: string
  /** A name that the scope has already keeps its meaning. */
  readonly keeps?: boolean
}

/**
 * Declares names in the scope of the node. Each text is a field, as `SyntaxTree.all` reads it. Declared twice, it is not
 * certain what a name means.
 */
export function binds(
  names: string,
  { type = '', value = '', element = '', keeps = false }: Binding = {},
): Visit<CodeFile> {
  return (file: CodeFile, node: Node) => {
    const leaves = file.all(node, names)
    const written = file.child(node, type)
    const values = file.all(node, value)
    for (const [at, leaf] of leaves.entries()) {
      if (keeps && file.scope(node).own.has(file.text(leaf))) continue
      const own = values.length === leaves.length ? values[at] : at === 0 ? values[0] : undefined
      const given: Meaning = own === undefined ? null : { value: own }
      const held: Meaning = element === '' ? given : { value: file.child(node, element), step: 'element' }
      const isTyped = written !== NONE && file.text(written) !== 'var'
      file.scope(node).declareOnce(file.text(leaf), isTyped ? { type: written } : held)
    }
  }
}

const NOTHING_READ: Reader = { values: new Map(), types: new Map(), symbols: new Map() }

export class CodeFile extends SyntaxTree {
  readonly draft: Draft
  readonly top: Scope = new Scope()
  /** Declaration -> key of its concept; parts of one concept share it. */
  readonly declared: Map<Node, string> = new Map()
  readonly #reader: Reader
  /** Names that declare, and so do not refer. */
  readonly #declaring: Uint8Array
  readonly #scopeOf: Int32Array
  readonly #scopes: Scope[] = [this.top]
  readonly #ownerOf: Int32Array
  readonly #owners: string[]

  constructor(draft: Draft, tree: SyntaxTree, reader: Reader = NOTHING_READ) {
    super(tree.parsed)
    this.draft = draft
    this.#reader = reader
    this.#declaring = new Uint8Array(tree.size)
    this.#scopeOf = new Int32Array(tree.size)
    this.#ownerOf = new Int32Array(tree.size)
    this.#owners = [draft.fileKey]
  }

  /** In source order. Throws `Overdue`. */
  eachNode(visit: (node: Node, kind: string) => void): void {
    for (let node = 0; node < this.size; node++) {
      this.draft.step()
      visit(node, this.kind(node))
    }
  }

  /** Calls what the table has for each node, in source order. Throws `Overdue`. */
  visit(table: ReadonlyMap<string, Visit<this>>): void {
    this.eachNode((node, kind) => table.get(kind)?.(this, node))
  }

  /** As `visit`, with the scopes that are opened on the way. */
  declare(table: ReadonlyMap<string, Visit<this>>): void {
    this.eachNode((node, kind) => {
      this.enter(node)
      table.get(kind)?.(this, node)
    })
  }

  /** To be called for every node in source order, before anything is opened at it. */
  enter(node: Node): void {
    const parent = this.parent(node)
    if (parent === NONE) return
    // What was opened ahead for this node stays.
    if (this.#scopeOf[node] === 0) this.#scopeOf[node] = this.#scopeOf[parent] as number
    if (this.#ownerOf[node] === 0) this.#ownerOf[node] = this.#ownerOf[parent] as number
  }

  /** The scope within the node; of a leaf, the one it is in. */
  scope(node: Node): Scope {
    return this.#scopes[this.#scopeOf[node] as number] as Scope
  }

  /** The scope around the node. */
  outside(node: Node): Scope {
    return this.scope(Math.max(0, this.parent(node)))
  }

  /** From here on, within the node. */
  openScope(node: Node, change: Partial<Frame> = {}): Scope {
    return this.enterScope(node, this.scope(node).inner(node, change))
  }

  enterScope(node: Node, scope: Scope): Scope {
    this.#scopeOf[node] = this.#scopes.push(scope) - 1
    return scope
  }

  /** Key of the concept that the node is part of. */
  owner(node: Node): string {
    return this.#owners[this.#ownerOf[node] as number] as string
  }

  /** Key of the concept that the node is in, null at the top of the file. */
  ownerAbove(node: Node): string | null {
    const at = this.#ownerOf[Math.max(0, this.parent(node))] as number
    return at === 0 ? null : (this.#owners[at] as string)
  }

  openOwner(node: Node, key: string): void {
    this.#ownerOf[node] = this.#owners.push(key) - 1
  }

  /** What is within the node belongs to what the node is in. */
  closeOwner(node: Node): void {
    this.#ownerOf[node] = this.#ownerOf[Math.max(0, this.parent(node))] as number
  }

  markDeclaring(node: Node): void {
    if (node !== NONE) this.#declaring[node] = 1
  }

  isDeclaring(node: Node): boolean {
    return this.#declaring[node] === 1
  }

  /** Adds the concept, places it, and makes it the owner of all within the node. Returns its key. */
  add(node: Node, concept: Omit<ConceptSpan, 'start' | 'end'>, span: Node = node, isPlaced = true): string {
    const key = this.draft.add({ ...concept, start: this.start(span), end: this.end(span) })
    if (isPlaced) this.draft.place(key, this.ownerAbove(node))
    this.openOwner(node, key)
    return key
  }

  /** A further part of what is known: an overload, an accessor. */
  extend(node: Node, key: string, span: Node = node): void {
    this.draft.extend(key, this.start(span), this.end(span))
    this.openOwner(node, key)
  }

  /** The concept that the node declares. */
  local(node: Node): Reference | null {
    const key = this.declared.get(node)
    return key === undefined ? null : { local: key }
  }

  value(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.values.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /** A value of the type. */
  type(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.types.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /** The type itself. */
  symbol(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.symbols.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /** What the name is declared as where the node is: undefined when it is not, null when nothing is known of it. */
  declaredAs(node: Node, name: string): Reference | null | undefined {
    const meaning = this.scope(node).find(name)
    return meaning === undefined ? undefined : meaning !== null && 'ref' in meaning ? meaning.ref : null
  }

  meaning(meaning: Meaning, depth = 0): Reference | null {
    if (meaning === null || depth > MAX_DEPTH) return null
    if ('ref' in meaning) return meaning.ref
    if ('type' in meaning) return this.type(meaning.type, depth + 1)
    if ('late' in meaning) return meaning.late(depth + 1)
    if (!('value' in meaning)) return null
    const value = this.value(meaning.value, depth + 1)
    return meaning.step === undefined ? value : step(value, meaning.step)
  }

  refer(node: Node, relation: Relation, target: Reference | null): void {
    if (target !== null) this.draft.refer(this.owner(node), relation, target)
  }

  /** Adds to what other files see of the concept; what is known already stays. */
  shape(key: string, more: Shape): void {
    const known = this.draft.shapes.get(key)
    const members = { ...more.members, ...known?.members }
    const bases = [...(known?.bases ?? []), ...(more.bases ?? [])]
    const merged = {
      ...more,
      ...known,
      ...(Object.keys(members).length > 0 ? { members } : {}),
      ...(bases.length > 0 ? { bases } : {}),
    }
    if (Object.keys(merged).length > 0) this.draft.shapes.set(key, merged)
  }
}

/** Members of which something is known. */
export function certain(
  members: Iterable<readonly [name: string, value: Reference | null]>,
): Record<string, Reference> {
  return Object.fromEntries([...members].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])))
}

/** What a module exports by the name; null: the module itself. */
export function exported(module: string, name: string | null): Reference | null {
  return module.length > MAX_MODULE || (name ?? '').length > MAX_NAME ? null : { module, name }
}

export function meant(ref: Reference | null): Meaning {
  return ref === null ? null : { ref }
}

/** Of a declaration, here or in another module; undefined for modules, values and names of which nothing is known. */
export function symbolIn(meaning: Meaning | undefined): Reference | undefined {
  const ref = meaning !== undefined && meaning !== null && 'ref' in meaning ? meaning.ref : undefined
  return ref === undefined || 'of' in ref || ('module' in ref && ref.name === null) ? undefined : ref
}

/** Key of the concept of this file that is meant. */
export function localKey(meaning: Meaning | undefined): string | null {
  const ref = symbolIn(meaning)
  return ref !== undefined && 'local' in ref ? ref.local : null
}

export function member(of: Reference | null, name: string): Reference | null {
  return of === null || isUndeclared(of) || name === '' || name.length > MAX_NAME ? null : { of, member: name }
}

export function step(of: Reference | null, how: Step): Reference | null {
  return of === null || isUndeclared(of) ? null : { of, step: how }
}

export function instance(of: Reference | null): Reference | null {
  return step(of, 'instance')
}

/** Null for what nothing in the file declares. */
export function known(reference: Reference | null): Reference | null {
  return reference === null || isUndeclared(reference) ? null : reference
}

/** What the comments right in front of the declaration say: those with no empty line and no code between. */
export function docBefore(tree: SyntaxTree, declaration: Node): string {
  const parts: string[] = []
  let below = declaration
  for (let at = tree.before(declaration); at !== NONE && isComment(tree.kind(at)); at = tree.before(at)) {
    const between = tree.source.slice(tree.end(at), tree.start(below))
    const feeds = between.split('\n').length - 1
    if (between.trim() !== '' || feeds > allowedFeeds(tree.text(at)) || sharesLine(tree, at)) break
    parts.unshift(plainComment(tree.text(at)))
    below = at
    if (parts.length === 40) break
  }
  return parts.join('\n').trim()
}

/** A comment made for documentation may have an empty line behind it. */
function allowedFeeds(comment: string): number {
  return comment.startsWith('/**') ? 2 : comment.endsWith('\n') ? 0 : 1
}

/** A comment behind code on its line speaks of that code. */
function sharesLine(tree: SyntaxTree, comment: Node): boolean {
  const elder = tree.before(comment)
  if (elder === NONE || tree.text(elder).endsWith('\n')) return false
  return !tree.source.slice(tree.end(elder), tree.start(comment)).includes('\n')
}

/** Without slashes, block marks, number signs and the stars in front of its lines. */
function plainComment(comment: string): string {
  const body = comment.startsWith('/*') ? comment.slice(2).replace(/\*\/$/, '') : comment
  return body
    .split('\n')
    .map(line => line.replace(/^\s*(?:\*+(?!\/) ?|\/\/[/!]* ?|#+!? ?)?/, '').trimEnd())
    .join('\n')
    .trim()
}
