/**
 * Rules for linking names in Rust: paths that begin at the crate, the module or its parent; names imported by `use`; and members of types
 * from their `impl` blocks.
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
  rules,
  type Scope,
  TYPE,
  words,
} from './code-file.ts'
import type { Reference } from './concept.ts'
import type { DefinitionsFile, Linked } from './definitions.ts'
import { NONE, type Node } from './grammars.ts'

/** Prefix of the names under which a module's scope keeps what `use …::*` imports. */
const GLOB = ' *'

const TYPES = 'struct_item union_item enum_item trait_item type_item'
const IS_TYPE: ReadonlySet<string> = new Set(words(TYPES))

export const RUST: Linked = {
  scopes: new Set(
    words(`mod_item impl_item trait_item struct_item enum_item type_item function_item function_signature_item block
      closure_expression match_arm for_expression if_expression while_expression function_type`),
  ),
  isolated: 'mod_item',

  declares: byKind({
    [`${TYPES} mod_item`]: declareType,
    'function_item function_signature_item': (file, node) => {
      const isMember = /^(?:impl_item|trait_item)$/.test(file.kind(file.parent(file.parent(node))))
      if (!isMember) file.outside(node).declareOnce(file.textAt(node, 'name'), meant(file.local(node)))
    },
    use_declaration: (file, node) => declareUse(file, file.child(node, 'argument'), file.outside(node)),
    'const_item static_item': (file, node) => {
      const meaning = meant(file.local(node)) ?? { type: file.child(node, 'type') }
      file.scope(node).declareOnce(file.textAt(node, 'name'), meaning)
    },
    type_parameter: (file, node) => file.scope(node).declareOnce(TYPE + file.textAt(node, 'name'), null),
    'parameter let_declaration': (file, node) => {
      const pattern = file.child(node, 'pattern')
      if (file.kind(pattern) === 'identifier') binds('pattern', { type: 'type', value: 'value' })(file, node)
      else hideNames(file, pattern, node)
    },
    'for_expression let_condition match_arm': (file, node) => hideNames(file, file.child(node, 'pattern'), node),
    closure_parameters: (file, node) => {
      for (const part of file.parts(node)) if (file.kind(part) !== 'parameter') hideNames(file, part, node)
    },
  }),

  values: rules<DefinitionsFile>({
    'scoped_identifier scoped_type_identifier': (file, node, depth) => file.symbol(node, depth),
    identifier: (file, node, depth) => {
      const name = file.text(node)
      const scope = file.scope(node)
      const meaning = scope.find(name)
      return known(meaning === undefined ? byGlob(moduleAround(scope), name) : file.meaning(meaning, depth))
    },
    self: (file, node) => instance(selfIn(file, file.scope(node))),
    field_expression: 'member value field',
    call_expression: 'call function',
    generic_function: 'value function',
    struct_expression: 'type name',
    reference_expression: 'value value',
    parenthesized_expression: 'value',
    type_cast_expression: 'type type',
  }),

  types: rules<DefinitionsFile>({
    reference_type: 'type type',
    'dynamic_type abstract_type': 'type trait',
    'type_identifier identifier generic_type scoped_type_identifier scoped_identifier': 'instance',
  }),

  symbols: rules<DefinitionsFile>({
    'type_identifier identifier crate self super': (file, node) => rootOf(file, file.text(node), file.scope(node)),
    generic_type: 'symbol type',
    'scoped_type_identifier scoped_identifier': (file, node, depth) => {
      const of = file.symbol(file.child(node, 'path'), depth)
      const name = file.textAt(node, 'name')
      return name === 'super' ? aboveOf(file, of) : member(of, name)
    },
  }),

  refers: byKind({
    call_expression: (file, node) => {
      const callee = file.child(node, 'function')
      const isVariable = file.kind(callee) === 'identifier' && file.isVariable(callee)
      if (!isVariable) file.refer(node, 'CALLS', known(file.value(callee)))
    },
    impl_item: (file, node) => {
      const [type, trait] = [file.symbol(file.child(node, 'type')), file.symbol(file.child(node, 'trait'))]
      if (type === null || trait === null || !('local' in type)) return
      file.draft.refer(type.local, 'IMPLEMENTS', trait)
      file.shape(type.local, { bases: [trait] })
    },
    trait_item: (file, node) => {
      for (const base of boundsOf(file, node)) file.refer(node, 'EXTENDS', base)
    },
  }),

  share(file: DefinitionsFile) {
    // Methods are recorded before fields, so that a method takes precedence over a field with an equal name.
    for (const isField of [false, true]) {
      for (const [node, key] of file.declared) {
        if ((file.kind(node) === 'struct_item') === isField) shareOne(file, node, key)
      }
    }
    for (const [name, target] of shared(file.top)) file.export(name, target)
    for (const node of file.children(0)) {
      if (file.kind(node) === 'use_declaration') dependOn(file, file.child(node, 'argument'))
    }
  },
}

