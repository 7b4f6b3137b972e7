/** Scopes of functions and the names of their parameters. */
import { NONE, type Node } from '../syntax-tree.ts'
import { bindPattern } from './bind.ts'
import { prefixOf } from './concepts.ts'
import { parameterType } from './jsdoc.ts'
import { type Meaning, type Self, UNKNOWN } from './scope.ts'
import type { ScriptFile } from './script-file.ts'

/** Opens the scope of a function. `self`: what `this` is within; undefined: as the kind of function has it. */
export function openFunction(file: ScriptFile, node: Node, self?: Self | null): void {
  const { tree } = file
  const isArrow = tree.kind(node) === 'arrow_function'
  const outer = file.scope(node)
  const key = file.functions.get(node)
  const prefix = key === undefined ? outer.prefix : prefixOf(key)
  const scope = outer.inner(true, prefix, self === undefined ? (isArrow ? outer.self : null) : self)
  file.openScope(node, scope)
  const single = tree.child(node, 'parameter')
  if (single !== NONE) {
    bindPattern(file, single, meaningOfArgument(file, node), scope)
    return
  }
  let at = 0
  for (const parameter of tree.children(tree.child(node, 'parameters'))) {
    const kind = tree.kind(parameter)
    if (kind.startsWith(':') || kind === 'comment') continue
    const pattern = tree.child(parameter, 'pattern')
    const meaning = meaningOfParameter(file, node, parameter, at)
    bindPattern(file, pattern === NONE ? parameter : pattern, meaning, scope)
    at++
  }
  const own = tree.kind(node) === 'function_expression' ? tree.child(node, 'name') : NONE
  if (own !== NONE) {
    file.markDeclaring(own)
    scope.declare(file.text(own), key === undefined ? UNKNOWN : { is: 'concept', key }, 'value')
  }
}

function meaningOfParameter(file: ScriptFile, fn: Node, parameter: Node, at: number): Meaning {
  const { tree } = file
  const type = tree.child(parameter, 'type')
  if (type !== NONE) return { is: 'typed', node: type }
  const written = parameterType(
    file,
    fn,
    file.text(tree.kind(parameter) === 'assignment_pattern' ? tree.child(parameter, 'left') : parameter),
  )
  if (written !== null) return { is: 'written', type: written, at: fn }
  const fallback = tree.child(parameter, tree.kind(parameter) === 'assignment_pattern' ? 'right' : 'value')
  if (fallback !== NONE) return { is: 'expression', node: fallback }
  return at === 0 ? meaningOfArgument(file, fn) : UNKNOWN
}

/** A function written right into the arguments of a call. */
function meaningOfArgument(file: ScriptFile, node: Node): Meaning {
  const list = file.tree.parent(node)
  if (file.tree.kind(list) !== 'arguments') return UNKNOWN
  return { is: 'argument', call: file.tree.parent(list) }
}
