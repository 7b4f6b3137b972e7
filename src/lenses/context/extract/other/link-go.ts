/** Go: a package is all files of a folder; its names are seen in all of them, those of others through an import. */
import type { Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { instance, type LinkedFile, type LinkedLanguage, MAX_PARTS, type Meaning, member, step } from './linked.ts'

/** In place of an import path: the package of the file itself. */
export const OWN_PACKAGE = '.'

const LISTS: ReadonlySet<string> = new Set(['slice_type', 'array_type', 'implicit_length_array_type', 'channel_type'])

export const GO: LinkedLanguage = {
  scopes: new Set(
    `function_declaration method_declaration func_literal function_type method_elem block for_statement if_statement
     expression_switch_statement type_switch_statement expression_case type_case default_case communication_case`.split(
      /\s+/,
    ),
  ),

  self: () => null,

  declare(file, node, kind) {
    const { tree } = file
    const scope = file.scope(node)
    switch (kind) {
      case 'import_spec':
        declareImport(file, node)
        return
      case 'function_declaration':
        declareTop(file, tree.child(node, 'name'), file.file.keyOf(node))
        return
      case 'type_spec':
      case 'type_alias':
      case 'const_spec':
        for (const name of namesOf(file, node)) declareTop(file, name, file.file.keyOf(node))
        return
      case 'type_parameter_declaration':
        for (const name of namesOf(file, node)) scope.declare(file.text(name), null)
        return
      case 'parameter_declaration':
      case 'variadic_parameter_declaration': {
        const type = tree.child(node, 'type')
        const meaning: Meaning = kind === 'parameter_declaration' ? { type } : null
        for (const name of namesOf(file, node)) scope.declare(file.text(name), meaning)
        return
      }
      case 'var_spec':
        declareVariables(file, node)
        return
      case 'short_var_declaration':
        assign(file, tree.parts(tree.child(node, 'left')), tree.parts(tree.child(node, 'right')), scope, true)
        return
      case 'range_clause':
        declareRange(file, node)
        return
      case 'receive_statement':
        for (const name of tree.parts(tree.child(node, 'left'))) scope.declare(file.text(name), null)
        return
      case 'type_switch_statement':
        for (const name of tree.parts(tree.child(node, 'alias'))) scope.declare(file.text(name), null)
        return
    }
  },

  value(file, node, depth) {
    const { tree } = file
    switch (tree.kind(node)) {
      case 'identifier':
        return named(file, node, depth)
      case 'parenthesized_expression':
        return file.value(file.file.inside(node), depth)
      case 'unary_expression':
        return /^[&*]$/.test(file.text(tree.child(node, 'operator')))
          ? file.value(tree.child(node, 'operand'), depth)
          : null
      case 'selector_expression':
        return selected(file, tree.child(node, 'operand'), file.text(tree.child(node, 'field')), depth)
      case 'call_expression':
        return called(file, node, depth)
      case 'composite_literal':
      case 'type_assertion_expression':
        return file.type(tree.child(node, 'type'), depth)
      case 'index_expression':
        return step(file.value(tree.child(node, 'operand'), depth), 'element')
      case 'slice_expression':
        return file.value(tree.child(node, 'operand'), depth)
      default:
        return null
    }
  },

  type(file, node, depth) {
    const { tree } = file
    const kind = tree.kind(node)
    if (LISTS.has(kind))
      return step(file.type(tree.child(node, kind === 'channel_type' ? 'value' : 'element'), depth), 'list')
    switch (kind) {
      case 'type_identifier':
      case 'qualified_type':
        return instance(typeSymbol(file, node))
      case 'pointer_type':
      case 'parenthesized_type':
        return file.type(file.file.inside(node), depth)
      case 'generic_type':
        return file.type(tree.child(node, 'type'), depth)
      case 'map_type':
        return step(file.type(tree.child(node, 'value'), depth), 'map')
      default:
        return null
    }
  },

  refer(file, node, kind) {
    const { tree } = file
    if (kind === 'type_conversion_expression') {
      // With type arguments, a call looks like a conversion.
      const type = tree.child(node, 'type')
      if (tree.kind(type) === 'generic_type') refer(file, node, typeSymbol(file, tree.child(type, 'type')))
      return
    }
    if (kind !== 'call_expression') return
    let callee = tree.child(node, 'function')
    while (tree.kind(callee) === 'parenthesized_expression') callee = file.file.inside(callee)
    if (tree.kind(callee) === 'index_expression') callee = tree.child(callee, 'operand')
    const calleeKind = tree.kind(callee)
    if (calleeKind === 'selector_expression' || (calleeKind === 'identifier' && !file.isVariable(callee))) {
      refer(file, node, file.value(callee))
    }
  },

  share(file) {
    const { draft, declared } = file.file
    const packageName = file.tree.childOf(0, 'package_clause')
    draft.packageName = file
      .text(packageName)
      .replace(/^package\s+/, '')
      .trim()
    for (const [node, key] of declared) shareOne(file, node, key)
    for (const [name, meaning] of file.top.own) {
      // Variables: they are no concepts, but have a type.
      if (meaning !== null && !('ref' in meaning)) file.export(name, file.meaning(meaning, 0))
    }
  },
}

/** A type that is called is a conversion. */
function refer(file: LinkedFile, node: Node, target: Reference | null): void {
  const isCall = target === null || !('local' in target) || /^(?:Function|Method) /.test(target.local)
  file.refer(node, isCall ? 'CALLS' : 'USES', target)
}

function shareOne(file: LinkedFile, node: Node, key: string): void {
  const { tree } = file
  const kind = tree.kind(node)
  const isTop = /^(?:source_file|type_declaration|const_declaration)$/.test(tree.kind(tree.parent(node)))
  if (kind === 'function_declaration' || kind === 'method_declaration') {
    const returns = resultOf(file, node)
    if (returns !== null) file.shape(key, { returns })
  }
  if (kind === 'method_declaration') {
    const name = file.text(tree.child(node, 'name'))
    const type = receiverType(file, node)
    const owner = type === null ? undefined : file.file.types.get(type)
    if (owner !== undefined) file.shape(owner, { members: { [name]: { local: key } } })
    if (type !== null) file.export(`${type}.${name}`, { local: key })
  } else if (kind === 'function_declaration') {
    const name = file.text(tree.child(node, 'name'))
    // A package may have any number of these, and nobody can call them.
    if (name !== 'init' && name !== '_') file.export(name, { local: key })
  } else if (isTop) {
    for (const name of namesOf(file, node)) file.export(file.text(name), { local: key })
    if (kind === 'type_spec') shareType(file, node, key)
  }
}

function shareType(file: LinkedFile, node: Node, key: string): void {
  const { tree } = file
  const type = tree.child(node, 'type')
  const members: Record<string, Reference> = {}
  const bases: Reference[] = []
  const parts = tree.kind(type) === 'struct_type' ? tree.childOf(type, 'field_declaration_list') : type
  for (const part of parts === NONE ? [] : tree.children(parts)) {
    const kind = tree.kind(part)
    if (kind === 'field_declaration') {
      const names = namesOf(file, part)
      const value = file.type(tree.child(part, 'type'))
      for (const name of names) if (value !== null) members[file.text(name)] = value
      const base = names.length > 0 ? null : typeSymbol(file, tree.child(part, 'type'))
      if (base !== null) bases.push(base)
    } else if (kind === 'method_elem') {
      const returns = step(resultOf(file, part), 'function')
      if (returns !== null) members[file.text(tree.child(part, 'name'))] = returns
    } else if (kind === 'type_elem' && tree.parts(part).length === 1) {
      const base = typeSymbol(file, file.file.inside(part))
      if (base !== null) bases.push(base)
    }
  }
  file.shape(key, { ...(Object.keys(members).length > 0 ? { members } : {}), ...(bases.length > 0 ? { bases } : {}) })
}

/** Of several results the first. */
function resultOf(file: LinkedFile, node: Node): Reference | null {
  const { tree } = file
  const result = tree.child(node, 'result')
  if (result === NONE) return null
  if (tree.kind(result) !== 'parameter_list') return file.type(result)
  const [first = NONE] = tree.parts(result)
  return file.type(tree.child(first, 'type'))
}

function receiverType(file: LinkedFile, node: Node): string | null {
  const { tree } = file
  const [receiver = NONE] = tree.parts(tree.child(node, 'receiver'))
  let type = tree.child(receiver, 'type')
  for (let at = 0; at < 3 && type !== NONE && tree.kind(type) !== 'type_identifier'; at++) {
    type = tree.kind(type) === 'generic_type' ? tree.child(type, 'type') : file.file.inside(type)
  }
  return type === NONE ? null : file.text(type)
}

function namesOf(file: LinkedFile, node: Node): Node[] {
  return [...file.tree.children(node)].filter(
    child => file.tree.field(child) === 'name' && !file.tree.kind(child).startsWith(':'),
  )
}

/** At the top of the file it is a name of the package; within a function nothing is known of it. */
function declareTop(file: LinkedFile, name: Node, key: string | undefined): void {
  if (name === NONE) return
  const outside = file.outside(file.tree.parent(name))
  const text = file.text(name)
  if (outside !== file.top) outside.declare(text, null)
  else if (text !== 'init' && key !== undefined) file.top.declare(text, { ref: { local: key } })
}

function declareImport(file: LinkedFile, node: Node): void {
  const { tree } = file
  const path = file.text(tree.child(node, 'path')).slice(1, -1)
  const alias = tree.child(node, 'name')
  const name = alias === NONE ? packageNameOf(path) : file.text(alias)
  if (name !== '.' && path !== '') file.top.declare(name, { ref: { module: path, name: null } })
}

/** By custom the last part of the path, but for a version. */
function packageNameOf(path: string): string {
  const parts = path.split('/')
  const last = parts.pop() ?? ''
  return /^v\d+$/.test(last) && parts.length > 0 ? (parts.pop() as string) : last.replace(/\.v\d+$/, '')
}

function declareVariables(file: LinkedFile, node: Node): void {
  const { tree } = file
  const type = tree.child(node, 'type')
  const scope = file.scope(node)
  const names = namesOf(file, node)
  if (type === NONE) assign(file, names, tree.parts(tree.child(node, 'value')), scope, false)
  else for (const name of names) scope.declare(file.text(name), { type })
}

/** `isAgain`: a name that the scope has already keeps its type. */
function assign(
  file: LinkedFile,
  names: readonly Node[],
  values: readonly Node[],
  scope: ReturnType<LinkedFile['scope']>,
  isAgain: boolean,
): void {
  for (const [at, name] of names.entries()) {
    const text = file.text(name)
    if (isAgain && scope.own.has(text)) continue
    const value = values.length === names.length ? values[at] : at === 0 ? values[0] : undefined
    scope.declare(text, value === undefined ? null : { value })
  }
}

function declareRange(file: LinkedFile, node: Node): void {
  const { tree } = file
  const scope = file.scope(node)
  const [first, second] = tree.parts(tree.child(node, 'left'))
  if (tree.childOf(node, '::=') === NONE) return
  if (first !== undefined) scope.declare(file.text(first), null)
  if (second !== undefined) scope.declare(file.text(second), { value: tree.child(node, 'right'), step: 'element' })
}

function named(file: LinkedFile, node: Node, depth: number): Reference | null {
  const name = file.text(node)
  const meaning = file.scope(node).find(name)
  return meaning === undefined ? { module: OWN_PACKAGE, name } : file.meaning(meaning, depth)
}

function selected(file: LinkedFile, operand: Node, field: string, depth: number): Reference | null {
  const of = file.value(operand, depth)
  if (of !== null && 'module' in of && of.name === null) return { module: of.module, name: field }
  return member(of, field)
}

function called(file: LinkedFile, node: Node, depth: number): Reference | null {
  const { tree } = file
  const callee = tree.child(node, 'function')
  const [first = NONE] = tree.parts(tree.child(node, 'arguments'))
  const isBuiltIn = /^(?:new|make)$/.test(file.text(callee)) && file.scope(callee).find(file.text(callee)) === undefined
  return isBuiltIn ? file.type(first, depth) : step(file.value(callee, depth), 'call')
}

/** The type itself. */
function typeSymbol(file: LinkedFile, node: Node, depth = 0): Reference | null {
  const { tree } = file
  if (depth > MAX_PARTS) return null
  const kind = tree.kind(node)
  if (kind === 'pointer_type') return typeSymbol(file, file.file.inside(node), depth + 1)
  if (kind === 'generic_type') return typeSymbol(file, tree.child(node, 'type'), depth + 1)
  if (kind === 'qualified_type') {
    const meaning = file.scope(node).find(file.text(tree.child(node, 'package')))
    const of = meaning === undefined || meaning === null || !('ref' in meaning) ? null : meaning.ref
    const name = file.text(tree.child(node, 'name'))
    return of !== null && 'module' in of ? { module: of.module, name } : null
  }
  if (kind !== 'type_identifier') return null
  const name = file.text(node)
  const meaning = file.scope(node).find(name)
  if (meaning === undefined) return { module: OWN_PACKAGE, name }
  return meaning !== null && 'ref' in meaning ? meaning.ref : null
}
