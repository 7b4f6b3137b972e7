/** Java: a class sees its package, what is imported by name, then packages that are imported whole; members are inherited. */
import {
  byKind,
  exported,
  instance,
  known,
  MAX_PARTS,
  type Meaning,
  meant,
  member,
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
/** In front of names of methods: they are other names than those of values. */
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
    formal_parameter: (file, node) => declareNamed(file, node, { type: file.child(node, 'type') }),
    'spread_parameter field_declaration local_variable_declaration': declareVariables,
    resource: (file, node) => declareNamed(file, node, typeOr(file, node, { value: file.child(node, 'value') })),
    enhanced_for_statement: (file, node) => {
      declareNamed(file, node, typeOr(file, node, { value: file.child(node, 'value'), step: 'element' }))
    },
    catch_formal_parameter: (file, node) => {
      const [type, ...more] = file.parts(file.childOf(node, 'catch_type'))
      declareNamed(file, node, type === undefined || more.length > 0 ? null : { type })
    },
    instanceof_expression: (file, node) => declareNamed(file, node, { type: file.child(node, 'right') }),
    'type_pattern record_pattern_component': (file, node) => hideNames(file, node, file.children(node)),
    lambda_expression: (file, node) => {
      const parameters = file.child(node, 'parameters')
      const isOne = file.kind(parameters) === 'identifier'
      hideNames(file, node, isOne ? [parameters] : file.children(parameters))
    },
  }),

  values: rules<DefinitionsFile>({
    identifier: named,
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
    'type_identifier scoped_type_identifier generic_type': (file, node) => instance(typeSymbol(file, node)),
    array_type: 'list-type element',
  }),

  refers: byKind({
    method_invocation: (file, node) => file.refer(node, 'CALLS', known(callee(file, node, 0))),
    object_creation_expression: (file, node) => {
      file.refer(node, 'CALLS', known(typeSymbol(file, file.child(node, 'type'))))
    },
    [TYPES]: (file, node) => {
      const key = file.declared.get(node)
      if (key === undefined) return
      for (const [relation, base] of basesOf(file, node)) file.draft.refer(key, relation, base)
    },
  }),

  share(file) {
    const clause = file.text(file.childOf(0, 'package_declaration'))
    file.draft.packageName = clause.replace(/^[\s\S]*?\bpackage\s+|\s|;$/g, '')
    for (const name of wholePackages(file)) file.draft.stars.add(name)
    const returned = new Map<string, Reference | null>()
    for (const [node, key] of file.declared) {
      if (IS_TYPE.has(file.kind(node))) shareType(file, node, key)
      else {
        const returns = file.type(file.child(node, 'type'))
        // Of overloads that return different types it is not known which one is called.
        const isOther = returned.has(key) && JSON.stringify(returned.get(key)) !== JSON.stringify(returns)
        returned.set(key, isOther ? null : returns)
      }
    }
    for (const [key, returns] of returned) if (returns !== null) file.shape(key, { returns })
  },
}

function declareImport(file: DefinitionsFile, node: Node): void {
  const path = file.text(file.childOf(node, 'scoped_identifier')).replace(/\s/g, '')
  if (file.childOf(node, 'asterisk') !== NONE || path === '') return
  const parts = path.split('.')
  if (parts.length > MAX_PARTS) return
  const last = parts.at(-1) as string
  if (file.childOf(node, ':static') === NONE) {
    file.top.declareOnce(TYPE + last, meant(imported(parts)))
    return
  }
  const of = member(imported(parts.slice(0, -1)), last)
  file.top.declareOnce(METHOD + last, meant(of))
  file.top.declareOnce(last, meant(of))
}

/** Names of packages begin with a small letter by custom, those of classes with a capital one. */
function imported(parts: readonly string[]): Reference | null {
  const at = parts.findIndex(part => /^\p{Lu}/u.test(part))
  const first = at < 0 ? parts.length - 1 : at
  const outermost = exported(parts.slice(0, first).join('.'), parts[first] ?? '')
  return parts.slice(first + 1).reduce(member, outermost)
}

/** Packages of which all is imported. */
function wholePackages(file: DefinitionsFile): string[] {
  const imports = [...file.children(0)].filter(node => file.kind(node) === 'import_declaration')
  return imports.flatMap(node => {
    if (file.childOf(node, 'asterisk') === NONE || file.childOf(node, ':static') !== NONE) return []
    const path = file.childOf(node, 'scoped_identifier')
    return file.text(path === NONE ? file.childOf(node, 'identifier') : path).replace(/\s/g, '')
  })
}

function declareNamed(file: DefinitionsFile, node: Node, meaning: Meaning): void {
  file.scope(node).declareOnce(file.textAt(node, 'name'), meaning)
}

function declareVariables(file: DefinitionsFile, node: Node): void {
  for (const part of file.children(node)) {
    if (file.kind(part) !== 'variable_declarator') continue
    const isList = file.kind(node) === 'spread_parameter' || file.child(part, 'dimensions') !== NONE
    const meaning = isList ? null : typeOr(file, node, { value: file.child(part, 'value') })
    file.outside(part).declareOnce(file.textAt(part, 'name'), meaning)
  }
}

