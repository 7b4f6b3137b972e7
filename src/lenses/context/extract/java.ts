/**
 * Rules for linking names in Java: a class sees the classes of its own package, then classes imported by name, then packages imported as a
 * whole; members are inherited.
 */
import {
  binds,
  byKind,
  exported,
  instance,
  known,
  MAX_PARTS,
  meant,
  member,
  named,
  rules,
  step,
  TYPE,
  words,
} from './code-file.ts'
import { OWN_PACKAGE, type Reference } from './concept.ts'
import type { DefinitionsFile, Linked } from './definitions.ts'
import { NONE, type Node } from './grammars.ts'

const TYPES = 'class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration'
const IS_TYPE: ReadonlySet<string> = new Set(words(TYPES))
const RELATIONS = byKind<'EXTENDS' | 'IMPLEMENTS'>({
  'superclass extends_interfaces': 'EXTENDS',
  super_interfaces: 'IMPLEMENTS',
})
/** Prefix that distinguishes names of methods from names of values in the table of a scope. */
const METHOD = 'method '

export const JAVA: Linked = {
  scopes: new Set([
    ...IS_TYPE,
    ...words(`class_body interface_body enum_body method_declaration constructor_declaration
      compact_constructor_declaration block constructor_body for_statement enhanced_for_statement
      try_with_resources_statement catch_clause lambda_expression switch_block switch_rule static_initializer`),
  ]),

  declares: byKind({
    [TYPES]: (file, node) => {
      file.outside(node).declareOnce(TYPE + file.textAt(node, 'name'), meant(file.local(node)))
    },
    import_declaration: declareImport,
    type_parameter: (file, node) => {
      file.scope(node).declareOnce(TYPE + file.text(file.childOf(node, 'type_identifier')), null)
    },
    method_declaration: (file, node) => {
      file.outside(node).own.set(METHOD + file.textAt(node, 'name'), null)
    },
    formal_parameter: binds('name', { type: 'type' }),
    'spread_parameter field_declaration local_variable_declaration': (file, node) => {
      for (const part of file.parts(node)) {
        if (file.kind(part) !== 'variable_declarator') continue
        const isList = file.kind(node) === 'spread_parameter' || file.child(part, 'dimensions') !== NONE
        const type = file.child(node, 'type')
        const isTyped = type !== NONE && file.text(type) !== 'var'
        const meaning = isTyped ? { type } : { value: file.child(part, 'value') }
        file.outside(part).declareOnce(file.textAt(part, 'name'), isList ? null : meaning)
      }
    },
    resource: binds('name', { type: 'type', value: 'value' }),
    enhanced_for_statement: binds('name', { type: 'type', element: 'value' }),
    catch_formal_parameter: (file, node) => {
      const types = file.parts(file.childOf(node, 'catch_type'))
      const [type = NONE] = types
      file.scope(node).declareOnce(file.textAt(node, 'name'), types.length === 1 ? { type } : null)
    },
    instanceof_expression: binds('name', { type: 'right' }),
    'type_pattern record_pattern_component': (file, node) => hideNames(file, node, file.parts(node)),
    lambda_expression: (file, node) => {
      const parameters = file.child(node, 'parameters')
      hideNames(file, node, [parameters, ...file.parts(parameters)])
    },
  }),

  values: rules<DefinitionsFile>({
    // A name that is neither a variable nor a field of this file is a class if it has the form of a class name, or else an inherited field.
    identifier: named((file, name, node) =>
      /^\p{Lu}.*\p{Ll}/u.test(name) || /^\p{Lu}$/u.test(name)
        ? typeNamed(file, node, name)
        : member(instance(selfAt(file, node)), name),
    ),
    this: (file, node) => instance(selfAt(file, node)),
    super: (file, node) => member(instance(selfAt(file, node)), 'super'),
    field_access: (file, node, depth) => {
      const object = file.child(node, 'object')
      const field = file.textAt(node, 'field')
      return field === 'this'
        ? instance(typeNamed(file, object, file.text(object)))
        : member(file.value(object, depth), field)
    },
    method_invocation: (file, node, depth) => step(callee(file, node, depth), 'call'),
    parenthesized_expression: 'value',
    array_access: 'element array',
    'object_creation_expression cast_expression': 'type type',
  }),

  types: rules<DefinitionsFile>({
    'type_identifier scoped_type_identifier generic_type': 'instance',
    array_type: 'list-type element',
  }),

  symbols: rules<DefinitionsFile>({
    generic_type: (file, node, depth) => {
      const inner = file.inside(node)
      return file.kind(inner) === 'generic_type' ? null : file.symbol(inner, depth)
    },
    type_identifier: (file, node) => typeNamed(file, node, file.text(node)),
    scoped_type_identifier: (file, node) => {
      const [first = '', ...rest] = file.text(node).replace(/\s/g, '').split('.')
      if (rest.length >= MAX_PARTS) return null
      if (/^\p{Lu}/u.test(first)) return rest.reduce(member, typeNamed(file, node, first))
      return rest.some(part => /^\p{Lu}/u.test(part)) ? imported([first, ...rest]) : null
    },
  }),

  refers: byKind({
    method_invocation: (file, node) => file.refer(node, 'CALLS', known(callee(file, node, 0))),
    object_creation_expression: (file, node) => {
      file.refer(node, 'CALLS', known(file.symbol(file.child(node, 'type'))))
    },
    [TYPES]: (file, node) => {
      const key = file.declared.get(node)
      if (key === undefined) return
      for (const [relation, base] of basesOf(file, node)) file.draft.refer(key, relation, base)
    },
  }),

  share(file: DefinitionsFile) {
    const clause = file.text(file.childOf(0, 'package_declaration'))
    file.draft.packageName = clause.replace(/^[\s\S]*?\bpackage\s+|\s|;$/g, '')
    const returned = new Map<string, Reference | null>()
    for (const [node, key] of file.declared) {
      if (IS_TYPE.has(file.kind(node))) shareType(file, node, key)
      else {
        const returns = file.type(file.child(node, 'type'))
        // Where overloads of a method have different return types, it is unknown which one is called, so the return type is unknown.
        const isOther = returned.has(key) && JSON.stringify(returned.get(key)) !== JSON.stringify(returns)
        returned.set(key, isOther ? null : returns)
      }
    }
    for (const [key, returns] of returned) if (returns !== null) file.shape(key, { returns })
  },
}

