/**
 * A source file in any language while it is read: its syntax tree, each node's scope (where names are valid) and enclosing concept, and
 * what names, expressions and types refer to. A table for each language (`Reader`) says how its grammar expresses these. What is uncertain
 * is null.
 */
import { isUndeclared, MAX_NAME, type Reference, type Relation, type Shape, type Step } from './concept.ts'
import type { ConceptSpan, Draft } from './draft.ts'
import { isComment, NONE, type Node, SyntaxTree } from './grammars.ts'

/** What a name in a scope refers to. The referred expression or type is read only when the name is used. */
export type Meaning =
  | { readonly ref: Reference }
  /** The name refers to a value whose type is given by this syntax node. */
  | { readonly type: Node }
  /**
   * The name refers to the value of the expression at this syntax node. With `step`, it refers to something got from that value, such as an
   * element of the list or the result of a call.
   */
  | { readonly value: Node; readonly step?: Step }
  | { readonly late: (depth: number) => Reference | null }
  /** The name refers to a namespace; the declarations in `scope` are its members. */
  | { readonly scope: Scope }
  /** The name refers to a type parameter. `bound`: syntax node of the type that constrains it, or NONE where there is no constraint. */
  | { readonly bound: Node }
  /** The name is declared in this scope, but what it refers to is unknown. It still hides the same name in outer scopes. */
  | null

/** Prefix in the name table of a scope that marks names of types, so that a type and a value may have the same name. */
export const TYPE = 'type '

/**
 * Largest depth of nested scopes (regions where names are valid). All deeper ones share one scope, so that searches outwards stay short;
 * real code is never nested as deep.
 */
const MAX_SCOPES = 200
/** Largest depth of nesting to which an expression or type is read; deeper parts are taken as unknown. */
export const MAX_DEPTH = 24
/** Largest number of parts of a dotted path that is read; a longer path is taken as unknown. */
export const MAX_PARTS = 24
/**
 * Longest name of a module, in characters; a reference to a longer one is dropped. Each reference repeats the name, so long names would use
 * much space.
 */
const MAX_MODULE = 1_000

/** What `this` (or `self`) refers to in a piece of code. */
export interface Self {
  /** Key of the class whose member contains the code. */
  readonly key: string
  /** Whether `this` is the class itself and not an instance of it, as in a static member. */
  readonly isStatic: boolean
}

export interface Frame {
  /** The syntax node at which the scope begins. */
  readonly node: Node
  /** Prefix of the qualified names of declarations in this scope, such as `outer.Store.`. */
  readonly prefix: string
  readonly isFunction: boolean
  /** Whether the names of this scope cannot be used in scopes within it, as with the body of a Python class. */
  readonly isHidden: boolean
  /** Whether code in this scope cannot use names of outer scopes, as with a Rust module. */
  readonly isIsolated: boolean
  readonly self: Self | null
  /** Simple name of the type whose members are declared in this scope; null where the scope is not that of a type. */
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

  /** What a name refers to, searched in this scope and then outwards; undefined where the file does not declare the name. */
  find(name: string): Meaning | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.frame.isIsolated ? null : scope.outer) {
      const found = scope === this || !scope.frame.isHidden ? scope.own.get(name) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }

  /**
   * Declares a name in this scope (region where the name is valid). If the scope already has the name, the earlier meaning is kept, since a
   * further declaration is an overload or a repetition.
   */
  declare(name: string, meaning: Meaning): void {
    if (!this.own.has(name)) this.own.set(name, meaning)
  }

  /** Declares a name in this scope. A second declaration of the name makes its meaning unknown (null). */
  declareOnce(name: string, meaning: Meaning): void {
    if (name !== '' && name !== '_') this.own.set(name, this.own.has(name) ? null : meaning)
  }

  /** The nearest enclosing scope that is a function's or the file's. */
  get functionScope(): Scope {
    let scope: Scope = this
    while (!scope.frame.isFunction && scope.outer !== null) scope = scope.outer
    return scope
  }
}

export type Visit<F extends CodeFile> = (file: F, node: Node) => void
type Read<F extends CodeFile> = (file: F, node: Node, depth: number) => Reference | null
type Rules = ReadonlyMap<string, Read<CodeFile>>

/** The rules of a language for what expressions and types refer to, by kind of syntax node. A rule gives null where nothing is known. */
export interface Reader {
  /** Rules for nodes that are expressions; they give the referred declaration, or a value of a type. */
  readonly values: Rules
  /** Rules for nodes that are types; they give a value of the type. */
  readonly types: Rules
  /** Rules for nodes that name a type; they give the type itself. */
  readonly symbols: Rules
}

