/** Reads Python: modules, classes, functions and methods. Docstrings and other strings declare nothing. */
import { isUndeclared, type Reference, type Shape } from '../concept.ts'
import type { Draft } from '../draft.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'
import { declareAll } from './declare.ts'
import { PythonFile } from './python-file.ts'
import { meaningOf, typeOf, valueAt } from './values.ts'

export function readPython(draft: Draft, tree: SyntaxTree): void {
  const file = new PythonFile(draft, tree)
  declareAll(file)
  file.eachNode((node, kind) => referNode(file, node, kind))
  for (const [node, key] of file.functions) shapeFunction(file, node, key)
  const properties = new Set<string>()
  for (const [node, key] of file.functions) {
    if (file.decorators(node).some(name => /property$/.test(name))) properties.add(key)
  }
  for (const [node, key] of file.classes) shapeClass(file, node, key, properties)
  shareMembers(file)
  for (const [name, meaning] of file.top.names) {
    const target = meaningOf(file, meaning, 0)
    if (target !== null && !isUndeclared(target)) draft.exports.set(name, target)
  }
}

function referNode(file: PythonFile, node: Node, kind: string): void {
  const { tree, draft } = file
  if (kind === 'call') {
    if (tree.kind(tree.parent(node)) === 'decorator') return
    const target =
      file.text(tree.child(node, 'function')) === 'super' ? null : valueAt(file, tree.child(node, 'function'))
    if (target !== null) draft.refer(file.owner(node), 'CALLS', target)
  } else if (kind === 'class_definition') {
    for (const base of basesOf(file, node)) draft.refer(file.classes.get(node) as string, 'EXTENDS', base)
  } else if (kind === 'decorator') {
    const inner = file.inside(node)
    const target = valueAt(file, tree.kind(inner) === 'call' ? tree.child(inner, 'function') : inner)
    if (target !== null) draft.refer(file.owner(node), 'USES', target)
  } else if (kind === 'identifier') use(file, node)
  else if (kind === 'string' && tree.kind(tree.parent(node)) === 'type') {
    const type = typeOf(file, node)
    if (type !== null && 'step' in type && type.step === 'instance') draft.refer(file.owner(node), 'USES', type.of)
  }
}

/** A class or function that is spoken of without being called. */
function use(file: PythonFile, node: Node): void {
  const { tree, draft } = file
  const field = tree.field(node)
  const kind = tree.kind(tree.parent(node))
  if (file.isDeclaring(node) || field === 'function' || field === 'attribute' || kind === 'decorator') return
  if (field === 'name' && kind === 'keyword_argument') return
  if (tree.kind(tree.parent(tree.parent(node))) === 'class_definition' && kind === 'argument_list') return
  const meaning = file.scope(node).find(file.text(node))
  if (meaning?.is !== 'concept' && (meaning?.is !== 'import' || meaning.name === null)) return
  const target = valueAt(file, node)
  if (target !== null) draft.refer(file.owner(node), 'USES', target)
}

function basesOf(file: PythonFile, node: Node): Reference[] {
  const { tree } = file
  const bases: Reference[] = []
  for (const part of tree.children(tree.child(node, 'superclasses'))) {
    const kind = tree.kind(part)
    const base = kind === 'subscript' ? tree.child(part, 'value') : part
    if (!/^(?:identifier|attribute)$/.test(tree.kind(base))) continue
    const target = valueAt(file, base)
    if (target !== null) bases.push(target)
  }
  return bases
}

function shapeFunction(file: PythonFile, node: Node, key: string): void {
  const { tree, draft } = file
  const annotation = tree.child(node, 'return_type')
  let returns = annotation === NONE ? null : typeOf(file, annotation)
  for (const statement of annotation === NONE ? tree.children(tree.child(node, 'body')) : []) {
    if (returns === null && tree.kind(statement) === 'return_statement') returns = valueAt(file, file.inside(statement))
  }
  if (returns !== null && !isUndeclared(returns)) draft.shapes.set(key, { ...draft.shapes.get(key), returns })
}

function shapeClass(file: PythonFile, node: Node, key: string, properties: ReadonlySet<string>): void {
  const members: [string, Reference][] = []
  for (const [name, meaning] of file.scope(node).names) {
    const method = meaningOf(file, meaning, 0)
    if (method === null || isUndeclared(method)) continue
    // To read a property is to call it.
    const isProperty = 'local' in method && properties.has(method.local)
    const member = isProperty ? file.draft.shapes.get(method.local)?.returns : method
    if (member !== undefined) members.push([name, member])
  }
  const bases = basesOf(file, node)
  const shape: Shape = { members: Object.fromEntries(members), ...(bases.length > 0 ? { bases } : {}) }
  file.draft.shapes.set(key, shape)
}

/** `self.x = …` in a method. */
function shareMembers(file: PythonFile): void {
  file.eachNode((node, kind) => {
    if (kind === 'assignment') shareMember(file, node)
  })
}

function shareMember(file: PythonFile, assignment: Node): void {
  const { tree, draft } = file
  const left = tree.child(assignment, 'left')
  const object = tree.child(left, 'object')
  if (tree.kind(left) !== 'attribute' || tree.kind(object) !== 'identifier') return
  const meaning = file.scope(object).find(file.text(object))
  if (meaning?.is !== 'self') return
  const name = file.text(tree.child(left, 'attribute'))
  const shape = draft.shapes.get(meaning.key)
  if (shape?.members !== undefined && Object.hasOwn(shape.members, name)) return
  const type = tree.child(assignment, 'type')
  const value = type === NONE ? valueAt(file, tree.child(assignment, 'right')) : typeOf(file, type)
  if (value === null || isUndeclared(value)) return
  draft.shapes.set(meaning.key, { ...shape, members: { ...shape?.members, [name]: value } })
}