/** The type that is written, or where it is `var` what its value says. */
function typeOr(file: DefinitionsFile, node: Node, value: Meaning): Meaning {
  const type = file.child(node, 'type')
  return file.text(type) === 'var' ? value : type === NONE ? null : { type }
}

function hideNames(file: DefinitionsFile, at: Node, parts: Iterable<Node>): void {
  for (const part of parts) if (file.kind(part) === 'identifier') file.scope(at).declareOnce(file.text(part), null)
}

/** The types around, innermost first; null: a class without a name, of which nothing is known. */
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

function named(file: DefinitionsFile, node: Node, depth: number): Reference | null {
  const name = file.text(node)
  const meaning = file.scope(node).find(name)
  if (meaning !== undefined) return file.meaning(meaning, depth)
  // Neither a variable nor a field of this file: a class, or a field that is inherited.
  return /^\p{Lu}.*\p{Ll}/u.test(name) || /^\p{Lu}$/u.test(name)
    ? typeNamed(file, node, name)
    : member(instance(selfAt(file, node)), name)
}

function callee(file: DefinitionsFile, node: Node, depth: number): Reference | null {
  const name = file.textAt(node, 'name')
  const object = file.child(node, 'object')
  return object === NONE ? unqualified(file, node, name) : member(file.value(object, depth), name)
}

/** Of the innermost class that has the method. What a class may inherit is not known here, so none is looked for further out. */
function unqualified(file: DefinitionsFile, node: Node, name: string): Reference | null {
  for (const type of typesAround(file, node)) {
    if (type === null) return null
    if (mayHave(file, type, name)) return member(instance(file.local(type)), name)
  }
  const meaning = file.top.own.get(METHOD + name)
  return meaning === undefined ? null : file.meaning(meaning)
}

/** Whether the type declares the method or has bases, which may. */
function mayHave(file: DefinitionsFile, type: Node, name: string): boolean {
  const body = file.child(type, 'body')
  if (body !== NONE && file.scope(body).own.has(METHOD + name)) return true
  return [...file.children(type)].some(part => RELATIONS.has(file.kind(part)))
}

function shareType(file: DefinitionsFile, node: Node, key: string): void {
  const members = new Map<string, Reference>()
  for (const part of membersOf(file, node)) {
    const kind = file.kind(part)
    const own = file.local(part)
    if (own !== null && kind !== 'constructor_declaration') members.set(file.textAt(part, 'name'), own)
    const value = kind === 'field_declaration' ? file.type(file.child(part, 'type')) : null
    for (const one of value === null ? [] : file.children(part)) {
      const field = file.kind(one) === 'variable_declarator' ? file.textAt(one, 'name') : ''
      if (field !== '' && value !== null && !members.has(field)) members.set(field, value)
    }
  }
  const bases = basesOf(file, node).map(([, base]) => base)
  file.shape(key, { members: Object.fromEntries(members), ...(bases.length > 0 && { bases }) })
  if (file.kind(file.parent(node)) === 'program') file.export(file.textAt(node, 'name'), { local: key })
}

function* membersOf(file: DefinitionsFile, node: Node): Iterable<Node> {
  for (const part of file.children(file.child(node, 'body'))) {
    if (file.kind(part) === 'enum_body_declarations') yield* file.children(part)
    else yield part
  }
}

/** What it extends, then what it implements. */
function basesOf(file: DefinitionsFile, node: Node): [relation: 'EXTENDS' | 'IMPLEMENTS', base: Reference][] {
  const bases: [relation: 'EXTENDS' | 'IMPLEMENTS', base: Reference][] = []
  for (const part of file.children(node)) {
    const kind = file.kind(part)
    const relation = RELATIONS.get(kind)
    if (relation === undefined) continue
    for (const type of file.parts(kind === 'superclass' ? part : file.childOf(part, 'type_list'))) {
      const base = typeSymbol(file, type)
      if (base !== null) bases.push([relation, base])
    }
  }
  return bases
}

function typeSymbol(file: DefinitionsFile, node: Node): Reference | null {
  switch (file.kind(node)) {
    case 'generic_type':
      return file.kind(file.inside(node)) === 'generic_type' ? null : typeSymbol(file, file.inside(node))
    case 'type_identifier':
      return typeNamed(file, node, file.text(node))
    case 'scoped_type_identifier': {
      const [first = '', ...rest] = file.text(node).replace(/\s/g, '').split('.')
      if (rest.length >= MAX_PARTS) return null
      if (/^\p{Lu}/u.test(first)) return rest.reduce(member, typeNamed(file, node, first))
      return rest.some(part => /^\p{Lu}/u.test(part)) ? imported([first, ...rest]) : null
    }
    default:
      return null
  }
}

function typeNamed(file: DefinitionsFile, node: Node, name: string): Reference | null {
  const meaning = file.scope(node).find(TYPE + name)
  if (meaning === undefined) return exported(OWN_PACKAGE, name)
  return meaning !== null && 'ref' in meaning ? meaning.ref : null
}