function declareImport(file: DefinitionsFile, node: Node): void {
  const name = file.childOf(node, 'scoped_identifier')
  const path = file.text(name === NONE ? file.childOf(node, 'identifier') : name).replace(/\s/g, '')
  const isStatic = file.childOf(node, ':static') !== NONE
  if (file.childOf(node, 'asterisk') !== NONE) {
    if (!isStatic) file.draft.stars.add(path)
    return
  }
  const parts = path.split('.')
  if (name === NONE || parts.length > MAX_PARTS) return
  const last = parts.at(-1) as string
  const meaning = meant(isStatic ? member(imported(parts.slice(0, -1)), last) : imported(parts))
  for (const kind of isStatic ? [METHOD, ''] : [TYPE]) file.top.declareOnce(kind + last, meaning)
}

/** What a Java import refers to. By convention, names of packages begin with a lower-case letter and names of classes with a capital. */
function imported(parts: readonly string[]): Reference | null {
  const at = parts.findIndex(part => /^\p{Lu}/u.test(part))
  const first = at < 0 ? parts.length - 1 : at
  const outermost = exported(parts.slice(0, first).join('.'), parts[first] ?? '')
  return parts.slice(first + 1).reduce(member, outermost)
}

function hideNames(file: DefinitionsFile, at: Node, parts: readonly Node[]): void {
  for (const part of parts) if (file.kind(part) === 'identifier') file.scope(at).declareOnce(file.text(part), null)
}

