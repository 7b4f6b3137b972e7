/** First pass over Python: scopes, imports, and a concept for every class, function and method. */
import { addCaveats } from '../comments.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { declareImport } from './imports.ts'
import type { PythonFile } from './python-file.ts'
import type { Meaning } from './scope.ts'

export function declareAll(file: PythonFile): void {
  file.eachNode((node, kind) => {
    file.enter(node)
    declareNode(file, node, kind)
  })
}

function declareNode(file: PythonFile, node: Node, kind: string): void {
  const { tree } = file
  switch (kind) {
    case 'class_definition':
      declareClass(file, node)
      break
    case 'function_definition':
      declareFunction(file, node)
      break
    case 'lambda':
      openLambda(file, node)
      break
    case 'import_statement':
    case 'import_from_statement':
      declareImport(file, node)
      break
    case 'assignment':
      declareAssignment(file, node)
      break
    case 'named_expression':
      bind(file, tree.child(node, 'name'), { is: 'expression', node: tree.child(node, 'value') })
      break
    case 'for_statement':
    case 'for_in_clause':
      bind(file, tree.child(node, 'left'), { is: 'element', node: tree.child(node, 'right') })
      break
    case 'as_pattern':
      declareAlias(file, node)
      break
    case 'comment':
      addCaveats(file.draft, file.text(node), tree.start(node), file.owner(node))
  }
}

function declareClass(file: PythonFile, node: Node): void {
  const name = file.text(file.tree.child(node, 'name'))
  const outer = file.scope(node)
  const key = addConcept(file, node, 'Class', name, outer.prefix + name)
  file.classes.set(node, key)
  outer.declare(name, { is: 'concept', key })
  file.openScope(node, outer.inner(`${outer.prefix}${name}.`, key, true))
}

function declareFunction(file: PythonFile, node: Node): void {
  const { tree, draft } = file
  const name = file.text(tree.child(node, 'name'))
  const outer = file.scope(node)
  const isMethod = outer.isClass && outer.classKey !== null
  const known = outer.names.get(name)
  let key: string
  if (known?.is === 'concept' && (isMethod ? known.key.startsWith('Method ') : file.overloads.has(known.key))) {
    // A property and its setter are one method, and overloads are one function.
    key = known.key
    const whole = file.decorated(node)
    draft.extend(key, tree.start(whole), tree.end(whole))
    file.openOwner(node, key)
  } else {
    const className = outer.prefix.slice(outer.prefix.lastIndexOf('.', outer.prefix.length - 2) + 1)
    key = addConcept(
      file,
      node,
      isMethod ? 'Method' : 'Function',
      isMethod ? className + name : name,
      outer.prefix + name,
    )
    outer.declare(name, { is: 'concept', key })
  }
  file.functions.set(node, key)
  if (file.decorators(node).some(name => /(?:^|\.)overload$/.test(name))) file.overloads.add(key)
  else file.overloads.delete(key)
  const classKey = isMethod ? outer.classKey : null
  file.openScope(node, outer.inner(`${outer.prefix}${name}.`, classKey ?? outer.classKey, false))
  bindParameters(file, node, classKey)
}

function openLambda(file: PythonFile, node: Node): void {
  const outer = file.scope(node)
  file.openScope(node, outer.inner(outer.prefix, outer.classKey, false))
  bindParameters(file, node, null)
}

function addConcept(
  file: PythonFile,
  node: Node,
  type: 'Class' | 'Function' | 'Method',
  name: string,
  qualifiedName: string,
): string {
  const { tree, draft } = file
  const whole = file.decorated(node)
  const body = tree.child(node, 'body')
  file.markDeclaring(tree.child(node, 'name'))
  const key = draft.add({
    type,
    name,
    qualifiedName,
    start: tree.start(whole),
    end: tree.end(whole),
    signature: tree.text
      .slice(tree.start(node), body === NONE ? tree.end(node) : tree.start(body))
      .replace(/:?\s*(?:#.*)?$/, ''),
    doc: docstring(file, body),
  })
  draft.place(key, file.ownerAbove(node))
  file.openOwner(node, key)
  // Decorators stand in front of the definition, within the same node.
  for (const part of tree.children(whole)) if (tree.kind(part) === 'decorator') openDecorator(file, part, key)
  return key
}

function openDecorator(file: PythonFile, decorator: Node, key: string): void {
  for (let node = decorator; node < file.tree.until(decorator); node++) file.openOwner(node, key)
}

function docstring(file: PythonFile, body: Node): string {
  const [first] = file.tree.children(body)
  const text = first === undefined ? NONE : file.tree.childOf(first, 'string')
  if (first === undefined || text === NONE || text !== first + 1) return ''
  const content = file.tree.childOf(text, 'string_content')
  return file
    .text(content)
    .replace(/\n[ \t]+/g, '\n')
    .trim()
}

function bindParameters(file: PythonFile, node: Node, classKey: string | null): void {
  const { tree } = file
  const scope = file.scope(node)
  const decorators = file.decorators(node)
  let at = 0
  for (const parameter of tree.children(tree.child(node, 'parameters'))) {
    const kind = tree.kind(parameter)
    if (kind.startsWith(':')) continue
    const named = tree.child(parameter, 'name')
    const leaf = kind === 'identifier' ? parameter : named === NONE ? file.inside(parameter) : named
    const type = tree.child(parameter, 'type')
    let meaning: Meaning = type === NONE ? { is: 'unknown' } : { is: 'typed', node: type }
    if (at === 0 && classKey !== null && !decorators.includes('staticmethod')) {
      meaning = { is: decorators.includes('classmethod') ? 'concept' : 'self', key: classKey }
    }
    file.markDeclaring(leaf)
    scope.declare(file.text(leaf), meaning)
    at++
  }
}

function declareAssignment(file: PythonFile, node: Node): void {
  const { tree } = file
  const type = tree.child(node, 'type')
  const right = tree.child(node, 'right')
  const meaning: Meaning =
    type !== NONE ? { is: 'typed', node: type } : right === NONE ? { is: 'unknown' } : { is: 'expression', node: right }
  bind(file, tree.child(node, 'left'), meaning)
}

function declareAlias(file: PythonFile, node: Node): void {
  const target = file.tree.child(node, 'alias')
  bind(file, target === NONE ? NONE : file.inside(target), { is: 'expression', node: file.inside(node) })
}

function bind(file: PythonFile, left: Node, meaning: Meaning): void {
  if (left === NONE) return
  const { tree } = file
  if (tree.kind(left) === 'identifier') {
    file.markDeclaring(left)
    file.scope(tree.parent(left)).declare(file.text(left), meaning)
    return
  }
  if (!/^(?:pattern_list|tuple_pattern|list_pattern)$/.test(tree.kind(left))) return
  for (const part of tree.children(left)) {
    if (tree.kind(part) !== 'identifier') continue
    file.markDeclaring(part)
    file.scope(tree.parent(left)).declare(file.text(part), { is: 'unknown' })
  }
}
