/** Rust: paths from the crate, the module or its parent, names that `use` brings, and members of types with their `impl`s. */
import { isUndeclared, type Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { instance, type LinkedFile, type LinkedLanguage, MAX_PARTS, member, type Names, step } from './linked.ts'

/** In front of names of types and modules: functions and variables have names of their own. */
const TYPE = 'type '
/** What `use …::*` brings, in a module. */
const GLOB = ' *'

const TYPES: ReadonlySet<string> = new Set('struct_item union_item enum_item trait_item type_item'.split(' '))
const FUNCTIONS: ReadonlySet<string> = new Set(['function_item', 'function_signature_item'])
const PATHS: ReadonlySet<string> = new Set(['scoped_identifier', 'scoped_type_identifier'])

export const RUST: LinkedLanguage = {
  scopes: new Set(
    `mod_item impl_item trait_item struct_item enum_item type_item function_item function_signature_item block
     closure_expression match_arm for_expression if_expression while_expression function_type`.split(/\s+/),
  ),

  isolates: kind => kind === 'mod_item',

  self(file, node, kind) {
    if (kind === 'impl_item') return symbolOf(file, file.tree.child(node, 'type'), file.outside(node)) ?? { name: '' }
    return TYPES.has(kind) ? localOf(file, node) : null
  },

  declare(file, node, kind) {
    const { tree } = file
    const scope = file.scope(node)
    const name = file.text(tree.child(node, 'name'))
    if (TYPES.has(kind) || kind === 'mod_item') {
      const outside = file.outside(node)
      const own = localOf(file, node)
      const isFile = kind === 'mod_item' && tree.child(node, 'body') === NONE
      outside.declare(
        TYPE + name,
        isFile ? { ref: { module: `./${name}`, name: null } } : own === null ? null : { ref: own },
      )
      const isTuple = kind === 'struct_item' && tree.kind(tree.child(node, 'body')) === 'ordered_field_declaration_list'
      if (isTuple && own !== null) outside.declare(name, { ref: own })
      return
    }
    if (FUNCTIONS.has(kind)) {
      const isMember = /^(?:impl_item|trait_item)$/.test(tree.kind(tree.parent(tree.parent(node))))
      const own = localOf(file, node)
      if (!isMember) file.outside(node).declare(name, own === null ? null : { ref: own })
      return
    }
    switch (kind) {
      case 'use_declaration':
        declareUse(file, tree.child(node, 'argument'), [], file.outside(node))
        return
      case 'const_item':
      case 'static_item': {
        const own = localOf(file, node)
        scope.declare(name, own === null ? { type: tree.child(node, 'type') } : { ref: own })
        return
      }
      case 'type_parameter':
        scope.declare(TYPE + name, null)
        return
      case 'parameter':
      case 'let_declaration':
        declarePattern(file, tree.child(node, 'pattern'), node, scope)
        return
      case 'for_expression':
      case 'let_condition':
        declarePattern(file, tree.child(node, 'pattern'), NONE, scope)
        return
      case 'match_arm':
        declarePattern(file, tree.child(node, 'pattern'), NONE, scope)
        return
      case 'closure_parameters':
        for (const part of tree.parts(node))
          if (tree.kind(part) !== 'parameter') declarePattern(file, part, NONE, scope)
        return
    }
  },

  value(file, node, depth) {
    const { tree } = file
    const kind = tree.kind(node)
    if (PATHS.has(kind)) return pathOf(file, node, file.scope(node))
    switch (kind) {
      case 'identifier':
        return named(file, node, depth)
      case 'self':
        return instance(file.scope(node).self)
      case 'field_expression':
        return member(file.value(tree.child(node, 'value'), depth), file.text(tree.child(node, 'field')))
      case 'call_expression':
        return step(file.value(tree.child(node, 'function'), depth), 'call')
      case 'generic_function':
        return file.value(tree.child(node, 'function'), depth)
      case 'struct_expression':
        return file.type(tree.child(node, 'name'), depth)
      case 'reference_expression':
        return file.value(tree.child(node, 'value'), depth)
      case 'parenthesized_expression':
        return file.value(file.file.inside(node), depth)
      case 'type_cast_expression':
        return file.type(tree.child(node, 'type'), depth)
      default:
        return null
    }
  },

  type(file, node, depth) {
    const { tree } = file
    switch (tree.kind(node)) {
      case 'reference_type':
        return file.type(tree.child(node, 'type'), depth)
      case 'dynamic_type':
      case 'abstract_type':
        return file.type(tree.child(node, 'trait'), depth)
      default:
        return instance(symbolOf(file, node, file.scope(node)))
    }
  },

  refer(file, node, kind) {
    const { tree } = file
    const callee = kind === 'call_expression' ? tree.child(node, 'function') : NONE
    if (callee !== NONE && !(tree.kind(callee) === 'identifier' && file.isVariable(callee))) {
      file.refer(node, 'CALLS', file.value(callee))
    }
    if (kind === 'impl_item') {
      const type = symbolOf(file, tree.child(node, 'type'), file.outside(node))
      const trait = symbolOf(file, tree.child(node, 'trait'), file.outside(node))
      if (type === null || trait === null || !('local' in type)) return
      file.file.draft.refer(type.local, 'IMPLEMENTS', trait)
      file.shape(type.local, { bases: [trait] })
    }
    if (kind === 'trait_item') for (const base of boundsOf(file, node)) file.refer(node, 'EXTENDS', base)
  },

  share(file) {
    const { tree } = file
    for (const [node, key] of file.file.declared) shareOne(file, node, key)
    for (const [name, meaning] of file.top.own) {
      if (name.startsWith(GLOB)) continue
      const plain = name.startsWith(TYPE) ? name.slice(TYPE.length) : name
      const target = meaning !== null && 'ref' in meaning ? meaning.ref : null
      const known = file.file.draft.exports.get(plain)
      // A tuple struct, and what `use` brings, is a name of both kinds.
      if (known === undefined || target === null || JSON.stringify(known) !== JSON.stringify(target))
        file.export(plain, target)
    }
    for (const node of tree.children(0))
      if (tree.kind(node) === 'use_declaration') dependOn(file, tree.child(node, 'argument'), [])
  },
}

function localOf(file: LinkedFile, node: Node): Reference | null {
  const key = file.file.keyOf(node)
  return key === undefined ? null : { local: key }
}

function shareOne(file: LinkedFile, node: Node, key: string): void {
  const { tree } = file
  const kind = tree.kind(node)
  if (FUNCTIONS.has(kind)) {
    const returns = file.type(tree.child(node, 'return_type'))
    if (returns !== null) file.shape(key, { returns })
    const above = tree.parent(tree.parent(node))
    const type =
      tree.kind(above) === 'impl_item' ? symbolOf(file, tree.child(above, 'type'), file.outside(above)) : null
    const owner = tree.kind(above) === 'trait_item' ? localOf(file, above) : type
    const name = file.text(tree.child(node, 'name'))
    if (owner !== null && 'local' in owner) file.shape(owner.local, { members: { [name]: { local: key } } })
  } else if (kind === 'const_item' || kind === 'static_item') {
    const value = file.type(tree.child(node, 'type'))
    if (value !== null) file.shape(key, { value })
  } else if (kind === 'mod_item') shareModule(file, node, key)
  else if (kind === 'trait_item') file.shape(key, { bases: boundsOf(file, node) })
  else if (kind === 'type_item') {
    const value = file.type(tree.child(node, 'type'))
    if (value !== null) file.shape(key, { value })
  } else if (kind === 'struct_item') {
    for (const field of tree.parts(tree.child(node, 'body'))) {
      const value = tree.kind(field) === 'field_declaration' ? file.type(tree.child(field, 'type')) : null
      const name = file.text(tree.child(field, 'name'))
      if (value !== null && file.file.draft.shapes.get(key)?.members?.[name] === undefined) {
        file.shape(key, { members: { [name]: value } })
      }
    }
  }
}

function shareModule(file: LinkedFile, node: Node, key: string): void {
  if (file.tree.child(node, 'body') === NONE) return
  const members: Record<string, Reference> = {}
  for (const [name, meaning] of file.scope(node).own) {
    const plain = name.startsWith(TYPE) ? name.slice(TYPE.length) : name
    const target = meaning !== null && 'ref' in meaning ? meaning.ref : null
    const isOther = Object.hasOwn(members, plain) && JSON.stringify(members[plain]) !== JSON.stringify(target)
    if (!name.startsWith(GLOB)) members[plain] = target === null || isOther ? { name: plain } : target
  }
  file.shape(key, { members })
}

function boundsOf(file: LinkedFile, node: Node): Reference[] {
  const bounds = file.tree.parts(file.tree.child(node, 'bounds'))
  return bounds.flatMap(bound => symbolOf(file, bound, file.outside(node)) ?? [])
}

/** `a::{b, c as d, e::*, self}`: each name that it brings; `front`: the path so far. */
function eachUse(
  file: LinkedFile,
  node: Node,
  front: readonly string[],
  take: (path: readonly string[], name: string) => void,
  depth = 0,
): void {
  const { tree } = file
  if (depth > MAX_PARTS) return
  switch (tree.kind(node)) {
    case 'scoped_use_list': {
      const path = [...front, ...partsOf(file, tree.child(node, 'path'))]
      for (const part of tree.parts(tree.child(node, 'list'))) eachUse(file, part, path, take, depth + 1)
      return
    }
    case 'use_list':
      for (const part of tree.parts(node)) eachUse(file, part, front, take, depth + 1)
      return
    case 'use_as_clause':
      take([...front, ...partsOf(file, tree.child(node, 'path'))], file.text(tree.child(node, 'alias')))
      return
    case 'use_wildcard':
      take([...front, ...partsOf(file, file.file.inside(node))], GLOB)
      return
    case 'self':
      if (front.length > 0) take(front, front.at(-1) as string)
      return
    case 'identifier':
    case 'scoped_identifier': {
      const path = [...front, ...partsOf(file, node)]
      take(path, path.at(-1) as string)
    }
  }
}

function partsOf(file: LinkedFile, node: Node): string[] {
  return node === NONE ? [] : file.text(node).replace(/\s/g, '').split('::').filter(Boolean)
}

function declareUse(file: LinkedFile, node: Node, front: readonly string[], scope: Names): void {
  eachUse(file, node, front, (path, name) => {
    // What it names may be declared further down.
    let isAsked = false
    const lazy = {
      get ref(): Reference {
        // `use log::log`: what it begins with is not what it brings.
        if (isAsked) return { name }
        isAsked = true
        const found = usedPath(file, path, scope) ?? { name }
        isAsked = false
        return found
      },
    }
    if (name === GLOB) {
      if (/^(?:crate|self|super)$/.test(path[0] as string)) scope.declare(`${GLOB}${path.join('::')}`, lazy)
      return
    }
    scope.declare(name, lazy)
    scope.declare(TYPE + name, lazy)
  })
}

function usedPath(file: LinkedFile, path: readonly string[], scope: Names): Reference | null {
  if (path.length > MAX_PARTS) return null
  const [first, ...rest] = path
  let of = first === undefined ? null : rootOf(file, first, scope, path.length > 1 ? path : null)
  let isUp = first === 'super'
  for (const part of rest) {
    if (isUp && part === 'super') of = aboveOf(file, of)
    else of = member(of, part)
    isUp = isUp && part === 'super'
  }
  return of
}

/** What a path begins with. `brings`: a `use`, which does not mean its own name. */
function rootOf(file: LinkedFile, first: string, scope: Names, brings: readonly string[] | null): Reference | null {
  const module = moduleAround(scope)
  if (first === 'crate') return { module: 'crate', name: null }
  if (first === 'self') return moduleRef(file, module)
  if (first === 'super')
    return module.parent === null ? { module: 'super', name: null } : moduleRef(file, moduleAround(module.parent))
  if (first === 'Self') return known(scope.self)
  const meaning = brings?.at(-1) === first && brings.length === 1 ? undefined : scope.find(TYPE + first)
  if (meaning !== undefined) return meaning !== null && 'ref' in meaning ? known(meaning.ref) : null
  return byGlob(module, first)
}

/** A module above that of a file. */
function aboveOf(file: LinkedFile, of: Reference | null): Reference | null {
  if (of === null) return null
  if ('module' in of) return { module: `${of.module}::super`, name: null }
  if ('local' in of && of.local === file.file.draft.fileKey) return { module: 'super', name: null }
  return null
}

function moduleAround(scope: Names): Names {
  let at = scope
  while (at.outer !== null) at = at.outer
  return at
}

function moduleRef(file: LinkedFile, module: Names): Reference | null {
  if (module === file.top) return { local: file.file.draft.fileKey }
  return module.node === NONE ? null : localOf(file, module.node)
}

/** By the first `use …::*` of the crate: two that bring one name would be refused. */
function byGlob(module: Names, name: string): Reference | null {
  for (const [from, meaning] of module.own) {
    if (from.startsWith(GLOB) && meaning !== null && 'ref' in meaning) return member(known(meaning.ref), name)
  }
  return null
}

function named(file: LinkedFile, node: Node, depth: number): Reference | null {
  const name = file.text(node)
  const scope = file.scope(node)
  const meaning = scope.find(name)
  return meaning === undefined ? byGlob(moduleAround(scope), name) : file.meaning(meaning, depth)
}

function pathOf(file: LinkedFile, node: Node, scope: Names, parts = 0): Reference | null {
  const { tree } = file
  const path = tree.child(node, 'path')
  if (parts > MAX_PARTS) return null
  const name = file.text(tree.child(node, 'name'))
  if (path === NONE) return null
  const kind = tree.kind(path)
  const of = PATHS.has(kind) ? pathOf(file, path, scope, parts + 1) : startOf(file, path, scope)
  return name === 'super' ? aboveOf(file, of) : member(of, name)
}

function startOf(file: LinkedFile, node: Node, scope: Names): Reference | null {
  const kind = file.tree.kind(node)
  if (kind === 'generic_type') return symbolOf(file, node, scope)
  return /^(?:identifier|type_identifier|crate|self|super)$/.test(kind)
    ? rootOf(file, file.text(node), scope, null)
    : null
}

/** The type or trait itself. */
function symbolOf(file: LinkedFile, node: Node, scope: Names): Reference | null {
  if (node === NONE) return null
  const { tree } = file
  switch (tree.kind(node)) {
    case 'type_identifier':
    case 'identifier':
      return rootOf(file, file.text(node), scope, null)
    case 'generic_type':
      return symbolOf(file, tree.child(node, 'type'), scope)
    case 'scoped_type_identifier':
    case 'scoped_identifier':
      return pathOf(file, node, scope)
    default:
      return null
  }
}

/** `typed`: the node that may have a type or a value for the whole pattern. */
function declarePattern(file: LinkedFile, pattern: Node, typed: Node, scope: Names): void {
  if (pattern === NONE) return
  const { tree } = file
  const type = typed === NONE ? NONE : tree.child(typed, 'type')
  const value = typed === NONE ? NONE : tree.child(typed, 'value')
  if (tree.kind(pattern) === 'identifier' && typed !== NONE) {
    scope.declare(file.text(pattern), type !== NONE ? { type } : value !== NONE ? { value } : null)
    return
  }
  for (let at = pattern; at < tree.until(pattern); at++) {
    const kind = tree.kind(at)
    if (PATHS.has(kind) || kind === 'generic_type') at = tree.until(at) - 1
    else if (/^(?:identifier|shorthand_field_identifier)$/.test(kind) && tree.field(at) !== 'type')
      scope.own.set(file.text(at), null)
  }
}

function dependOn(file: LinkedFile, node: Node, front: readonly string[]): void {
  const { draft } = file.file
  eachUse(file, node, front, path => {
    for (const end of [path.length - 1, path.length]) {
      const of = /^(?:crate|self|super)$/.test(path[0] as string) ? usedPath(file, path.slice(0, end), file.top) : null
      if (of !== null && !isUndeclared(of) && !('local' in of)) draft.refer(draft.fileKey, 'DEPENDS_ON', of)
    }
  })
}

function known(reference: Reference | null): Reference | null {
  return reference === null || isUndeclared(reference) ? null : reference
}