function declareType(file: DefinitionsFile, node: Node): void {
  const outside = file.outside(node)
  const name = file.textAt(node, 'name')
  const body = file.child(node, 'body')
  const own = file.local(node)
  const isFile = file.kind(node) === 'mod_item' && body === NONE
  outside.declareOnce(TYPE + name, meant(isFile ? exported(`./${name}`, null) : own))
  const isTuple = file.kind(node) === 'struct_item' && file.kind(body) === 'ordered_field_declaration_list'
  if (isTuple && own !== null) outside.declareOnce(name, { ref: own })
}

/** The type that `Self` means in a scope: the one whose members are declared in it or in an enclosing scope. */
function selfIn(file: DefinitionsFile, scope: Scope): Reference | null {
  for (let at: Scope | null = scope; at !== null; at = at.frame.isIsolated ? null : at.outer) {
    const { node } = at.frame
    const kind = file.kind(node)
    if (kind === 'impl_item') return known(file.symbol(file.child(node, 'type')))
    const own = IS_TYPE.has(kind) ? file.local(node) : null
    if (own !== null) return own
  }
  return null
}

function shareOne(file: DefinitionsFile, node: Node, key: string): void {
  const kind = file.kind(node)
  const name = file.textAt(node, 'name')
  switch (kind) {
    case 'function_item':
    case 'function_signature_item': {
      const returns = file.type(file.child(node, 'return_type'))
      if (returns !== null) file.shape(key, { returns })
      const above = file.parent(file.parent(node))
      const isInTrait = file.kind(above) === 'trait_item'
      const isInType = file.kind(above) === 'impl_item'
      const type = isInType ? file.symbol(file.child(above, 'type')) : null
      const owner = isInTrait ? file.local(above) : type
      if (owner !== null && 'local' in owner) file.shape(owner.local, { members: { [name]: { local: key } } })
      return
    }
    case 'const_item':
    case 'static_item':
    case 'type_item': {
      const value = file.type(file.child(node, 'type'))
      if (value !== null) file.shape(key, { value })
      return
    }
    case 'mod_item':
      if (file.child(node, 'body') !== NONE) {
        const members = [...shared(file.scope(node))].map(([of, target]) => [of, target ?? { name: of }] as const)
        file.shape(key, { members: Object.fromEntries(members) })
      }
      return
    case 'trait_item':
      file.shape(key, { bases: boundsOf(file, node) })
      return
    case 'struct_item':
      for (const field of file.parts(file.child(node, 'body'))) {
        const value = file.kind(field) === 'field_declaration' ? file.type(file.child(field, 'type')) : null
        if (value !== null) file.shape(key, { members: { [file.textAt(field, 'name')]: value } })
      }
  }
}

/** What a Rust module exports, by name; null for a name that is declared as a type and as a value which differ. */
function shared({ own }: Scope): ReadonlyMap<string, Reference | null> {
  const found = new Map<string, Reference | null>()
  for (const [name, meaning] of own) {
    if (name.startsWith(GLOB)) continue
    const plain = name.startsWith(TYPE) ? name.slice(TYPE.length) : name
    const target = meaning !== null && 'ref' in meaning ? meaning.ref : null
    const before = found.get(plain)
    // A tuple struct, and a `use`, declare both a type and a value of one name; where both refer to one declaration, the name is certain.
    const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(target)
    found.set(plain, isOther ? null : target)
  }
  return found
}

function boundsOf(file: DefinitionsFile, node: Node): Reference[] {
  return file.all(node, 'bounds*').flatMap(bound => file.symbol(bound) ?? [])
}

/** Calls a function for each name that a `use` statement imports, as in `a::{b, c as d, e::*, self}`. `front`: the path read so far. */
function eachUse(
  file: DefinitionsFile,
  node: Node,
  take: (path: readonly string[], name: string) => void,
  front: readonly string[] = [],
  depth = 0,
): void {
  if (depth > MAX_PARTS) return
  const path = (part: Node): string[] => {
    const names = part === NONE ? [] : file.text(part).replace(/\s/g, '').split('::').filter(Boolean)
    return [...front, ...names]
  }
  switch (file.kind(node)) {
    case 'scoped_use_list': {
      const within = path(file.child(node, 'path'))
      for (const part of file.parts(file.child(node, 'list'))) eachUse(file, part, take, within, depth + 1)
      return
    }
    case 'use_list':
      for (const part of file.parts(node)) eachUse(file, part, take, front, depth + 1)
      return
    case 'use_as_clause':
      take(path(file.child(node, 'path')), file.textAt(node, 'alias'))
      return
    case 'use_wildcard':
      take(path(file.inside(node)), GLOB)
      return
    case 'self':
      if (front.length > 0) take(front, front.at(-1) as string)
      return
    case 'identifier':
    case 'scoped_identifier':
      take(path(node), path(node).at(-1) as string)
  }
}

