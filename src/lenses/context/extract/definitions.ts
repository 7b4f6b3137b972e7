/**
 * Reads types, functions, constants and imports in the languages that a table of node kinds describes: Go, Rust, Java, C, C++, C#, Ruby and
 * PHP. Calls and names are linked in the languages that have rules of type `Linked`; in the others only a type is linked to those that it
 * extends or implements.
 */
import { must } from '../../../base/assert.ts'
import { CodeFile, docBefore, type Frame, type Reader, type Visit, words } from './code-file.ts'
import type { ConceptType, Language, Reference } from './concept.ts'
import { addCaveats, type Draft } from './draft.ts'
import { isComment, NONE, type Node, type SyntaxTree } from './grammars.ts'

/**
 * What a kind of syntax node represents: the declaration of a concept of the named type (a macro with parameters included), an import, a
 * block with members of a type declared elsewhere, or the list of types that a type extends or implements.
 */
type Role = ConceptType | 'Macro' | 'Import' | 'Implementation' | 'EXTENDS' | 'IMPLEMENTS'
type Roles = ReadonlyMap<string, Role>

/** Makes a table from a text of `kind=role` pairs, separated by blanks. */
function roles(text: string): Roles {
  return new Map(words(text).map(pair => pair.split('=') as [string, Role]))
}

const CPP = roles(`class_specifier=Class struct_specifier=Class union_specifier=Class enum_specifier=Enum
  type_definition=TypeAlias alias_declaration=TypeAlias preproc_def=Constant preproc_function_def=Macro
  function_definition=Function base_class_clause=EXTENDS preproc_include=Import`)

const ROLES: Partial<Record<Language, Roles>> = {
  go: roles(`type_spec=Class type_alias=TypeAlias const_spec=Constant function_declaration=Function
    method_declaration=Function import_spec=Import`),
  rust: roles(`struct_item=Class union_item=Class enum_item=Enum trait_item=Interface type_item=TypeAlias
    const_item=Constant static_item=Constant macro_definition=Macro function_item=Function
    function_signature_item=Function mod_item=Module impl_item=Implementation use_declaration=Import`),
  java: roles(`class_declaration=Class record_declaration=Class interface_declaration=Interface
    annotation_type_declaration=Interface enum_declaration=Enum method_declaration=Function
    constructor_declaration=Function import_declaration=Import`),
  c: CPP,
  cpp: CPP,
  csharp: roles(`class_declaration=Class struct_declaration=Class record_declaration=Class
    interface_declaration=Interface enum_declaration=Enum delegate_declaration=TypeAlias method_declaration=Function
    constructor_declaration=Function local_function_statement=Function base_list=EXTENDS using_directive=Import`),
  ruby: roles(`class=Class module=Class method=Function singleton_method=Function superclass=EXTENDS call=Import`),
  php: roles(`class_declaration=Class trait_declaration=Class interface_declaration=Interface enum_declaration=Enum
    function_definition=Function method_declaration=Function base_clause=EXTENDS class_interface_clause=IMPLEMENTS
    namespace_use_clause=Import require_expression=Import require_once_expression=Import include_expression=Import
    include_once_expression=Import`),
}

/** Rules by which names of a language are linked to declarations in other files. */
export interface Linked extends Reader {
  /** Kinds of syntax nodes at which a new scope begins. */
  readonly scopes: ReadonlySet<string>
  /** Kinds of syntax nodes whose scope cannot use names of outer scopes; separated by blanks. */
  readonly isolated?: string
  /** Visitors by node kind that declare names; called in source order after the scope of the node was opened. */
  readonly declares: ReadonlyMap<string, Visit<DefinitionsFile>>
  /** Visitors by node kind that add references from the concept that contains the node. */
  readonly refers: ReadonlyMap<string, Visit<DefinitionsFile>>
  /** Called after all declarations of the file were visited: records what other files can see of it. */
  share(file: DefinitionsFile): void
}

const MAX_PREFIX = 200

export class DefinitionsFile extends CodeFile {
  readonly roles: Roles
  /** Keys of the types declared in the file, by simple name; of several types with one name, the first. */
  readonly types: Map<string, string> = new Map()
  /** Keys of the methods declared in the file, by `Type.method`. */
  readonly methods: Map<string, string> = new Map()
  /** For Rust: names of the modules that the file declares. */
  readonly modules: Set<string> = new Set()
  readonly #late: (() => void)[] = []

  constructor(draft: Draft, tree: SyntaxTree, linked: Linked | undefined) {
    super(draft, tree, linked)
    this.roles = must(ROLES[draft.language], `the kinds of nodes of ${draft.language}`)
  }

