/** What an expression or a type of Python stands for. */
import { isUndeclared, type Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { PythonFile } from './python-file.ts'
import type { Meaning } from './scope.ts'

const MAX_DEPTH = 24
const LISTS = /^(?:[Ll]ist|[Ss]et|[Tt]uple|[Ff]rozen[Ss]et|Sequence|Iterable|Iterator|Collection|Generator|deque)$/
const MAPS = /^(?:[Dd]ict|Mapping|MutableMapping|OrderedDict|defaultdict)$/
const WRAPPERS = /^(?:Optional|Union|Annotated|Final|ClassVar|Awaitable|Coroutine|Type|type)$/

/** Null: nothing known. */
export function valueAt(file: PythonFile, node: Node, depth = 0): Reference | null {
  if (node === NONE || depth > MAX_DEPTH) return null
  const { tree } = file
  const inner = (child: Node): Reference | null => valueAt(file, child, depth + 1)
  switch (tree.kind(node)) {
    case 'identifier': {
      const name = file.text(node)
      const meaning = file.scope(node).find(name)
      if (meaning !== null) return meaningOf(file, meaning, depth + 1)
      // It may come with a star from another module.
      return file.draft.stars.size === 0 ? { name } : { of: { local: file.draft.fileKey }, member: name }
    }
    case 'attribute': {
      const of = inner(tree.child(node, 'object'))
      return of === null || isUndeclared(of) ? null : { of, member: file.text(tree.child(node, 'attribute')) }
    }
    case 'call': {
      const callee = tree.child(node, 'function')
      if (file.text(callee) === 'super') return superOf(file, node)
      const of = inner(callee)
      return of === null || isUndeclared(of) ? null : { of, step: 'call' }
    }
    case 'await':
    case 'parenthesized_expression':
    case 'conditional_expression':
    case 'boolean_operator':
    case 'as_pattern':
      return inner(file.inside(node))
    case 'named_expression':
      return inner(tree.child(node, 'value'))
    case 'assignment':
      return inner(tree.child(node, 'right'))
    case 'subscript':
      return wrap(inner(tree.child(node, 'value')), 'element')
    case 'list':
    case 'tuple':
    case 'set':
      return wrap(inner(file.inside(node)), 'list')
    default:
      return null
  }
}

/** A value of the annotated type. */
export function typeOf(file: PythonFile, node: Node, depth = 0): Reference | null {
  if (node === NONE || depth > MAX_DEPTH) return null
  const { tree } = file
  const inner = (child: Node): Reference | null => typeOf(file, child, depth + 1)
  switch (tree.kind(node)) {
    case 'type':
      return inner(file.inside(node))
    case 'identifier':
    case 'attribute':
      return instance(valueAt(file, node, depth + 1))
    case 'generic_type': {
      const name = file.text(file.inside(node))
      const parts = tree.parts(tree.childOf(node, 'type_parameter'))
      if (WRAPPERS.test(name)) return inner(parts[0] ?? NONE)
      if (LISTS.test(name)) return wrap(inner(parts[0] ?? NONE), 'list')
      if (MAPS.test(name)) return wrap(inner(parts[1] ?? NONE), 'map')
      return inner(file.inside(node))
    }
    case 'binary_operator':
    case 'union_type':
      return tree.parts(node).reduce<Reference | null>((found, part) => found ?? inner(part), null)
    case 'string':
      return written(file, node, file.text(tree.childOf(node, 'string_content')))
    default:
      return null
  }
}

export function meaningOf(file: PythonFile, meaning: Meaning, depth: number): Reference | null {
  if (depth > MAX_DEPTH) return null
  switch (meaning.is) {
    case 'concept':
      return { local: meaning.key }
    case 'import':
      return { module: meaning.module, name: meaning.name }
    case 'self':
      return { of: { local: meaning.key }, step: 'instance' }
    case 'typed':
      return typeOf(file, meaning.node, depth + 1)
    case 'expression':
      return valueAt(file, meaning.node, depth + 1)
    case 'element':
      return wrap(valueAt(file, meaning.node, depth + 1), 'element')
    default:
      return null
  }
}

function superOf(file: PythonFile, node: Node): Reference | null {
  const key = file.scope(node).classKey
  return key === null ? null : { of: { of: { local: key }, step: 'instance' }, member: 'super' }
}

/** `"Base"`, `"module.Base | None"` */
function written(file: PythonFile, node: Node, text: string): Reference | null {
  for (const part of text.split('|')) {
    const [, list, name] = /^\s*(?:(?:[Oo]ptional|([Ll]ist|Sequence))\[)?\s*([\w.]+)/.exec(part) ?? []
    const [first = '', ...members] = (name ?? '').split('.')
    const meaning = first === '' || first === 'None' ? null : file.scope(node).find(first)
    if (meaning === null || (meaning.is !== 'concept' && meaning.is !== 'import')) continue
    const symbol = members.reduce<Reference | null>(
      (of, member) => (of === null ? null : { of, member }),
      meaningOf(file, meaning, 0),
    )
    return list === undefined ? instance(symbol) : wrap(instance(symbol), 'list')
  }
  return null
}

function instance(of: Reference | null): Reference | null {
  return of === null || isUndeclared(of) ? null : { of, step: 'instance' }
}

function wrap(of: Reference | null, step: 'list' | 'map' | 'element'): Reference | null {
  return of === null || isUndeclared(of) ? null : { of, step }
}