/** The types that enclose a node, innermost first; null for an anonymous class, of which nothing is known. */
function* typesAround(file: DefinitionsFile, node: Node): Iterable<Node | null> {
  for (let scope = file.scope(node); ; scope = scope.outer) {
    const { node: at } = scope.frame
    const kind = file.kind(at)
    if (IS_TYPE.has(kind)) yield file.declared.has(at) ? at : null
    else if (kind === 'class_body' && !IS_TYPE.has(file.kind(file.parent(at)))) yield null
    if (scope.outer === null) return
  }
}

function selfAt(file: DefinitionsFile, node: Node): Reference | null {
  for (const type of typesAround(file, node)) return type === null ? null : file.local(type)
  return null
}

function callee(file: DefinitionsFile, node: Node, depth: number): Reference | null {
  const name = file.textAt(node, 'name')
  const object = file.child(node, 'object')
  return object === NONE ? unqualified(file, node, name) : member(file.value(object, depth), name)
}

/**
 * The method that a call without an object means, as `run()`: the one in the innermost enclosing class that declares it. Inherited methods
 * are unknown while a single file is read, so the search stops at a class that may inherit the method.
 */
function unqualified(file: DefinitionsFile, node: Node, name: string): Reference | null {
  for (const type of typesAround(file, node)) {
    if (type === null) return null
    if (mayHave(file, type, name)) return member(instance(file.local(type)), name)
  }
  const meaning = file.top.own.get(METHOD + name)
  return meaning === undefined ? null : file.meaning(meaning)
}

/** Whether a type declares a method of this name, or has base types from which it may inherit one. */
function mayHave(file: DefinitionsFile, type: Node, name: string): boolean {
  const body = file.child(type, 'body')
  if (body !== NONE && file.scope(body).own.has(METHOD + name)) return true
  return file.parts(type).some(part => RELATIONS.has(file.kind(part)))
}

function shareType(file: DefinitionsFile, node: Node, key: string): void {
  const members = new Map<string, Reference>()
  for (const part of membersOf(file, node)) {
    const kind = file.kind(part)
    const own = file.local(part)
    if (own !== null && kind !== 'constructor_declaration') members.set(file.textAt(part, 'name'), own)
    const value = kind === 'field_declaration' ? file.type(file.child(part, 'type')) : null
    for (const one of value === null ? [] : file.all(part, 'declarator')) {
      const field = file.textAt(one, 'name')
      if (value !== null && !members.has(field)) members.set(field, value)
    }
  }
  const bases = basesOf(file, node).map(([, base]) => base)
  file.shape(key, { members: Object.fromEntries(members), ...(bases.length > 0 && { bases }) })
  if (file.kind(file.parent(node)) === 'program') file.export(file.textAt(node, 'name'), { local: key })
}

function membersOf(file: DefinitionsFile, node: Node): Node[] {
  return file
    .all(node, 'body*')
    .flatMap(part => (file.kind(part) === 'enum_body_declarations' ? file.parts(part) : [part]))
}

/** Base types of a Java type: those that it extends, then those that it implements. */
function basesOf(file: DefinitionsFile, node: Node): [relation: 'EXTENDS' | 'IMPLEMENTS', base: Reference][] {
  return file.parts(node).flatMap(part => {
    const kind = file.kind(part)
    const relation = RELATIONS.get(kind)
    const types =
      relation === undefined ? [] : file.parts(kind === 'superclass' ? part : file.childOf(part, 'type_list'))
    return types.flatMap(type => {
      const base = file.symbol(type)
      return base === null || relation === undefined ? [] : [[relation, base] as [typeof relation, Reference]]
    })
  })
}

function typeNamed(file: DefinitionsFile, node: Node, name: string): Reference | null {
  const found = file.declaredAs(node, TYPE + name)
  return found === undefined ? exported(OWN_PACKAGE, name) : found
}