  /**
   * Opens a scope (region where names are valid) at a node, for descendants visited from now on. Where its prefix of qualified names would
   * be too long, that of the outer scope is used.
   */
  open(node: Node, change: Partial<Frame>): void {
    const isLong = (change.prefix ?? '').length > MAX_PREFIX
    this.openScope(node, isLong ? { ...change, prefix: this.scope(node).frame.prefix } : change)
  }

  /** Postpones an action until all declarations of the file are known, since a type may be declared after its use. */
  later(act: () => void): void {
    this.#late.push(act)
  }

  /** Runs the postponed actions; called when all declarations of the file are known. */
  doLater(): void {
    for (const act of this.#late) act()
  }

  /** Records that the file exports a name; when a name is exported twice, what it refers to counts as unknown. */
  export(name: string, target: Reference | null): void {
    const { exports } = this.draft
    if (target === null || exports.has(name)) exports.set(name, { name })
    else exports.set(name, target)
  }

  /**
   * Whether a name refers to a variable. A call through a variable is not linked to a function, since another function may have been
   * assigned.
   */
  isVariable(node: Node): boolean {
    const meaning = this.scope(node).find(this.text(node))
    return meaning !== undefined && meaning !== null && !('ref' in meaning)
  }
}

export function readDefinitions(draft: Draft, tree: SyntaxTree, linked: Linked | undefined): void {
  const file = new DefinitionsFile(draft, tree, linked)
  file.eachNode((node, kind) => {
    file.enter(node)
    if (kind.startsWith(':')) return
    declareNode(file, node, kind)
    if (linked === undefined) return
    if (linked.scopes.has(kind)) {
      const { isFunction } = file.scope(node).frame
      file.openScope(node, { isFunction, isIsolated: kind === linked.isolated })
    }
    linked.declares.get(kind)?.(file, node)
  })
  file.doLater()
  if (linked === undefined) return
  file.visit(linked.refers)
  linked.share(file)
}

function declareNode(file: DefinitionsFile, node: Node, kind: string): void {
  const role = file.roles.get(kind)
  if (role === 'Function' || isPrototype(file, node, kind)) declareFunction(file, node)
  else if (role === 'Constant' || role === 'Macro') declareConstant(file, node, role)
  else if (role === 'Module') declareModule(file, node)
  else if (role === 'Implementation') openImplementation(file, node)
  else if (role === 'Import') importModules(file, node)
  else if (isComment(kind)) addCaveats(file.draft, file.text(node), file.start(node), file.owner(node))
  else if (role !== undefined && role !== 'EXTENDS' && role !== 'IMPLEMENTS') declareType(file, node, role)
}

/**
 * Adds the concept that a node declares. `owner`: name of the type to which the concept belongs, where the declaration itself names it, as
 * in `Type::function`.
 */
function addConcept(
  file: DefinitionsFile,
  node: Node,
  type: ConceptType,
  name: string,
  qualifiedName: string,
  owner: string | null = null,
): string {
  const body = file.child(node, 'body')
  const above = file.parent(node)
  const span = /^(?:type_declaration|template_declaration)$/.test(file.kind(above)) ? above : node
  const signature = file.source.slice(file.start(span), body === NONE ? file.end(node) : file.start(body))
  const isFree = type === 'Method' && file.ownerAbove(node) === null
  const typeName = owner ?? (isFree ? file.scope(node).frame.typeName : null)
  const concept = { type, name, qualifiedName, signature, doc: docBefore(file, span) }
  const key = file.add(node, concept, span, typeName === null)
  file.declared.set(node, key)
  if (typeName !== null) file.later(() => file.draft.place(key, file.types.get(typeName) ?? null))
  return key
}

/** Declares a Rust module, whose content is written in place or in a file of its own. */
function declareModule(file: DefinitionsFile, node: Node): void {
  const name = file.textAt(node, 'name')
  const { prefix } = file.scope(node).frame
  if (name !== '') {
    addConcept(file, node, 'Module', name, prefix + name)
    file.modules.add(name)
    file.open(node, { typeName: null, prefix: `${prefix}${name}.` })
  }
  importModules(file, node)
}

function declareConstant(file: DefinitionsFile, node: Node, role: 'Constant' | 'Macro'): void {
  const name = file.textAt(node, 'name')
  // A macro without a value, such as `#define X_H`, only guards a header against double inclusion and is not a constant.
  const isGuard = file.kind(node) === 'preproc_def' && file.child(node, 'value') === NONE
  const { prefix, isFunction } = file.scope(node).frame
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || name === '_' || isGuard || isFunction) return
  addConcept(file, node, role === 'Macro' ? 'Function' : role, name, prefix + name)
}

