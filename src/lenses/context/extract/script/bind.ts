/** Binds the names of a pattern: `a`, `{ a, b: c = 1 }`, `[a, ...b]`. */
import { NONE, type Node } from '../syntax-tree.ts'
import { type Meaning, type Scope, UNKNOWN } from './scope.ts'
import type { ScriptFile } from './script-file.ts'

/** A pattern within more patterns than this binds nothing. */
const MAX_DEPTH = 20

/** `onName` is called for every name bound; a concept that it makes the owner of the name becomes its meaning. */
export function bindPattern(
  file: ScriptFile,
  pattern: Node,
  meaning: Meaning,
  scope: Scope,
  onName?: (leaf: Node) => string | null,
  depth = 0,
): void {
  if (pattern === NONE || depth > MAX_DEPTH) return
  const { tree } = file
  const within = (part: Node, partMeaning: Meaning): void =>
    bindPattern(file, part, partMeaning, scope, onName, depth + 1)
  switch (tree.kind(pattern)) {
    case 'identifier':
    case 'shorthand_property_identifier_pattern': {
      file.markDeclaring(pattern)
      const key = onName?.(pattern) ?? null
      scope.declare(file.text(pattern), key === null ? meaning : { is: 'concept', key }, 'value')
      return
    }
    case 'assignment_pattern':
    case 'object_assignment_pattern':
      within(tree.child(pattern, 'left'), meaning)
      return
    case 'rest_pattern':
      within(file.inside(pattern), UNKNOWN)
      return
    case 'array_pattern':
      for (const part of tree.children(pattern)) {
        if (!tree.kind(part).startsWith(':')) within(part, { is: 'element', of: meaning })
      }
      return
    case 'object_pattern':
      for (const part of tree.children(pattern)) bindProperty(part)
  }

  function bindProperty(part: Node): void {
    const kind = tree.kind(part)
    if (kind === 'pair_pattern') {
      const member = file.text(tree.child(part, 'key'))
      within(tree.child(part, 'value'), memberOf(meaning, member))
    } else if (kind === 'object_assignment_pattern') {
      within(part, memberOf(meaning, file.text(tree.child(part, 'left'))))
    } else if (kind === 'rest_pattern') {
      within(part, UNKNOWN)
    } else if (kind === 'shorthand_property_identifier_pattern') {
      within(part, memberOf(meaning, file.text(part)))
    }
  }
}

function memberOf(meaning: Meaning, member: string): Meaning {
  if (meaning.is === 'unknown') return UNKNOWN
  // A part of a module is what it exports by that name.
  if (meaning.is === 'import' && meaning.name === null) return { is: 'import', module: meaning.module, name: member }
  return { is: 'member', of: meaning, member }
}
