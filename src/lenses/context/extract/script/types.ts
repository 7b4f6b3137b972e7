/** What a type in a script says about a value of it. Generic types are followed only where they hold or wrap a value. */
import { isUndeclared, type Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { requiredModule } from './required.ts'
import type { Meaning } from './scope.ts'
import type { ScriptFile } from './script-file.ts'

/** How the reading of expressions serves the reading of types. */
export interface Values {
  value(node: Node, depth: number): Reference | null
  meaning(meaning: Meaning, depth: number): Reference | null
}

const WRAPPERS: ReadonlySet<string> = new Set(
  'Promise PromiseLike Awaited Readonly Partial Required NonNullable NoInfer Pick Omit'.split(' '),
)
const LISTS: ReadonlySet<string> = new Set(
  `Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator Generator AsyncIterable AsyncGenerator
   AsyncIterableIterator`.split(/\s+/),
)
const MAPS: ReadonlySet<string> = new Set('Map ReadonlyMap WeakMap Record'.split(' '))
/** A type nested deeper says nothing. */
const MAX_DEPTH = 24

/** A value of the type; null: nothing known. */
export function typeReference(file: ScriptFile, node: Node, values: Values, depth: number): Reference | null {
  if (node === NONE || depth > MAX_DEPTH) return null
  const { tree } = file
  const inner = (type: Node): Reference | null => typeReference(file, type, values, depth + 1)
  switch (tree.kind(node)) {
    case 'type_annotation':
    case 'parenthesized_type':
    case 'readonly_type':
    case 'constraint':
      return inner(file.inside(node))
    case 'type_identifier':
    case 'nested_type_identifier':
    case 'member_expression':
      return instanceOf(file, node, values, depth)
    case 'generic_type':
      return genericReference(file, node, values, depth)
    case 'array_type':
      return wrap(inner(file.inside(node)), 'list')
    case 'union_type':
    case 'intersection_type':
      return firstKnown(file, node, inner)
    case 'function_type':
      return wrap(inner(tree.child(node, 'return_type')), 'function')
    case 'type_query':
      return values.value(file.inside(node), depth + 1)
    case 'lookup_type':
      return lookup(file, node, inner)
    case 'this_type': {
      const { self } = file.scope(node)
      return self === null ? null : { of: { local: self.key }, step: 'instance' }
    }
    default:
      return null
  }
}

/** The class, interface or alias itself; null where the name is not one. */
export function typeSymbol(file: ScriptFile, node: Node, values: Values, depth: number): Reference | null {
  const { tree } = file
  switch (tree.kind(node)) {
    case 'type_identifier':
    case 'identifier': {
      const name = file.text(node)
      const meaning = file.scope(node).type(name) ?? null
      if (meaning === null) return { name }
      if (meaning.is === 'concept') return { local: meaning.key }
      return meaning.is === 'import' ? { module: meaning.module, name: meaning.name } : null
    }
    case 'generic_type':
      return typeSymbol(file, tree.child(node, 'name'), values, depth)
    case 'nested_type_identifier': {
      const of = values.value(tree.child(node, 'module'), depth + 1)
      return of === null ? null : { of, member: file.text(tree.child(node, 'name')) }
    }
    case 'member_expression': {
      const module = requiredModule(file, tree.child(node, 'object'))
      if (module !== null) return { module, name: file.text(tree.child(node, 'property')) }
      return values.value(node, depth + 1)
    }
    default:
      return null
  }
}

export function wrap(
  of: Reference | null,
  step: 'list' | 'map' | 'function' | 'call' | 'element' | 'instance',
): Reference | null {
  return of === null ? null : { of, step }
}

function instanceOf(file: ScriptFile, node: Node, values: Values, depth: number): Reference | null {
  const meaning = file.tree.kind(node) === 'type_identifier' ? file.scope(node).type(file.text(node)) : null
  if (meaning?.is === 'parameter') return typeReference(file, meaning.bound, values, depth + 1)
  const symbol = typeSymbol(file, node, values, depth)
  return symbol === null || isUndeclared(symbol) ? null : { of: symbol, step: 'instance' }
}

function genericReference(file: ScriptFile, node: Node, values: Values, depth: number): Reference | null {
  const name = file.tree.child(node, 'name')
  const text = file.text(name)
  if (file.scope(node).type(text) !== null) return instanceOf(file, name, values, depth)
  const types = file.tree.child(node, 'type_arguments')
  const parts = file.tree.parts(types)
  const part = (at: number): Reference | null => typeReference(file, parts[at] ?? NONE, values, depth + 1)
  if (WRAPPERS.has(text)) return part(0)
  if (LISTS.has(text)) return wrap(part(0), 'list')
  if (MAPS.has(text)) return wrap(part(1), 'map')
  return file.tree.kind(name) === 'type_identifier' ? null : instanceOf(file, name, values, depth)
}

/** `A | null`: A. Unions nest to the left, one level a part. */
function firstKnown(file: ScriptFile, node: Node, inner: (type: Node) => Reference | null): Reference | null {
  const parts: Node[] = []
  const kind = file.tree.kind(node)
  for (let at = node; at !== NONE; ) {
    const [left = NONE, right = NONE] = file.tree.parts(at)
    if (right !== NONE) parts.unshift(right)
    if (left !== NONE && file.tree.kind(left) !== kind) parts.unshift(left)
    at = left !== NONE && file.tree.kind(left) === kind && parts.length < 30 ? left : NONE
  }
  for (const part of parts) {
    const found = inner(part)
    if (found !== null) return found
  }
  return null
}

function lookup(file: ScriptFile, node: Node, inner: (type: Node) => Reference | null): Reference | null {
  const [object = NONE, index = NONE] = file.tree.parts(node)
  const of = inner(object)
  const member = file.stringOf(file.inside(index))
  if (of === null) return null
  return member === null ? { of, step: 'element' } : { of, member }
}