/** Makes a table by kind of syntax node. A key of `table` may hold several kinds, separated by blanks. */
export function byKind<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table).flatMap(([kinds, one]) => words(kinds).map(kind => [kind, one] as const)))
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

/**
 * Makes a language's rules from a table by kind of node. A rule is a function or a text `how field`; `field` selects the child to read
 * (without it, the inner expression). `value`, `type`, `symbol`: read as an expression, type, or type name. `member field name`: a member
 * of the child's value. `call`, `element`, `list`: the result of calling the child's value, its elements, or a list of it. `list-type`,
 * `map-type`, `function-type`: a value that holds, maps to or returns the child's type. `instance`: a value of the type that the node
 * names.
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

/**
 * Makes the rule for nodes that are names: what the name refers to at its place. `unknown` is called where the file does not declare the
 * name.
 */
export function named<F extends CodeFile>(unknown: (file: F, name: string, node: Node) => Reference | null): Read<F> {
  return (file: F, node: Node, depth: number) => {
    const name = file.text(node)
    const meaning = file.scope(node).find(name)
    return meaning === undefined ? unknown(file, name, node) : file.meaning(meaning, depth)
  }
}

interface Binding {
  /**
   * Name of the grammar field (labelled child of a syntax node) that holds the type of the declared names. The type `var` counts as no
   * type.
   */
  readonly type?: string
  /**
   * Name of the grammar field (labelled child of a syntax node) that holds the assigned values: one per declared name, or only one, for the
   * first name.
   */
  readonly value?: string
  /**
   * Name of the grammar field (labelled child of a syntax node) that holds an expression, such as a list, whose elements are assigned to
   * the declared names.
   */
  readonly element?: string
  /** Whether a name that the scope already has keeps its earlier meaning. */
  readonly keeps?: boolean
}

