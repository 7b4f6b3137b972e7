/** Functions and methods made by assignment: `exports.f = …`, `module.exports = { … }`, `A.prototype.m = function …`. */
import { NONE, type Node } from '../syntax-tree.ts'
import { addConcept, addMethod, memberName } from './concepts.ts'
import { FUNCTION_VALUES } from './kinds.ts'
import type { ScriptFile } from './script-file.ts'

export function declareAssignment(file: ScriptFile, node: Node): void {
  const { tree } = file
  const left = tree.child(node, 'left')
  const right = tree.child(node, 'right')
  if (tree.kind(left) !== 'member_expression') return
  const exported = exportedName(file, left)
  if (exported === null) {
    declareMember(file, left, right)
    return
  }
  if (exported === 'export=' && tree.kind(right) === 'object') {
    for (const part of tree.children(right)) declareProperty(file, part)
  } else declareValue(file, node, right, exported === 'export=' ? 'default' : exported)
}

/** `x` for `exports.x` and `module.exports.x`, `export=` for `module.exports`, else null. */
export function exportedName(file: ScriptFile, left: Node): string | null {
  const object = file.tree.child(left, 'object')
  const property = file.text(file.tree.child(left, 'property'))
  const kind = file.tree.kind(object)
  if (kind === 'identifier') {
    const name = file.text(object)
    if ((name === 'module' && property === 'exports') || name === 'exports') {
      return file.top.value(name) === null ? (name === 'module' ? 'export=' : property) : null
    }
    return null
  }
  return kind === 'member_expression' && exportedName(file, object) === 'export=' ? property : null
}

function declareProperty(file: ScriptFile, part: Node): void {
  const { tree } = file
  const kind = tree.kind(part)
  if (kind === 'pair') {
    declareValue(file, part, tree.child(part, 'value'), file.text(tree.child(part, 'key')))
    return
  }
  const name = kind === 'method_definition' ? memberName(file, part) : null
  if (name !== null) file.functions.set(part, addConcept(file, part, 'Function', name))
}

function declareValue(file: ScriptFile, node: Node, value: Node, name: string): void {
  const kind = file.tree.kind(value)
  const isFunction = FUNCTION_VALUES.has(kind)
  if (value === NONE || (!isFunction && kind !== 'class')) return
  const own = name === 'default' ? file.text(file.tree.child(value, 'name')) : ''
  const key = addConcept(file, node, isFunction ? 'Function' : 'Class', own || name)
  ;(isFunction ? file.functions : file.classes).set(value, key)
}

/** `A.prototype.m = function`, and `A.m = function` where `A` is a class or function in sight. */
function declareMember(file: ScriptFile, left: Node, right: Node): void {
  const { tree } = file
  if (tree.kind(right) === 'object') declarePrototype(file, left, right)
  if (!FUNCTION_VALUES.has(tree.kind(right))) return
  const object = tree.child(left, 'object')
  const isPrototype = file.text(tree.child(object, 'property')) === 'prototype'
  const holder = isPrototype ? tree.child(object, 'object') : object
  if (tree.kind(holder) !== 'identifier') return
  const meaning = file.scope(tree.parent(left)).value(file.text(holder))
  if (meaning?.is !== 'concept' || !/^(?:Class|Function) /.test(meaning.key)) return
  const name = file.text(tree.child(left, 'property'))
  const key = addMethod(file, tree.parent(left), meaning.key, name)
  file.functions.set(right, key)
  file.selves.set(right, { key: meaning.key, isStatic: !isPrototype })
}

/** `A.prototype = { m() {}, n: function () {} }` */
function declarePrototype(file: ScriptFile, left: Node, object: Node): void {
  const { tree } = file
  const holder = tree.child(left, 'object')
  if (file.text(tree.child(left, 'property')) !== 'prototype' || tree.kind(holder) !== 'identifier') return
  const meaning = file.scope(left).value(file.text(holder))
  if (meaning?.is !== 'concept' || !/^(?:Class|Function) /.test(meaning.key)) return
  for (const part of tree.children(object)) {
    const kind = tree.kind(part)
    const fn = kind === 'pair' ? tree.child(part, 'value') : part
    const name = kind === 'pair' ? file.text(tree.child(part, 'key')) : memberName(file, part)
    if (
      name === null ||
      name === 'constructor' ||
      !(kind === 'method_definition' || FUNCTION_VALUES.has(tree.kind(fn)))
    )
      continue
    file.functions.set(fn, addMethod(file, part, meaning.key, name))
    file.selves.set(fn, { key: meaning.key, isStatic: false })
  }
}
