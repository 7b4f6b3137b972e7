/**
 * Rules for linking names in Go: a package consists of all files of a folder, which see each other's names; names of other packages are
 * reached through an import.
 */
import { binds, byKind, certain, exported, known, meant, member, named, rules, step, words } from './code-file.ts'
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
    'function_declaration type_spec type_alias const_spec': declareTop,
    method_declaration: (file, node) => {
      // In a Go method such as `func (s *Stack[T])`, the receiver introduces names (here `T`) for the type parameters of its type. They are
      // declared in the method's scope.
      const [, names = ''] = /\[([^\]]*)\]/.exec(file.textAt(node, 'receiver')) ?? []
      for (const name of names.split(',')) file.scope(node).declareOnce(name.trim(), null)
    },
    'type_parameter_declaration variadic_parameter_declaration': binds('name'),
    parameter_declaration: binds('name', { type: 'type' }),
    var_spec: binds('name', { type: 'type', value: 'value*' }),
    short_var_declaration: binds('left*', { value: 'right*', keeps: true }),
    range_clause: (file, node) => {
      if (file.childOf(node, '::=') === NONE) return
      const element = { value: file.child(node, 'right'), step: 'element' } as const
      for (const [at, name] of file.all(node, 'left*').entries()) {
        file.scope(node).declareOnce(file.text(name), at === 0 ? null : element)
      }
    },
    receive_statement: binds('left*'),
    type_switch_statement: binds('alias*'),
  }),

  values: rules<DefinitionsFile>({
    identifier: named((_, name) => exported(OWN_PACKAGE, name)),
    unary_expression: (file, node, depth) => {
      return /^[&*]$/.test(file.textAt(node, 'operator')) ? file.value(file.child(node, 'operand'), depth) : null
    },
    selector_expression: (file, node, depth) => {
      const of = file.value(file.child(node, 'operand'), depth)
      const name = file.textAt(node, 'field')
      return of !== null && 'module' in of && of.name === null ? exported(of.module, name) : member(of, name)
    },
    call_expression: (file, node, depth) => {
      const callee = file.child(node, 'function')
      const name = file.text(callee)
      const isBuiltIn = /^(?:new|make)$/.test(name) && file.scope(callee).find(name) === undefined
      return isBuiltIn
        ? file.type(file.all(node, 'arguments*')[0] ?? NONE, depth)
        : step(file.value(callee, depth), 'call')
    },
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
    'type_identifier qualified_type': 'instance',
  }),

  symbols: rules<DefinitionsFile>({
    pointer_type: 'symbol',
    generic_type: 'symbol type',
    type_identifier: (file, node) => {
      const found = file.declaredAs(node, file.text(node))
      return found === undefined ? exported(OWN_PACKAGE, file.text(node)) : found
    },
    qualified_type: (file, node) => {
      const of = file.declaredAs(node, file.textAt(node, 'package')) ?? null
      return of !== null && 'module' in of ? exported(of.module, file.textAt(node, 'name')) : null
    },
  }),

  refers: byKind({
    // The Go grammar parses a call with explicit type arguments as a type conversion, so a conversion to a generic type is read as a call.
    type_conversion_expression: (file, node) => {
      const type = file.child(node, 'type')
      if (file.kind(type) === 'generic_type') refer(file, node, file.symbol(type))
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

  share(file: DefinitionsFile) {
    const clause = file.text(file.childOf(0, 'package_clause'))
    file.draft.packageName = clause.replace(/^package\s+/, '').trim()
    for (const [node, key] of file.declared) shareOne(file, node, key)
    for (const [name, meaning] of file.top.own) {
      // Variables of a package are no concepts, but other files can refer to members of their types, so the types are exported.
      if (meaning !== null && !('ref' in meaning)) file.export(name, known(file.meaning(meaning)))
    }
  },
}

/** Adds a reference for a call. Calling a type is a conversion in Go, which counts as a use of the type. */
function refer(file: DefinitionsFile, node: Node, target: Reference | null): void {
  const isCall = target === null || !('local' in target) || /^(?:Function|Method) /.test(target.local)
  file.refer(node, isCall ? 'CALLS' : 'USES', known(target))
}

function shareOne(file: DefinitionsFile, node: Node, key: string): void {
  const kind = file.kind(node)
  const name = file.textAt(node, 'name')
  const isMethod = kind === 'method_declaration'
  if (isMethod || kind === 'function_declaration') {
    const returns = resultOf(file, node)
    if (returns !== null) file.shape(key, { returns })
  }
  if (isMethod) {
    const type = receiverType(file, node)
    const owner = type === null ? undefined : file.types.get(type)
    if (owner !== undefined) file.shape(owner, { members: { [name]: { local: key } } })
    if (type !== null) file.export(`${type}.${name}`, { local: key })
  } else if (kind === 'function_declaration') {
    // Functions named `init` or `_` are not exported: a package may have several, and none can be called by name.
    if (name !== 'init' && name !== '_') file.export(name, { local: key })
  } else if (/^(?:source_file|type_declaration|const_declaration)$/.test(file.kind(file.parent(node)))) {
    for (const one of file.all(node, 'name')) file.export(file.text(one), { local: key })
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
    const own = file.child(part, 'type')
    const value = kind === 'method_elem' ? step(resultOf(file, part), 'function') : file.type(own)
    const names = file.all(part, 'name')
    for (const name of names) members.push([file.text(name), value])
    if (kind === 'field_declaration' && names.length === 0) bases.push(file.symbol(own))
    if (kind === 'type_elem' && file.parts(part).length === 1) bases.push(file.symbol(file.inside(part)))
  }
  const [found, builtOn] = [certain(members), bases.flatMap(base => base ?? [])]
  file.shape(key, {
    ...(Object.keys(found).length > 0 && { members: found }),
    ...(builtOn.length > 0 && { bases: builtOn }),
  })
}

/** What a Go function returns; of several results the first. */
function resultOf(file: DefinitionsFile, node: Node): Reference | null {
  const result = file.child(node, 'result')
  if (file.kind(result) !== 'parameter_list') return file.type(result)
  const [first = NONE] = file.parts(result)
  return file.type(file.child(first, 'type'))
}

function receiverType(file: DefinitionsFile, node: Node): string | null {
  const [receiver = NONE] = file.all(node, 'receiver*')
  let type = file.child(receiver, 'type')
  for (let at = 0; at < 3 && type !== NONE && file.kind(type) !== 'type_identifier'; at++) {
    type = file.kind(type) === 'generic_type' ? file.child(type, 'type') : file.inside(type)
  }
  return type === NONE ? null : file.text(type)
}

/**
 * Declares names at the top of a Go file as names of its package. Names declared within a function are recorded with an unknown meaning, so
 * that they only hide outer names.
 */
function declareTop(file: DefinitionsFile, node: Node): void {
  const outside = file.outside(node)
  const own = file.local(node)
  for (const name of file.all(node, 'name').map(leaf => file.text(leaf))) {
    if (outside !== file.top) outside.declareOnce(name, null)
    else if (name !== 'init' && own !== null) file.top.declareOnce(name, { ref: own })
  }
}

function declareImport(file: DefinitionsFile, node: Node): void {
  const path = file.textAt(node, 'path').slice(1, -1)
  const name = file.textAt(node, 'name') || packageNameOf(path)
  if (name !== '.' && path !== '') file.top.declareOnce(name, meant(exported(path, null)))
}

/** Name of a Go package by its import path: by convention the last part of the path that is not a version such as `v2`. */
function packageNameOf(path: string): string {
  const [last = '', before] = path.split('/').reverse()
  return /^v\d+$/.test(last) && before !== undefined ? before : last.replace(/\.v\d+$/, '')
}
