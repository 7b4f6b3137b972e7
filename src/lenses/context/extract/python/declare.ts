/** First pass over Python: scopes, imports, and a concept for every class, function and method. */
import { addCaveats } from '../comments.ts'
import { HARD, MODERATE } from '../concept.ts'
import type { SourceFile } from '../source-file.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { Meaning, PythonScope } from './scope.ts'

export interface PythonFile extends SourceFile<PythonScope> {
  readonly classes: Map<Node, string>
  readonly functions: Map<Node, string>
  /** Functions of which only `@overload`s are known so far. */
  readonly overloads: Set<string>
}

export function declareAll(file: PythonFile): void {
  const { tree, draft } = file
  for (let node = 0; node < tree.size; node++) {
    draft.step()
    file.enter(node)
    declareNode(file, node, tree.kind(node))
  }
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
      file.openScope(node, file.scope(node).inner(file.scope(node).prefix, file.scope(node).classKey, false))
      bindParameters(file, node, null)
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
    const above = tree.parent(node)
    const span = tree.kind(above) === 'decorated_definition' ? above : node
    draft.extend(key, tree.start(span), tree.end(span))
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
  if (decoratorsOf(file, node).some(name => /(?:^|\.)overload$/.test(name))) file.overloads.add(key)
  else file.overloads.delete(key)
  const classKey = isMethod ? outer.classKey : null
  file.openScope(node, outer.inner(`${outer.prefix}${name}.`, classKey ?? outer.classKey, false))
  bindParameters(file, node, classKey)
}

function addConcept(
  file: PythonFile,
  node: Node,
  type: 'Class' | 'Function' | 'Method',
  name: string,
  qualifiedName: string,
): string {
  const { tree, draft } = file
  const above = tree.parent(node)
  const span = tree.kind(above) === 'decorated_definition' ? above : node
  const body = tree.child(node, 'body')
  file.markDeclaring(tree.child(node, 'name'))
  const key = draft.add({
    type,
    name,
    qualifiedName,
    start: tree.start(span),
    end: tree.end(span),
    signature: tree.text
      .slice(tree.start(node), body === NONE ? tree.end(node) : tree.start(body))
      .replace(/:?\s*(?:#.*)?$/, ''),
    doc: docstring(file, body),
  })
  draft.place(key, file.ownerAbove(node))
  file.openOwner(node, key)
  // Decorators stand in front of the definition, within the same node.
  for (const part of tree.children(span)) if (tree.kind(part) === 'decorator') openDecorator(file, part, key)
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
  const decorators = decoratorsOf(file, node)
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

export function decoratorsOf(file: PythonFile, node: Node): string[] {
  const above = file.tree.parent(node)
  if (above === NONE || file.tree.kind(above) !== 'decorated_definition') return []
  return [...file.tree.children(above)]
    .filter(part => file.tree.kind(part) === 'decorator')
    .map(part => file.text(file.inside(part)))
}

function declareImport(file: PythonFile, node: Node): void {
  const { tree, draft } = file
  const weight = isForTypes(file, node) ? MODERATE : HARD
  const from = file.text(tree.child(node, 'module_name')).replace(/\s/g, '')
  if (from !== '') draft.refer(draft.fileKey, 'DEPENDS_ON', { module: from, name: null }, weight)
  if (tree.childOf(node, 'wildcard_import') !== NONE) draft.stars.add(from)
  for (const part of tree.children(node)) {
    if (tree.field(part) !== 'name') continue
    const isAliased = tree.kind(part) === 'aliased_import'
    const name = file.text(isAliased ? tree.child(part, 'name') : part).replace(/\s/g, '')
    const alias = isAliased ? file.text(tree.child(part, 'alias')) : null
    for (let leaf = part; leaf < tree.until(part); leaf++) file.markDeclaring(leaf)
    if (from === '') {
      draft.refer(draft.fileKey, 'DEPENDS_ON', { module: name, name: null }, weight)
      // `import a.b` declares `a`; with a name of its own, that is `a.b`.
      const top = name.split('.')[0] as string
      file.scope(node).declare(alias ?? top, { is: 'import', module: alias === null ? top : name, name: null })
    } else {
      // What is imported may be a module itself.
      draft.refer(draft.fileKey, 'DEPENDS_ON', { module: from, name }, weight)
      file.scope(node).declare(alias ?? name, { is: 'import', module: from, name })
    }
  }
}

/** `if TYPE_CHECKING:` */
function isForTypes(file: PythonFile, node: Node): boolean {
  const { tree } = file
  const above = tree.parent(tree.parent(node))
  return (
    above > 0 && tree.kind(above) === 'if_statement' && /TYPE_CHECKING$/.test(file.text(tree.child(above, 'condition')))
  )
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