/** Adds a function or method. All overloads of a method form one concept, and so do a declaration and its definition. */
function declareFunction(file: DefinitionsFile, node: Node): void {
  const declared = declaredName(file, node)
  if (declared === null || declared.name === '') return
  const { frame } = file.scope(node)
  const typeName = frame.isFunction ? null : (declared.owner ?? frame.typeName)
  const name = typeName === null ? declared.name : `${typeName}.${declared.name}`
  const known = typeName === null ? undefined : file.methods.get(name)
  if (known !== undefined) {
    file.extend(node, known)
    file.declared.set(node, known)
  } else {
    const prefix = declared.owner === null ? frame.prefix : `${declared.owner}.`
    const type = typeName === null ? 'Function' : 'Method'
    const key = addConcept(file, node, type, name, prefix + declared.name, declared.owner)
    if (typeName !== null) file.methods.set(name, key)
  }
  file.open(node, {
    typeName: typeName ?? frame.typeName,
    prefix: `${frame.prefix}${declared.name}.`,
    isFunction: true,
  })
}

/** Whether a node declares a function without a body, as in headers of C and C++. */
function isPrototype(file: DefinitionsFile, node: Node, kind: string): boolean {
  if ((kind !== 'field_declaration' && kind !== 'declaration') || file.scope(node).frame.isFunction) return false
  let declarator = file.child(node, 'declarator')
  while (/^(?:pointer|reference)_declarator$/.test(file.kind(declarator))) declarator = file.inside(declarator)
  return /^c(?:pp)?$/.test(file.draft.language) && file.kind(declarator) === 'function_declarator'
}

/** Adds a type. `usual`: the type of concept that this kind of node usually declares in the language. */
function declareType(file: DefinitionsFile, node: Node, usual: ConceptType): void {
  const inner = file.child(node, 'type')
  const isTypedef = file.kind(node) === 'type_definition'
  const name = isTypedef ? typedefName(file, node) : file.textAt(node, 'name')
  const isUse = file.kind(node).endsWith('_specifier') && file.child(node, 'body') === NONE
  if (name === '' || isUse || (isTypedef && name === file.textAt(inner, 'name'))) return
  const { prefix } = file.scope(node).frame
  const type =
    file.draft.language === 'go' ? goType(file.kind(inner), usual) : isTypedef ? typedefType(file, inner) : usual
  const simple = name.replace(/.*::/, '')
  const key = addConcept(file, node, type, simple, prefix + simple)
  if (!file.types.has(simple)) file.types.set(simple, key)
  if (isTypedef && type === 'TypeAlias') {
    // What is declared within the struct of a typedef belongs to the concept around the typedef, and not to the alias that the typedef
    // declares.
    file.closeOwner(node)
    return
  }
  file.open(node, { typeName: simple, prefix: `${prefix}${simple}.` })
  for (const part of file.children(node)) readBases(file, part, key)
}

/** Opens the scope of a Rust `impl Trait for Type { … }`, whose members belong to `Type`. */
function openImplementation(file: DefinitionsFile, node: Node): void {
  const name = file.textAt(node, 'type').replace(/<.*$/s, '')
  file.open(node, { typeName: name, prefix: `${name}.` })
}

const NAMES = /^(?:type_identifier|identifier|constant|name|qualified_identifier|generic_type|generic_name)$/

function readBases(file: DefinitionsFile, part: Node, key: string): void {
  const relation = file.roles.get(file.kind(part))
  if (relation !== 'EXTENDS' && relation !== 'IMPLEMENTS') return
  for (let node = part + 1; node < file.until(part); ) {
    const kind = file.kind(node)
    if (NAMES.test(kind)) {
      const plain = file.text(node).replace(/<.*$/s, '')
      const name = plain.replace(/.*(?:::|\.|\\)/, '')
      file.later(() => buildOn(file, key, relation, name))
    }
    // Skips names within a qualified name, and type arguments, because these are not base types.
    node = /^(?:type_list|superclass)$/.test(kind) ? node + 1 : file.until(node)
  }
}

function buildOn(file: DefinitionsFile, key: string, relation: 'EXTENDS' | 'IMPLEMENTS', name: string): void {
  const target = file.types.get(name)
  // C# lists the base class and the interfaces together, so a name that the file does not declare counts as an interface when it begins
  // with `I` and another capital.
  const isInterface = target === undefined ? /^I[A-Z]/.test(name) : target.startsWith('Interface ')
  const isImplemented = file.draft.language === 'csharp' && isInterface && !key.startsWith('Interface ')
  file.draft.refer(key, isImplemented ? 'IMPLEMENTS' : relation, target === undefined ? { name } : { local: target })
}