/**
 * Makes a visitor that declares names in the scope of a node. `names` and the options are names of grammar fields (labelled children of the
 * node); a star at the end selects the children of that field. A name declared twice gets an unknown meaning.
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
  /** For each syntax node that declares a concept or a part of it, the concept's key. Several nodes may declare parts of one concept. */
  readonly declared: Map<Node, string> = new Map()
  readonly #reader: Reader
  /** Flags of the nodes that are names in a declaration and therefore are not counted as references. */
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

  /** Calls `visit` for every node of the tree in source order. Throws `Overdue` when reading the file takes too long. */
  eachNode(visit: (node: Node, kind: string) => void): void {
    for (let node = 0; node < this.size; node++) {
      this.draft.step()
      visit(node, this.kind(node))
    }
  }

  /**
   * Calls the visitor that the table has for the kind of each node, in source order. Throws `Overdue` when reading the file takes too long.
   */
  visit(table: ReadonlyMap<string, Visit<this>>): void {
    this.eachNode((node, kind) => table.get(kind)?.(this, node))
  }

  /** Calls the visitor that the table has for the kind of each node, in source order, and gives each node its scope before. */
  declare(table: ReadonlyMap<string, Visit<this>>): void {
    this.eachNode((node, kind) => {
      this.enter(node)
      table.get(kind)?.(this, node)
    })
  }

  /**
   * Gives a node the scope and the owning concept of its parent. Must be called for every node in source order, before a scope is opened at
   * the node.
   */
  enter(node: Node): void {
    const parent = this.parent(node)
    if (parent === NONE) return
    // A scope or owning concept that was already set for this node, while an ancestor was visited, is kept.
    if (this.#scopeOf[node] === 0) this.#scopeOf[node] = this.#scopeOf[parent] as number
    if (this.#ownerOf[node] === 0) this.#ownerOf[node] = this.#ownerOf[parent] as number
  }

  /** The scope (region where names are valid) of the code within a node. For a node without children, this is the scope around it. */
  scope(node: Node): Scope {
    return this.#scopes[this.#scopeOf[node] as number] as Scope
  }

  /** The scope (region where names are valid) around a node, even if the node itself opens a scope. */
  outside(node: Node): Scope {
    return this.scope(Math.max(0, this.parent(node)))
  }

  /** Opens a new scope at a node; it applies to the node's descendants that are visited from now on. */
  openScope(node: Node, change: Partial<Frame> = {}): Scope {
    return this.enterScope(node, this.scope(node).inner(node, change))
  }

  enterScope(node: Node, scope: Scope): Scope {
    this.#scopeOf[node] = this.#scopes.push(scope) - 1
    return scope
  }

  /** Key of the concept to whose source text the node belongs. */
  owner(node: Node): string {
    return this.#owners[this.#ownerOf[node] as number] as string
  }

  /** Key of the concept that encloses the node, which is the owner of its parent; null at the top of the file. */
  ownerAbove(node: Node): string | null {
    const at = this.#ownerOf[Math.max(0, this.parent(node))] as number
    return at === 0 ? null : (this.#owners[at] as string)
  }

  openOwner(node: Node, key: string): void {
    this.#ownerOf[node] = this.#owners.push(key) - 1
  }

  /** Makes the code within the node belong to the concept around the node, even where the node itself declares a concept. */
  closeOwner(node: Node): void {
    this.#ownerOf[node] = this.#ownerOf[Math.max(0, this.parent(node))] as number
  }

  markDeclaring(node: Node): void {
    if (node !== NONE) this.#declaring[node] = 1
  }

  isDeclaring(node: Node): boolean {
    return this.#declaring[node] === 1
  }

  /** Adds a concept, records which concept contains it, and makes it the owner of everything within the node. Returns the concept's key. */
  add(node: Node, concept: Omit<ConceptSpan, 'start' | 'end'>, span: Node = node, isPlaced = true): string {
    const key = this.draft.add({ ...concept, start: this.start(span), end: this.end(span) })
    if (isPlaced) this.draft.place(key, this.ownerAbove(node))
    this.openOwner(node, key)
    return key
  }

  /** Adds a further part, such as an overload or an accessor, to a concept that was added before. */
  extend(node: Node, key: string, span: Node = node): void {
    this.draft.extend(key, this.start(span), this.end(span))
    this.openOwner(node, key)
  }

  /** Reference to the concept that the node declares; null when it declares none. */
  local(node: Node): Reference | null {
    const key = this.declared.get(node)
    return key === undefined ? null : { local: key }
  }

  value(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.values.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /** Reads a node that is a type; gives a reference to a value of this type, or null. */
  type(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.types.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /** Reads a node that names a type; gives a reference to the type itself, or null. */
  symbol(node: Node, depth = 0): Reference | null {
    if (node === NONE || depth > MAX_DEPTH) return null
    return this.#reader.symbols.get(this.kind(node))?.(this, node, depth + 1) ?? null
  }

  /**
   * The declaration that a name refers to at a node: undefined when the file does not declare the name, null when nothing is known of its
   * declaration.
   */
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

  /** Adds facts about a concept that other files can use (base types, members, return type, value); facts already known are kept. */
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

/** The members whose values are known, as an object; unknown ones are left out. */
export function certain(
  members: Iterable<readonly [name: string, value: Reference | null]>,
): Record<string, Reference> {
  return Object.fromEntries([...members].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])))
}

/** Reference to what a module exports by this name; with `name` null, to the module itself. Null when a name is too long. */
export function exported(module: string, name: string | null): Reference | null {
  return module.length > MAX_MODULE || (name ?? '').length > MAX_NAME ? null : { module, name }
}

export function meant(ref: Reference | null): Meaning {
  return ref === null ? null : { ref }
}

/**
 * The reference of a name to a declaration in this or another module; undefined where the name refers to a whole module, a value, or
 * something unknown.
 */
export function symbolIn(meaning: Meaning | undefined): Reference | undefined {
  const ref = meaning !== undefined && meaning !== null && 'ref' in meaning ? meaning.ref : undefined
  return ref === undefined || 'of' in ref || ('module' in ref && ref.name === null) ? undefined : ref
}

/**
 * Key of the concept in this file to which a name's meaning leads; null where the name refers to anything other than a concept of this
 * file.
 */
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

/** Returns the reference, but null where it is only a name that nothing in the file declares. */
export function known(reference: Reference | null): Reference | null {
  return reference === null || isUndeclared(reference) ? null : reference
}

/** Text of the comments directly before a declaration, with no empty line and no code in between. */
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

/**
 * Number of line feeds that may lie between a comment and its declaration. One more is allowed after a documentation comment (`/**`), which
 * may be followed by an empty line.
 */
function allowedFeeds(comment: string): number {
  return comment.startsWith('/**') ? 2 : comment.endsWith('\n') ? 0 : 1
}

/** Whether a comment follows code on its line; it then describes that code and not the next declaration. */
function sharesLine(tree: SyntaxTree, comment: Node): boolean {
  const elder = tree.before(comment)
  if (elder === NONE || tree.text(elder).endsWith('\n')) return false
  return !tree.source.slice(tree.end(elder), tree.start(comment)).includes('\n')
}

/** Text of a comment without slashes, block marks, number signs, and stars at the starts of lines. */
function plainComment(comment: string): string {
  const body = comment.startsWith('/*') ? comment.slice(2).replace(/\*\/$/, '') : comment
  return body
    .split('\n')
    .map(line => line.replace(/^\s*(?:\*+(?!\/) ?|\/\/[/!]* ?|#+!? ?)?/, '').trimEnd())
    .join('\n')
    .trim()
}
