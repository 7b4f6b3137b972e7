/** Variables: functions and classes by the value they are given, constants by being exported, others as names alone. */
import { NONE, type Node } from '../syntax-tree.ts'
import { bindPattern } from './bind.ts'
import { addConcept, statementOf } from './concepts.ts'
import { FUNCTION_VALUES } from './kinds.ts'
import { requiredModule } from './required.ts'
import { type Meaning, type Scope, UNKNOWN } from './scope.ts'
import type { ScriptFile } from './script-file.ts'

export function declareVariable(file: ScriptFile, node: Node): void {
  const name = file.tree.child(node, 'name')
  if (file.tree.kind(name) === 'identifier') declareNamed(file, node, name)
  else declarePattern(file, node, name)
}

function declareNamed(file: ScriptFile, node: Node, name: Node): void {
  const { tree } = file
  const value = tree.child(node, 'value')
  const kind = tree.kind(value)
  const isFunction = FUNCTION_VALUES.has(kind)
  const isConcept =
    isFunction || kind === 'class' || (isConstant(file, node, name) && requiredModule(file, value) === null)
  const scope = scopeOf(file, node)
  if (!isConcept) {
    bindPattern(file, name, meaningOf(file, node), scope)
    return
  }
  file.markDeclaring(name)
  const type = isFunction ? 'Function' : kind === 'class' ? 'Class' : 'Constant'
  const key = addConcept(file, node, type, file.text(name), spanOf(file, node))
  if (type === 'Function') file.functions.set(value, key)
  else if (type === 'Class') file.classes.set(value, key)
  else file.constants.set(node, key)
  scope.declare(file.text(name), { is: 'concept', key }, type === 'Class' ? 'both' : 'value')
}

/** Every exported name of `export const { a, b } = …` is a constant. */
function declarePattern(file: ScriptFile, node: Node, pattern: Node): void {
  const onName = (leaf: Node): string | null =>
    isConstant(file, node, leaf) ? addConcept(file, leaf, 'Constant', file.text(leaf), spanOf(file, node)) : null
  const isRequired = requiredModule(file, file.tree.child(node, 'value')) !== null
  bindPattern(file, pattern, meaningOf(file, node), scopeOf(file, node), isRequired ? undefined : onName)
}

function meaningOf(file: ScriptFile, node: Node): Meaning {
  const type = file.tree.child(node, 'type')
  const value = file.tree.child(node, 'value')
  const module = requiredModule(file, value)
  if (module !== null) return { is: 'import', module, name: null }
  if (type !== NONE) return { is: 'typed', node: type }
  return value === NONE ? UNKNOWN : { is: 'expression', node: value }
}

function scopeOf(file: ScriptFile, node: Node): Scope {
  const isVar = file.tree.kind(file.tree.parent(node)) === 'variable_declaration'
  return isVar ? file.scope(node).functionScope : file.scope(node)
}

/** The statement, unless it declares more than this. */
function spanOf(file: ScriptFile, node: Node): Node {
  const statement = file.tree.parent(node)
  return file.tree.childOf(statement, ':,') === NONE ? statementOf(file, statement) : node
}

function isConstant(file: ScriptFile, node: Node, name: Node): boolean {
  const statement = file.tree.parent(node)
  if (file.tree.kind(file.tree.child(statement, 'kind')) !== ':const') return false
  if (file.tree.kind(statementOf(file, statement)) === 'export_statement') return true
  return scopeOf(file, node) === file.top && file.exportedNames.has(file.text(name))
}

export function declareLoopVariable(file: ScriptFile, node: Node): void {
  const right = file.tree.child(node, 'right')
  const isOf = file.tree.childOf(node, ':of') !== NONE
  if (file.tree.child(node, 'kind') === NONE) return
  const of = { is: 'expression', node: right } as const
  bindPattern(file, file.tree.child(node, 'left'), isOf ? { is: 'element', of } : UNKNOWN, file.scope(node))
}
