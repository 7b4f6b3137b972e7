/**
 * Reads the languages of which definitions, containment, calls within the file and imports are told. Names are resolved in
 * the file alone: what a name means elsewhere takes each language's own rules.
 */
import { addCaveats, docBefore, isComment } from '../comments.ts'
import type { ConceptType, Language, Reference } from '../concept.ts'
import type { Draft } from '../draft.ts'
import { SourceFile } from '../source-file.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'
import { type Dialect, dialectOf } from './dialects.ts'
import { calledName, declaredName, importedModules } from './names.ts'

/** The type that a node stands in. */
interface Within {
  readonly typeName: string | null
  readonly prefix: string
  /** Within a function: what is declared here is no method. */
  readonly isFunction: boolean
  /** What the object itself is called, where the language lets the method choose. */
  readonly selfName?: string | null
}

const OUTSIDE: Within = { typeName: null, prefix: '', isFunction: false }
const MAX_PREFIX = 200

export function readDefinitions(draft: Draft, tree: SyntaxTree, language: Language): void {
  new DefinitionReader(draft, tree, language).read()
}

class DefinitionReader {
  readonly #file: SourceFile<Within>
  readonly #dialect: Dialect
  readonly #language: Language
  readonly #types = new Map<string, string>()
  readonly #functions = new Map<string, string>()
  /** `Type.method` -> key */
  readonly #methods = new Map<string, string>()
  readonly #late: (() => void)[] = []

  constructor(draft: Draft, tree: SyntaxTree, language: Language) {
    this.#file = new SourceFile(draft, tree, OUTSIDE)
    this.#dialect = dialectOf(language)
    this.#language = language
  }