function declareUse(file: DefinitionsFile, node: Node, scope: Scope): void {
  eachUse(file, node, (path, name) => {
    // The path is resolved on first use, since it may name something that is declared later in the file.
    let isResolving = false
    const lazy = {
      get ref(): Reference {
        // In `use log::log`, the first `log` does not mean the imported name; this check stops an endless recursion.
        if (isResolving) return { name }
        isResolving = true
        const found = usedPath(file, path, scope) ?? { name }
        isResolving = false
        return found
      },
    }
    if (name !== GLOB) {
      scope.declareOnce(name, lazy)
      scope.declareOnce(TYPE + name, lazy)
    } else if (/^(?:crate|self|super)$/.test(path[0] as string)) {
      scope.declareOnce(`${GLOB}${path.join('::')}`, lazy)
    }
  })
}

function dependOn(file: DefinitionsFile, node: Node): void {
  const { draft } = file
  eachUse(file, node, path => {
    for (const end of [path.length - 1, path.length]) {
      const isOwn = /^(?:crate|self|super)$/.test(path[0] as string)
      const of = isOwn ? known(usedPath(file, path.slice(0, end), file.top)) : null
      if (of !== null && !('local' in of)) draft.refer(draft.fileKey, 'DEPENDS_ON', of)
    }
  })
}

function usedPath(file: DefinitionsFile, path: readonly string[], scope: Scope): Reference | null {
  const [first, ...rest] = path
  if (first === undefined || path.length > MAX_PARTS) return null
  let of = rootOf(file, first, scope)
  let isUp = first === 'super'
  for (const part of rest) {
    isUp = isUp && part === 'super'
    of = isUp ? aboveOf(file, of) : member(of, part)
  }
  return of
}

/** What the first part of a Rust path refers to: the crate, a module, its parent, or a name in scope. */
function rootOf(file: DefinitionsFile, first: string, scope: Scope): Reference | null {
  const module = moduleAround(scope)
  if (first === 'crate') return { module: 'crate', name: null }
  if (first === 'self') return moduleRef(file, module)
  if (first === 'super')
    return module.outer === null ? { module: 'super', name: null } : moduleRef(file, moduleAround(module.outer))
  if (first === 'Self') return selfIn(file, scope)
  const meaning = scope.find(TYPE + first)
  if (meaning !== undefined) return meaning !== null && 'ref' in meaning ? known(meaning.ref) : null
  return byGlob(module, first)
}

/** Reference to the parent module of a module. */
function aboveOf(file: DefinitionsFile, of: Reference | null): Reference | null {
  if (of === null) return null
  if ('module' in of) return exported(`${of.module}::super`, null)
  return 'local' in of && of.local === file.draft.fileKey ? { module: 'super', name: null } : null
}

function moduleAround(scope: Scope): Scope {
  let at = scope
  while (at.outer !== null && !at.frame.isIsolated) at = at.outer
  return at
}

function moduleRef(file: DefinitionsFile, module: Scope): Reference | null {
  return module === file.top ? { local: file.draft.fileKey } : file.local(module.frame.node)
}

/**
 * What a name refers to through `use …::*`: the first import that has the name counts. The compiler refuses programs where two such imports
 * give different meanings to a name in use.
 */
function byGlob(module: Scope, name: string): Reference | null {
  for (const [from, meaning] of module.own) {
    if (from.startsWith(GLOB) && meaning !== null && 'ref' in meaning) return member(known(meaning.ref), name)
  }
  return null
}

/** Declares the names in a pattern with an unknown meaning, so that they hide outer names. */
function hideNames(file: DefinitionsFile, pattern: Node, at: Node): void {
  for (let node = pattern; node < file.until(pattern); node++) {
    const kind = file.kind(node)
    if (/^(?:scoped_identifier|scoped_type_identifier|generic_type)$/.test(kind)) node = file.until(node) - 1
    else if (/^(?:identifier|shorthand_field_identifier)$/.test(kind) && file.field(node) !== 'type')
      file.scope(at).own.set(file.text(node), null)
  }
}
