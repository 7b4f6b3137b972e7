/** Go: a package is all files of a folder; its names are seen in all of them, those of others through an import. */
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
  type Scope,
  step,
  words,
} from './code-file.ts'
import { OWN_PACKAGE, type Reference } from './concept.ts'
import type { DefinitionsFile, Linked } from './definitions.ts'
import { NONE, type Node } from './grammars.ts'

export const GO: Linked = {
  scopes: new Set(
    words(`function_declaration method_declaration func_literal function_type method_elem block for_statement
      if_statement expression_switch_statement type_switch_statement expression_case type_case default_case
      communication_case`),
  ),

  declares: byKind({
    import_spec: declareImport,
    function_declaration: (file, node) => declareTop(file, file.child(node, 'name'), node),
    'type_spec type_alias const_spec': (file, node) => {
      for (const name of namesOf(file, node)) declareTop(file, name, node)
    },
    'type_parameter_declaration variadic_parameter_declaration': (file, node) => {
      declareNames(file, node, namesOf(file, node), null)
    },
    parameter_declaration: (file, node) => {
      declareNames(file, node, namesOf(file, node), { type: file.child(node, 'type') })
    },
    var_spec: (file, node) => {
      const type = file.child(node, 'type')
      const names = namesOf(file, node)
      if (type !== NONE) declareNames(file, node, names, { type })
      else assign(file, names, file.parts(file.child(node, 'value')), file.scope(node), false)
    },
    short_var_declaration: (file, node) => {
      const [names, values] = [file.parts(file.child(node, 'left')), file.parts(file.child(node, 'right'))]
      assign(file, names, values, file.scope(node), true)
    },
    range_clause: (file, node) => {
      const [first, second] = file.parts(file.child(node, 'left'))
      if (file.childOf(node, '::=') === NONE) return
      if (first !== undefined) declareNames(file, node, [first], null)
      const element = { value: file.child(node, 'right'), step: 'element' } as const
      if (second !== undefined) declareNames(file, node, [second], element)
    },
    receive_statement: (file, node) => declareNames(file, node, file.parts(file.child(node, 'left')), null),
    type_switch_statement: (file, node) => declareNames(file, node, file.parts(file.child(node, 'alias')), null),
  }),

  values: rules<DefinitionsFile>({
    identifier: (file, node, depth) => {
      const name = file.text(node)
      const meaning = file.scope(node).find(name)
      return meaning === undefined ? exported(OWN_PACKAGE, name) : file.meaning(meaning, depth)
    },
    unary_expression: (file, node, depth) => {
      return /^[&*]$/.test(file.textAt(node, 'operator')) ? file.value(file.child(node, 'operand'), depth) : null
    },
    selector_expression: (file, node, depth) => {
      const of = file.value(file.child(node, 'operand'), depth)
      const name = file.textAt(node, 'field')
      return of !== null && 'module' in of && of.name === null ? exported(of.module, name) : member(of, name)
    },
    call_expression: called,
    parenthesized_expression: 'value',
    slice_expression: 'value operand',
    index_expression: 'element operand',
    'composite_literal type_assertion_expression': 'type type',
  }),

  types: rules<DefinitionsFile>({
    'slice_type array_type implicit_length_array_type': 'list-type element',
    channel_type: 'list-type value',
    map_type: 'map-type value',
    generic_type: 'type type',
    'pointer_type parenthesized_type': 'type',
    'type_identifier qualified_type': (file, node) => instance(typeSymbol(file, node)),
  }),

  refers: byKind({
    // With type arguments, a call looks like a conversion.
    type_conversion_expression: (file, node) => {
      const type = file.child(node, 'type')
      if (file.kind(type) === 'generic_type') refer(file, node, typeSymbol(file, file.child(type, 'type')))
    },
    call_expression: (file, node) => {
      let callee = file.child(node, 'function')
      while (file.kind(callee) === 'parenthesized_expression') callee = file.inside(callee)
      if (file.kind(callee) === 'index_expression') callee = file.child(callee, 'operand')
      const kind = file.kind(callee)
      if (kind === 'selector_expression' || (kind === 'identifier' && !file.isVariable(callee))) {
        refer(file, node, file.value(callee))
      }
    },
  }),

  share(file) {
    const clause = file.text(file.childOf(0, 'package_clause'))
    file.draft.packageName = clause.replace(/^package\s+/, '').trim()
    for (const [node, key] of file.declared) shareOne(file, node, key)
    for (const [name, meaning] of file.top.own) {
      // Variables: they are no concepts, but have a type.
      if (meaning !== null && !('ref' in meaning)) file.export(name, known(file.meaning(meaning)))
    }
  },
}

/** A type that is called is a conversion. */
function refer(file: DefinitionsFile, node: Node, target: Reference | null): void {
  const isCall = target === null || !('local' in target) || /^(?:Function|Method) /.test(target.local)
  file.refer(node, isCall ? 'CALLS' : 'USES', known(target))
}

function shareOne(file: DefinitionsFile, node: Node, key: string): void {
  const kind = file.kind(node)
  const name = file.textAt(node, 'name')
  if (kind === 'function_declaration' || kind === 'method_declaration') {
    const returns = resultOf(file, node)
    if (returns !== null) file.shape(key, { returns })
  }
  if (kind === 'method_declaration') {
    const type = receiverType(file, node)
    const owner = type === null ? undefined : file.types.get(type)
    if (owner !== undefined) file.shape(owner, { members: { [name]: { local: key } } })
    if (type !== null) file.export(`${type}.${name}`, { local: key })
  } else if (kind === 'function_declaration') {
    // A package may have any number of these, and nobody can call them.
    if (name !== 'init' && name !== '_') file.export(name, { local: key })
  } else if (/^(?:source_file|type_declaration|const_declaration)$/.test(file.kind(file.parent(node)))) {
    for (const one of namesOf(file, node)) file.export(file.text(one), { local: key })
    if (kind === 'type_spec') shareType(file, node, key)
  }
}

