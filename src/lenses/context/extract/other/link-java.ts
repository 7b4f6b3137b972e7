/** Java: a class sees its package, what is imported by name, then packages that are imported whole; members are inherited. */
import type { Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { own } from './dialects.ts'
import { instance, type LinkedFile, type LinkedLanguage, MAX_PARTS, type Meaning, member, step } from './linked.ts'

/** In place of the name of a package: the one that the file is of. */
export const OWN_PACKAGE = '.'

const TYPES: ReadonlySet<string> = new Set(
  'class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration'.split(' '),
)
const RELATIONS: Readonly<Record<string, 'EXTENDS' | 'IMPLEMENTS'>> = {
  superclass: 'EXTENDS',
  extends_interfaces: 'EXTENDS',
  super_interfaces: 'IMPLEMENTS',
}
/** `this` of a class without a name. */
const UNKNOWN: Reference = { name: '' }
/** In front of names of types and methods: they are other names than those of values. */
const TYPE = 'type '
const METHOD = 'method '

export const JAVA: LinkedLanguage = {
  scopes: new Set([
    ...TYPES,
    ...`class_body interface_body enum_body method_declaration constructor_declaration compact_constructor_declaration
     block constructor_body for_statement enhanced_for_statement try_with_resources_statement catch_clause
     lambda_expression switch_block switch_rule static_initializer`.split(/\s+/),
  ]),

  self(file, node, kind) {
    if (TYPES.has(kind)) {
      const key = file.file.keyOf(node)
      return key === undefined ? UNKNOWN : { local: key }
    }
    return kind === 'class_body' && !TYPES.has(file.tree.kind(file.tree.parent(node))) ? UNKNOWN : null
  },

  declare(file, node, kind) {
    const { tree } = file
    if (TYPES.has(kind)) {
      const key = file.file.keyOf(node)
      const meaning = key === undefined ? null : { ref: { local: key } }
      file.outside(node).declare(TYPE + file.text(tree.child(node, 'name')), meaning)
      return
    }
    const scope = file.scope(node)
    const type = tree.child(node, 'type')
    const name = file.text(tree.child(node, 'name'))
    switch (kind) {
      case 'import_declaration':
        declareImport(file, node)
        return
      case 'type_parameter':
        scope.declare(TYPE + file.text(tree.childOf(node, 'type_identifier')), null)
        return
      case 'method_declaration':
        file.outside(node).own.set(METHOD + name, null)
        return
      case 'formal_parameter':
        scope.declare(name, { type })
        return
      case 'spread_parameter':
      case 'field_declaration':
      case 'local_variable_declaration':
        for (const part of tree.children(node)) {
          if (tree.kind(part) === 'variable_declarator')
            declareVariable(file, part, kind === 'spread_parameter' ? NONE : type)
        }
        return
      case 'resource':
        scope.declare(name, isInferred(file, type) ? { value: tree.child(node, 'value') } : { type })
        return
      case 'enhanced_for_statement':
        scope.declare(name, isInferred(file, type) ? { value: tree.child(node, 'value'), step: 'element' } : { type })
        return
      case 'catch_formal_parameter': {
        const types = tree.parts(tree.childOf(node, 'catch_type'))
        scope.declare(name, types.length === 1 ? { type: types[0] as Node } : null)
        return
      }
      case 'instanceof_expression':
        scope.declare(name, { type: tree.child(node, 'right') })
        return
      case 'type_pattern':
      case 'record_pattern_component':
        for (const part of tree.children(node))
          if (tree.kind(part) === 'identifier') scope.declare(file.text(part), null)
        return
      case 'lambda_expression': {
        const parameters = tree.child(node, 'parameters')
        const names = tree.kind(parameters) === 'identifier' ? [parameters] : tree.parts(parameters)
        for (const one of names) if (tree.kind(one) === 'identifier') scope.declare(file.text(one), null)
        return
      }
    }
  },

  value(file, node, depth) {
    const { tree } = file
    switch (tree.kind(node)) {
      case 'identifier':
        return named(file, node, depth)
      case 'this':
        return instance(selfAt(file, node))
      case 'super':
        return member(instance(selfAt(file, node)), 'super')
      case 'parenthesized_expression':
        return file.value(file.file.inside(node), depth)
      case 'field_access': {
        const object = tree.child(node, 'object')
        const field = file.text(tree.child(node, 'field'))
        return field === 'this'
          ? instance(typeNamed(file, object, file.text(object)))
          : member(file.value(object, depth), field)
      }
      case 'method_invocation':
        return step(callee(file, node, depth), 'call')
      case 'object_creation_expression':
      case 'cast_expression':
        return file.type(tree.child(node, 'type'), depth)
      case 'array_access':
        return step(file.value(tree.child(node, 'array'), depth), 'element')
      default:
        return null
    }
  },

  type(file, node, depth) {
    const { tree } = file
    switch (tree.kind(node)) {
      case 'type_identifier':
      case 'scoped_type_identifier':
      case 'generic_type':
        return instance(typeSymbol(file, node))
      case 'array_type':
        return step(file.type(tree.child(node, 'element'), depth), 'list')
      default:
        return null
    }
  },

  refer(file, node, kind) {
    const { tree } = file
    if (kind === 'method_invocation') file.refer(node, 'CALLS', callee(file, node, 0))
    if (kind === 'object_creation_expression') file.refer(node, 'CALLS', typeSymbol(file, tree.child(node, 'type')))
    const key = TYPES.has(kind) ? file.file.keyOf(node) : undefined
    if (key === undefined) return
    for (const [relation, base] of basesOf(file, node)) file.file.draft.refer(key, relation, base)
  },

  share(file) {
    const { tree } = file
    const { draft, declared } = file.file
    draft.packageName = file.text(tree.childOf(0, 'package_declaration')).replace(/^[\s\S]*?\bpackage\s+|\s|;$/g, '')
    for (const [node, key] of declared) {
      if (TYPES.has(tree.kind(node))) shareType(file, node, key)
      else {
        const returns = file.type(tree.child(node, 'type'))
        if (returns !== null) file.shape(key, { returns })
      }
    }
  },
}

function declareImport(file: LinkedFile, node: Node): void {
  const { tree } = file
  const path = file.text(tree.childOf(node, 'scoped_identifier')).replace(/\s/g, '')
  if (tree.childOf(node, 'asterisk') !== NONE || path === '') return
  const parts = path.split('.')
  if (parts.length > MAX_PARTS) return
  const last = parts.at(-1) as string
  if (tree.childOf(node, ':static') === NONE) {
    file.top.declare(TYPE + last, { ref: imported(parts) })
    return
  }
  const of = imported(parts.slice(0, -1))
  file.top.declare(METHOD + last, { ref: { of, member: last } })
  file.top.declare(last, { ref: { of, member: last } })
}

/** Names of packages begin with a small letter by custom, those of classes with a capital one. */
function imported(parts: readonly string[]): Reference {
  const at = parts.findIndex(part => /^\p{Lu}/u.test(part))
  const first = at < 0 ? parts.length - 1 : at
  const outermost: Reference = { module: parts.slice(0, first).join('.'), name: parts[first] as string }
  return parts.slice(first + 1).reduce<Reference>((of, part) => ({ of, member: part }), outermost)
}

function declareVariable(file: LinkedFile, node: Node, type: Node): void {
  const value = file.tree.child(node, 'value')
  const isList = file.tree.child(node, 'dimensions') !== NONE
  const meaning: Meaning = type === NONE || isList ? null : isInferred(file, type) ? { value } : { type }
  file.outside(node).declare(file.text(file.tree.child(node, 'name')), meaning)
}

function isInferred(file: LinkedFile, type: Node): boolean {
  return file.text(type) === 'var'
}

function selfAt(file: LinkedFile, node: Node): Reference | null {
  const { self } = file.scope(node)
  return self === UNKNOWN ? null : self
}

function named(file: LinkedFile, node: Node, depth: number): Reference | null {
  const name = file.text(node)
  const meaning = file.scope(node).find(name)
  if (meaning !== undefined) return file.meaning(meaning, depth)
  // Neither a variable nor a field of this file: a class, or a field that is inherited.
  return /^\p{Lu}.*\p{Ll}/u.test(name) || /^\p{Lu}$/u.test(name)
    ? typeNamed(file, node, name)
    : member(instance(selfAt(file, node)), name)
}

function callee(file: LinkedFile, node: Node, depth: number): Reference | null {
  const { tree } = file
  const name = file.text(tree.child(node, 'name'))
  const object = tree.child(node, 'object')
  return object === NONE ? unqualified(file, node, name) : member(file.value(object, depth), name)
}

/** Of the innermost class that has the method. What a class may inherit is not known here, so none is looked for further out. */
function unqualified(file: LinkedFile, node: Node, name: string): Reference | null {
  let self: Reference | null = null
  for (let scope = file.scope(node); ; scope = scope.outer) {
    if (scope.self !== null && scope.self !== self) {
      self = scope.self
      if (self === UNKNOWN) return null
      if (mayHave(file, self, name)) return member(instance(self), name)
    }
    if (scope.outer === null) break
  }
  const meaning = file.top.own.get(METHOD + name)
  return meaning === undefined ? null : file.meaning(meaning, 0)
}

/** Whether the type declares the method or has bases, which may. */
function mayHave(file: LinkedFile, self: Reference, name: string): boolean {
  const node = 'local' in self ? nodesOf(file).get(self.local) : undefined
  if (node === undefined) return true
  const body = file.tree.child(node, 'body')
  const names = body === NONE ? undefined : file.scope(body).own
  return names?.has(METHOD + name) === true || hasBases(file, node)
}

function hasBases({ tree }: LinkedFile, node: Node): boolean {
  for (const part of tree.children(node)) if (own(RELATIONS, tree.kind(part)) !== undefined) return true
  return false
}

const NODES = new WeakMap<LinkedFile, ReadonlyMap<string, Node>>()

/** Key of a concept -> its declaration. */
function nodesOf(file: LinkedFile): ReadonlyMap<string, Node> {
  const known = NODES.get(file)
  if (known !== undefined) return known
  const made = new Map([...file.file.declared].map(([node, key]) => [key, node]))
  NODES.set(file, made)
  return made
}

const WHOLE = new WeakMap<LinkedFile, readonly string[]>()

/** Packages of which all is imported. */
function wholePackages(file: LinkedFile): readonly string[] {
  const known = WHOLE.get(file)
  if (known !== undefined) return known
  const { tree } = file
  const made = [...tree.children(0)]
    .filter(node => tree.kind(node) === 'import_declaration' && tree.childOf(node, 'asterisk') !== NONE)
    .filter(node => tree.childOf(node, ':static') === NONE)
    .map(node =>
      file
        .text(
          tree.childOf(node, 'scoped_identifier') === NONE
            ? tree.childOf(node, 'identifier')
            : tree.childOf(node, 'scoped_identifier'),
        )
        .replace(/\s/g, ''),
    )
  WHOLE.set(file, made)
  return made
}

function shareType(file: LinkedFile, node: Node, key: string): void {
  const { tree } = file
  const members: Record<string, Reference> = {}
  for (const part of membersOf(file, node)) {
    const kind = tree.kind(part)
    const own = file.file.keyOf(part)
    const name = file.text(tree.child(part, 'name'))
    if (own !== undefined && kind !== 'constructor_declaration') members[name] = { local: own }
    if (kind !== 'field_declaration') continue
    const value = file.type(tree.child(part, 'type'))
    for (const one of tree.children(part)) {
      const field = tree.kind(one) === 'variable_declarator' ? file.text(tree.child(one, 'name')) : ''
      if (field !== '' && value !== null && !Object.hasOwn(members, field)) members[field] = value
    }
  }
  const bases = basesOf(file, node).map(([, base]) => base)
  file.shape(key, { members, ...(bases.length > 0 ? { bases } : {}) })
  if (tree.kind(tree.parent(node)) === 'program') file.export(file.text(tree.child(node, 'name')), { local: key })
}

function* membersOf(file: LinkedFile, node: Node): Iterable<Node> {
  const { tree } = file
  for (const part of tree.children(tree.child(node, 'body'))) {
    if (tree.kind(part) === 'enum_body_declarations') yield* tree.children(part)
    else yield part
  }
}

/** What it extends, then what it implements. */
function basesOf(file: LinkedFile, node: Node): [relation: 'EXTENDS' | 'IMPLEMENTS', base: Reference][] {
  const { tree } = file
  const bases: [relation: 'EXTENDS' | 'IMPLEMENTS', base: Reference][] = []
  for (const part of tree.children(node)) {
    const kind = tree.kind(part)
    const relation = own(RELATIONS, kind)
    if (relation === undefined) continue
    for (const type of tree.parts(kind === 'superclass' ? part : tree.childOf(part, 'type_list'))) {
      const base = typeSymbol(file, type)
      if (base !== null) bases.push([relation, base])
    }
  }
  return bases
}

function typeSymbol(file: LinkedFile, node: Node): Reference | null {
  const { tree } = file
  switch (tree.kind(node)) {
    case 'generic_type':
      return tree.kind(file.file.inside(node)) === 'generic_type' ? null : typeSymbol(file, file.file.inside(node))
    case 'type_identifier':
      return typeNamed(file, node, file.text(node))
    case 'scoped_type_identifier': {
      const parts = file.text(node).replace(/\s/g, '').split('.')
      if (parts.length > MAX_PARTS) return null
      if (!/^\p{Lu}/u.test(parts[0] as string))
        return parts.some(part => /^\p{Lu}/u.test(part)) ? imported(parts) : null
      return parts.slice(1).reduce<Reference | null>(member, typeNamed(file, node, parts[0] as string))
    }
    default:
      return null
  }
}

function typeNamed(file: LinkedFile, node: Node, name: string): Reference | null {
  const meaning = file.scope(node).find(TYPE + name)
  if (meaning !== undefined) return meaning !== null && 'ref' in meaning ? meaning.ref : null
  return { module: [OWN_PACKAGE, ...wholePackages(file)].join(' '), name }
}