/** The name that a typedef declares, which is its last one: `Point` in `typedef struct {…} Point`, `F` in `typedef int (*F)(int)`. */
function typedefName(file: CodeFile, node: Node): string {
  const declarator = file.child(node, 'declarator')
  for (let at = declarator; at !== NONE && at < file.until(declarator); at++) {
    if (file.kind(at) === 'type_identifier') return file.text(at)
  }
  return ''
}

/**
 * Type of the concept that a typedef declares. A struct or enum without a name of its own becomes a class or enum with the name of the
 * typedef; otherwise the typedef is an alias.
 */
function typedefType(file: CodeFile, inner: Node): ConceptType {
  if (file.child(inner, 'body') === NONE || file.child(inner, 'name') !== NONE) return 'TypeAlias'
  return file.kind(inner) === 'enum_specifier' ? 'Enum' : 'Class'
}

function goType(kind: string, usual: ConceptType): ConceptType {
  if (kind === 'interface_type') return 'Interface'
  return kind === 'struct_type' ? 'Class' : usual === 'Class' ? 'TypeAlias' : usual
}

interface DeclaredName {
  readonly name: string
  /** Name of the type to which the declared function belongs, where the declaration names it, as in `Type::function`. */
  readonly owner: string | null
}

const MAX_DECLARATORS = 12

function declaredName(file: DefinitionsFile, node: Node): DeclaredName | null {
  const name = file.child(node, 'name')
  if (file.draft.language === 'go' && file.kind(node) === 'method_declaration') {
    const receiver = file.textAt(node, 'receiver')
    return {
      name: file.text(name),
      owner: /([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$/.exec(receiver)?.[1] ?? null,
    }
  }
  if (name !== NONE) return { name: file.text(name), owner: null }
  let declarator = file.child(node, 'declarator')
  for (let step = 0; declarator !== NONE && step < MAX_DECLARATORS; step++) {
    const kind = file.kind(declarator)
    if (/^(?:identifier|field_identifier|destructor_name|operator_name)$/.test(kind)) {
      return { name: file.text(declarator), owner: null }
    }
    if (kind === 'qualified_identifier') {
      const plain = file.text(declarator).replace(/\s|<[^<>]*>/g, '')
      const [owner = null, member = ''] = plain.split('::').slice(-2)
      return { name: member, owner }
    }
    const inner = file.child(declarator, 'declarator')
    declarator = inner === NONE ? (file.parts(declarator)[0] ?? NONE) : inner
  }
  return null
}

const INCLUDE = [[/#\s*include\s*(<[^>]+>|"[^"]+")/, '']] as const
/**
 * For each language, patterns that capture the module's name in an import, each with the prefix that `resolve/modules.ts` expects before
 * the name.
 */
const IMPORTED: Partial<Record<Language, readonly (readonly [pattern: RegExp, front: string])[]>> = {
  go: [[/["`]([^"`]+)["`]/, '']],
  java: [[/^import\s+(?:static\s+)?([\w.]+?)(?:\.[A-Z]\w*(?:\.\w+)*)?(?:\.\*)?\s*;/, '']],
  csharp: [[/^(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;/, '']],
  c: INCLUDE,
  cpp: INCLUDE,
  rust: [
    [/^(?:pub(?:\s*\([^)]*\))?\s+)?mod\s+(\w+)\s*;/, './'],
    [/^(?:pub(?:\s*\([^)]*\))?\s+)?use\s+(?:::)?(?!(?:crate|self|super)\b)(\w+)/, ''],
  ],
  ruby: [
    [/^require\s*\(?\s*["']([^"'#]+)["']/, ''],
    [/^require_relative\s*\(?\s*["']([^"'#]+)["']/, './'],
  ],
  php: [
    [/^(?:require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*)?["']\/?([^"'$]+)["']/, './'],
    [/^\\?(\w+)\\/, ''],
  ],
}

function importModules(file: DefinitionsFile, node: Node): void {
  const { draft } = file
  const text = file.text(node).slice(0, 500)
  for (const [pattern, front] of IMPORTED[file.draft.language] ?? []) {
    const name = pattern.exec(text)?.[1]
    if (name === undefined) continue
    const module = front + name
    // `use tools::*` where the file itself declares the module `tools` does not refer to another crate.
    file.later(() => {
      if (!file.modules.has(module)) draft.refer(draft.fileKey, 'DEPENDS_ON', { module, name: null })
    })
  }
}