function shareType(file: DefinitionsFile, node: Node, key: string): void {
  const type = file.child(node, 'type')
  const members: [string, Reference | null][] = []
  const bases: (Reference | null)[] = []
  const parts = file.kind(type) === 'struct_type' ? file.childOf(type, 'field_declaration_list') : type
  for (const part of parts === NONE ? [] : file.children(parts)) {
    const kind = file.kind(part)
    if (kind === 'field_declaration') {
      const [names, own] = [namesOf(file, part), file.child(part, 'type')]
      for (const name of names) members.push([file.text(name), file.type(own)])
      if (names.length === 0) bases.push(typeSymbol(file, own))
    } else if (kind === 'method_elem') {
      members.push([file.textAt(part, 'name'), step(resultOf(file, part), 'function')])
    } else if (kind === 'type_elem' && file.parts(part).length === 1) bases.push(typeSymbol(file, file.inside(part)))
  }
  const certain = members.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const found = bases.flatMap(base => base ?? [])
  file.shape(key, {
    ...(certain.length > 0 && { members: Object.fromEntries(certain) }),
    ...(found.length > 0 && { bases: found }),
  })
}

/** Of several results the first. */
function resultOf(file: DefinitionsFile, node: Node): Reference | null {
  const result = file.child(node, 'result')
  if (file.kind(result) !== 'parameter_list') return file.type(result)
  const [first = NONE] = file.parts(result)
  return file.type(file.child(first, 'type'))
}

function receiverType(file: DefinitionsFile, node: Node): string | null {
  const [receiver = NONE] = file.parts(file.child(node, 'receiver'))
  let type = file.child(receiver, 'type')
  for (let at = 0; at < 3 && type !== NONE && file.kind(type) !== 'type_identifier'; at++) {
    type = file.kind(type) === 'generic_type' ? file.child(type, 'type') : file.inside(type)
  }
  return type === NONE ? null : file.text(type)
}

function namesOf(file: DefinitionsFile, node: Node): Node[] {
  return file.parts(node).filter(child => file.field(child) === 'name')
}

function declareNames(file: DefinitionsFile, at: Node, names: readonly Node[], meaning: Meaning): void {
  for (const name of names) file.scope(at).declareOnce(file.text(name), meaning)
}

/** At the top of the file it is a name of the package; within a function nothing is known of it. */
function declareTop(file: DefinitionsFile, name: Node, declaration: Node): void {
  if (name === NONE) return
  const outside = file.outside(file.parent(name))
  const text = file.text(name)
  const own = file.local(declaration)
  if (outside !== file.top) outside.declareOnce(text, null)
  else if (text !== 'init' && own !== null) file.top.declareOnce(text, { ref: own })
}

function declareImport(file: DefinitionsFile, node: Node): void {
  const path = file.textAt(node, 'path').slice(1, -1)
  const alias = file.child(node, 'name')
  const name = alias === NONE ? packageNameOf(path) : file.text(alias)
  if (name !== '.' && path !== '') file.top.declareOnce(name, meant(exported(path, null)))
}

/** By custom the last part of the path, but for a version. */
function packageNameOf(path: string): string {
  const [last = '', before] = path.split('/').reverse()
  return /^v\d+$/.test(last) && before !== undefined ? before : last.replace(/\.v\d+$/, '')
}

/** `isAgain`: a name that the scope has already keeps its type. */
function assign(
  file: DefinitionsFile,
  names: readonly Node[],
  values: readonly Node[],
  scope: Scope,
  isAgain: boolean,
): void {
  for (const [at, name] of names.entries()) {
    const text = file.text(name)
    if (isAgain && scope.own.has(text)) continue
    const value = values.length === names.length ? values[at] : at === 0 ? values[0] : undefined
    scope.declareOnce(text, value === undefined ? null : { value })
  }
}

function called(file: DefinitionsFile, node: Node, depth: number): Reference | null {
  const callee = file.child(node, 'function')
  const name = file.text(callee)
  const isBuiltIn = /^(?:new|make)$/.test(name) && file.scope(callee).find(name) === undefined
  if (!isBuiltIn) return step(file.value(callee, depth), 'call')
  const [first = NONE] = file.parts(file.child(node, 'arguments'))
  return file.type(first, depth)
}

/** The type itself. */
function typeSymbol(file: DefinitionsFile, node: Node, depth = 0): Reference | null {
  if (depth > MAX_PARTS) return null
  const kind = file.kind(node)
  if (kind === 'pointer_type') return typeSymbol(file, file.inside(node), depth + 1)
  if (kind === 'generic_type') return typeSymbol(file, file.child(node, 'type'), depth + 1)
  const isQualified = kind === 'qualified_type'
  if (!isQualified && kind !== 'type_identifier') return null
  const name = isQualified ? file.textAt(node, 'name') : file.text(node)
  const meaning = file.scope(node).find(isQualified ? file.textAt(node, 'package') : name)
  if (meaning === undefined) return isQualified ? null : exported(OWN_PACKAGE, name)
  const of = meaning !== null && 'ref' in meaning ? meaning.ref : null
  if (!isQualified) return of
  return of !== null && 'module' in of ? exported(of.module, name) : null
}
