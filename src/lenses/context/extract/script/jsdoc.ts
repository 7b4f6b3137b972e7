/** Types that JavaScript names in comments: `@param {Option[]} options`, `@returns {Promise<Command>}`, `@type {Help}`. */
import { docBefore } from '../comments.ts'
import type { Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { statementOf } from './concepts.ts'
import type { ScriptFile } from './script-file.ts'

const TYPEDEF = /@typedef\s*\{\s*import\(\s*['"]([^'"]{1,300})['"]\s*\)\.([\w$]+)\s*\}\s*([\w$]+)/g
const NAME = /^[\w$]+(?:\.[\w$]+)?$/
const MAX_DEPTH = 4

/** `{…}` behind `@param name`, null where there is none. */
export function parameterType(file: ScriptFile, fn: Node, name: string): string | null {
  const doc = commentOf(file, fn)
  if (!doc.includes('@param')) return null
  for (const [, type, named] of doc.matchAll(/@param\s*\{([^}\n]{1,200})\}\s*\[?([\w$]+)/g)) {
    if (named === name) return type ?? null
  }
  return null
}

export function returnType(file: ScriptFile, fn: Node): string | null {
  return /@returns?\s*\{([^}\n]{1,200})\}/.exec(commentOf(file, fn))?.[1] ?? null
}

/** `{…}` behind `@type` in the comment in front of the statement or field. */
export function valueType(file: ScriptFile, statement: Node): string | null {
  if (file.draft.language !== 'javascript') return null
  return /@type\s*\{([^}\n]{1,200})\}/.exec(docBefore(file.tree, statement))?.[1] ?? null
}

/** A type definition that imports declares a type in the whole file. */
export function declareTypedefs(file: ScriptFile, comment: string): void {
  if (file.draft.language !== 'javascript' || !comment.includes('@typedef')) return
  for (const [, module, name, local] of comment.matchAll(TYPEDEF)) {
    file.top.declare(local as string, { is: 'import', module: module as string, name: name as string }, 'type')
  }
}

/** A value of the type as written in a comment; null: nothing known. */
export function writtenType(file: ScriptFile, text: string, at: Node, depth = 0): Reference | null {
  const type = text.trim().replace(/^[?!]/, '').replace(/=$/, '')
  if (depth > MAX_DEPTH) return null
  const inner = (part: string): Reference | null => writtenType(file, part, at, depth + 1)
  if (type.includes('|') && !/[<(]/.test(type)) {
    return type.split('|').reduce<Reference | null>((found, part) => found ?? inner(part), null)
  }
  if (type.endsWith('[]')) return listOf(inner(type.slice(0, -2)))
  const [, wrapper, wrapped] = /^(Promise|Array|Set|Iterable)\.?<(.+)>$/.exec(type) ?? []
  if (wrapped !== undefined) return wrapper === 'Promise' ? inner(wrapped) : listOf(inner(wrapped))
  const [, module, exported] = /^import\(['"](.+?)['"]\)\.([\w$]+)$/.exec(type) ?? []
  if (module !== undefined) return { of: { module, name: exported as string }, step: 'instance' }
  return NAME.test(type) ? named(file, type, at) : null
}

function named(file: ScriptFile, type: string, at: Node): Reference | null {
  const [first = '', member] = type.split('.')
  const meaning = file.scope(at).type(first)
  const of: Reference | null =
    meaning?.is === 'concept'
      ? { local: meaning.key }
      : meaning?.is === 'import'
        ? { module: meaning.module, name: meaning.name }
        : null
  if (of === null) return null
  return { of: member === undefined ? of : { of, member }, step: 'instance' }
}

function listOf(of: Reference | null): Reference | null {
  return of === null ? null : { of, step: 'list' }
}

function commentOf(file: ScriptFile, fn: Node): string {
  const { tree } = file
  if (file.draft.language !== 'javascript' || fn === NONE) return ''
  const parent = tree.parent(fn)
  const kind = tree.kind(parent)
  if (kind === 'variable_declarator') return docBefore(tree, statementOf(file, tree.parent(parent)))
  if (kind === 'assignment_expression') return docBefore(tree, tree.parent(parent))
  return docBefore(tree, kind === 'pair' || kind === 'field_definition' ? parent : statementOf(file, fn))
}