  read(): void {
    const { tree, draft } = this.#file
    for (let node = 0; node < tree.size; node++) {
      draft.step()
      this.#file.enter(node)
      const kind = tree.kind(node)
      if (!kind.startsWith(':')) this.#declare(node, kind)
    }
    for (let node = 0; node < tree.size; node++) {
      draft.step()
      const field = own(this.#dialect.calls, tree.kind(node))
      if (field !== undefined) this.#call(node, field)
    }
    for (const act of this.#late) act()
    for (const [name, key] of [...this.#types, ...this.#functions]) draft.exports.set(name, { local: key })
  }

  #declare(node: Node, kind: string): void {
    const { tree, draft } = this.#file
    const type = own(this.#dialect.types, kind)
    if (type !== undefined) this.#declareType(node, type)
    else if (this.#dialect.functions.has(kind) || this.#isPrototype(node, kind)) this.#declareFunction(node)
    else if (own(this.#dialect.constants, kind) !== undefined) this.#declareConstant(node, kind)
    else if (kind === 'impl_item') this.#openImplementation(node)
    else if (isComment(kind)) addCaveats(draft, this.#file.text(node), tree.start(node), this.#file.owner(node))
    if (!this.#dialect.imports.has(kind)) return
    for (const module of importedModules(tree, node, this.#language)) {
      draft.refer(draft.fileKey, 'DEPENDS_ON', { module, name: null })
    }
  }

  /** C and C++ declare in headers what is defined elsewhere. */
  #isPrototype(node: Node, kind: string): boolean {
    if ((kind !== 'field_declaration' && kind !== 'declaration') || this.#file.scope(node).isFunction) return false
    const { tree } = this.#file
    let declarator = tree.child(node, 'declarator')
    while (/^(?:pointer|reference)_declarator$/.test(tree.kind(declarator))) declarator = this.#file.inside(declarator)
    return /^c(?:pp)?$/.test(this.#language) && tree.kind(declarator) === 'function_declarator'
  }

  #declareType(node: Node, usual: ConceptType): void {
    const { tree } = this.#file
    const inner = tree.child(node, 'type')
    const isTypedef = tree.kind(node) === 'type_definition'
    const name = isTypedef ? typedefName(tree, node) : this.#file.text(tree.child(node, 'name'))
    const isUse = tree.kind(node).endsWith('_specifier') && tree.child(node, 'body') === NONE
    if (name === '' || isUse || (isTypedef && name === this.#file.text(tree.child(inner, 'name')))) return
    const within = this.#file.scope(node)
    const type =
      this.#language === 'go' ? goType(tree.kind(inner), usual) : isTypedef ? typedefType(tree, inner) : usual
    const simple = name.replace(/.*::/, '')
    const key = this.#add(node, type, simple, within.prefix + simple)
    if (!this.#types.has(simple)) this.#types.set(simple, key)
    if (isTypedef && type === 'TypeAlias') {
      // The struct that gets a second name is no part of that name.
      this.#file.closeOwner(node)
      return
    }
    this.#open(node, { typeName: simple, prefix: `${within.prefix}${simple}.`, isFunction: false })
    for (const part of tree.children(node)) this.#readBases(part, key)
  }

  #declareConstant(node: Node, kind: string): void {
    const { tree } = this.#file
    const name = this.#file.text(tree.child(node, 'name'))
    // What is defined as nothing only guards a header.
    const isGuard = kind === 'preproc_def' && tree.child(node, 'value') === NONE
    const within = this.#file.scope(node)
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || name === '_' || isGuard || within.isFunction) return
    const key = this.#add(node, own(this.#dialect.constants, kind) as ConceptType, name, within.prefix + name)
    if (key.startsWith('Function ') && !this.#functions.has(name)) this.#functions.set(name, key)
  }

  #readBases(part: Node, key: string): void {
    const { tree } = this.#file
    const relation = own(this.#dialect.bases, tree.kind(part))
    if (relation === undefined) return
    for (let node = part + 1; node < tree.until(part); node = this.#nextBase(node)) {
      if (
        !/^(?:type_identifier|identifier|constant|name|qualified_identifier|generic_type|generic_name)$/.test(
          tree.kind(node),
        )
      )
        continue
      const name = this.#file
        .text(node)
        .replace(/<.*$/s, '')
        .replace(/.*(?:::|\.|\\)/, '')
      this.#late.push(() => this.#build(key, relation, name))
    }
  }

  /** Names within a name, and arguments of a type, are no bases. */
  #nextBase(node: Node): Node {
    const kind = this.#file.tree.kind(node)
    return /^(?:type_list|superclass)$/.test(kind) ? node + 1 : this.#file.tree.until(node)
  }

  #build(key: string, relation: 'EXTENDS' | 'IMPLEMENTS', name: string): void {
    const target = this.#types.get(name)
    // The grammar of C# has one list for both.
    const isInterface = target === undefined ? /^I[A-Z]/.test(name) : target.startsWith('Interface ')
    const isOne = this.#language === 'csharp' && isInterface && !key.startsWith('Interface ')
    this.#file.draft.refer(key, isOne ? 'IMPLEMENTS' : relation, target === undefined ? { name } : { local: target })
  }

  #openImplementation(node: Node): void {
    const { tree } = this.#file
    const name = this.#file.text(tree.child(node, 'type')).replace(/<.*$/s, '')
    this.#open(node, { typeName: name, prefix: `${name}.`, isFunction: false })
    const trait = this.#file.text(tree.child(node, 'trait')).replace(/<.*$/s, '').replace(/.*::/, '')
    if (trait === '') return
    this.#late.push(() => {
      const key = this.#types.get(name)
      if (key !== undefined) this.#build(key, 'IMPLEMENTS', trait)
    })
  }

  #declareFunction(node: Node): void {
    const { tree } = this.#file
    const declared = declaredName(tree, node, this.#language)
    if (declared === null || declared.name === '') return
    const within = this.#file.scope(node)
    const typeName = within.isFunction ? null : (declared.owner ?? within.typeName)
    const name = typeName === null ? declared.name : `${typeName}.${declared.name}`
    const known = typeName === null ? undefined : this.#methods.get(name)
    if (known !== undefined) {
      // Overloads, or the declaration and the definition.
      this.#file.draft.extend(known, tree.start(node), tree.end(node))
      this.#file.openOwner(node, known)
    } else {
      const prefix = declared.owner === null ? within.prefix : `${declared.owner}.`
      const type = typeName === null ? 'Function' : 'Method'
      const key = this.#add(node, type, name, prefix + declared.name, declared.owner)
      if (typeName !== null) this.#methods.set(name, key)
      else if (!this.#functions.has(name)) this.#functions.set(name, key)
    }
    const prefix = `${within.prefix}${declared.name}.`
    this.#open(node, {
      typeName: typeName ?? within.typeName,
      prefix,
      isFunction: true,
      selfName: declared.selfName ?? within.selfName ?? null,
    })
  }

  #add(node: Node, type: ConceptType, name: string, qualifiedName: string, owner: string | null = null): string {
    const { tree, draft } = this.#file
    const body = tree.child(node, 'body')
    const above = tree.parent(node)
    const span = /^(?:type_declaration|template_declaration)$/.test(tree.kind(above)) ? above : node
    const key = draft.add({
      type,
      name,
      qualifiedName,
      start: tree.start(span),
      end: tree.end(span),
      signature: tree.text.slice(tree.start(span), body === NONE ? tree.end(node) : tree.start(body)),
      doc: docBefore(tree, span),
    })
    const outer = this.#file.ownerAbove(node)
    const scopeType = owner ?? (type === 'Method' && outer === null ? this.#file.scope(node).typeName : null)
    this.#file.openOwner(node, key)
    if (scopeType === null) draft.place(key, outer)
    else this.#late.push(() => draft.place(key, this.#types.get(scopeType) ?? null))
    return key
  }

  #open(node: Node, within: Within): void {
    this.#file.openScope(
      node,
      within.prefix.length > MAX_PREFIX ? { ...within, prefix: this.#file.scope(node).prefix } : within,
    )
  }

  #call(node: Node, field: string): void {
    const called = calledName(this.#file.tree, node, field)
    if (called === null) return
    const { typeName, selfName } = this.#file.scope(node)
    const isSelf = called.receiver !== null && called.receiver === selfName
    const target = this.#targetOf(called.name, isSelf ? 'self' : called.receiver, typeName)
    if (target !== null) this.#file.draft.refer(this.#file.owner(node), 'CALLS', target)
  }

  #targetOf(name: string, receiver: string | null, typeName: string | null): Reference | null {
    if (receiver !== null) {
      const type = receiver === 'self' ? typeName : receiver.replace(/.*\./, '')
      const key = type === null ? undefined : this.#methods.get(`${type}.${name}`)
      return key === undefined ? null : { local: key }
    }
    const hasImplicitSelf = !/^(?:go|rust|php)$/.test(this.#language)
    const method = typeName === null || !hasImplicitSelf ? undefined : this.#methods.get(`${typeName}.${name}`)
    const key = method ?? this.#functions.get(name) ?? this.#types.get(name)
    return key === undefined ? { name } : { local: key }
  }
}

/** The last name of what is declared: `Point` of `typedef struct {…} Point`, `F` of `typedef int (*F)(int)`. */
function typedefName(tree: SyntaxTree, node: Node): string {
  const declarator = tree.child(node, 'declarator')
  for (let at = declarator; at !== NONE && at < tree.until(declarator); at++) {
    if (tree.kind(at) === 'type_identifier') return tree.textOf(at)
  }
  return ''
}

/** A name given to what has none of its own is its name. */
function typedefType(tree: SyntaxTree, inner: Node): ConceptType {
  if (tree.child(inner, 'body') === NONE || tree.child(inner, 'name') !== NONE) return 'TypeAlias'
  return tree.kind(inner) === 'enum_specifier' ? 'Enum' : 'Class'
}

function goType(kind: string, usual: ConceptType): ConceptType {
  if (kind === 'interface_type') return 'Interface'
  return kind === 'struct_type' ? 'Class' : usual === 'Class' ? 'TypeAlias' : usual
}

function own<V>(table: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
