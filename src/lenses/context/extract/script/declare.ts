/** First pass over a script: scopes, what is declared in them, and a concept for every declaration that gets one. */
import { addCaveats } from '../comments.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { bindPattern } from './bind.ts'
import { declareAssignment } from './common-js.ts'
import { addConcept, addMethod, extendConcept, memberName, prefixOf, statementOf } from './concepts.ts'
import { openFunction } from './functions.ts'
import { declareImport } from './imports.ts'
import { declareTypedefs } from './jsdoc.ts'
import { BLOCKS, CLASSES, FIELDS, FUNCTION_DECLARATIONS, FUNCTION_VALUES, METHODS, TYPE_FUNCTIONS } from './kinds.ts'
import { UNKNOWN } from './scope.ts'
import type { ScriptFile } from './script-file.ts'
import { declareLoopVariable, declareVariable } from './variables.ts'

export function declareAll(file: ScriptFile): void {
  file.eachNode((node, kind) => {
    file.enter(node)
    declareNode(file, node, kind)
  })
}

function declareNode(file: ScriptFile, node: Node, kind: string): void {
  if (FUNCTION_DECLARATIONS.has(kind)) {
    declareFunction(file, node)
    return
  }
  if (FUNCTION_VALUES.has(kind)) {
    openFunction(file, node, file.selves.get(node))
    return
  }
  if (METHODS.has(kind)) {
    declareMethod(file, node)
    return
  }
  if (FIELDS.has(kind)) {
    declareField(file, node)
    return
  }
  if (CLASSES.has(kind)) {
    declareClass(file, node)
    return
  }
  if (TYPE_FUNCTIONS.has(kind)) {
    file.openScope(node, file.scope(node).inner(false))
    return
  }
  switch (kind) {
    case 'interface_declaration':
      declareType(file, node, 'Interface')
      return
    case 'type_alias_declaration':
      declareType(file, node, 'TypeAlias')
      return
    case 'enum_declaration':
      declareType(file, node, 'Enum')
      return
    case 'variable_declarator':
      declareVariable(file, node)
      return
    case 'internal_module':
    case 'module':
      openNamespace(file, node)
      return
    case 'import_statement':
      declareImport(file, node)
      return
    case 'assignment_expression':
      declareAssignment(file, node)
      return
    case 'export_statement':
      declareDefault(file, node)
      return
    case 'for_in_statement':
      file.openScope(node, file.scope(node).inner(false))
      declareLoopVariable(file, node)
      return
    case 'catch_clause':
      file.openScope(node, file.scope(node).inner(false))
      bindPattern(file, file.tree.child(node, 'parameter'), UNKNOWN, file.scope(node))
      return
    case 'type_parameter': {
      const name = file.tree.child(node, 'name')
      file.markDeclaring(name)
      const bound = file.tree.child(node, 'constraint')
      file.scope(node).declare(file.text(name), { is: 'parameter', bound }, 'type')
      return
    }
    case 'infer_type': {
      const name = file.inside(node)
      file.markDeclaring(name)
      file.scope(node).declare(file.text(name), UNKNOWN, 'type')
      return
    }
    case 'comment':
      readComment(file, node)
      return
  }
  if (BLOCKS.has(kind) && !isBodyOfFunction(file, node)) file.openScope(node, file.scope(node).inner(false))
}

function declareFunction(file: ScriptFile, node: Node): void {
  const name = file.tree.child(node, 'name')
  file.markDeclaring(name)
  const text = file.text(name)
  const outer = file.scope(node)
  const known = outer.values.get(text)
  // Overloads are one function.
  if (known?.is === 'concept' && known.key.startsWith('Function ')) {
    extendConcept(file, statementOf(file, node), known.key)
    file.openOwner(node, known.key)
    file.functions.set(node, known.key)
  } else if (text !== '') {
    const key = addConcept(file, node, 'Function', text, statementOf(file, node))
    file.functions.set(node, key)
    outer.declare(text, { is: 'concept', key }, 'value')
  }
  openFunction(file, node)
}

function declareClass(file: ScriptFile, node: Node): void {
  const { tree } = file
  const outer = file.scope(node)
  const name = tree.child(node, 'name')
  file.markDeclaring(name)
  // An expression has got its key from the variable it is given to.
  let key = file.classes.get(node)
  if (tree.kind(node) !== 'class' && name !== NONE) {
    key = addConcept(file, node, 'Class', file.text(name), statementOf(file, node))
    outer.declare(file.text(name), { is: 'concept', key }, 'both')
    file.classes.set(node, key)
  }
  if (key === undefined) {
    openAnonymous(file, node)
    return
  }
  const scope = outer.inner(false, prefixOf(key), { key, isStatic: false })
  file.openScope(node, scope)
  if (name !== NONE) scope.declare(file.text(name), { is: 'concept', key }, 'both')
  file.methods.set(key, file.methods.get(key) ?? new Map())
}

function openAnonymous(file: ScriptFile, node: Node): void {
  file.openScope(node, file.scope(node).inner(false, file.scope(node).prefix, null))
}

function declareMethod(file: ScriptFile, node: Node): void {
  const self = file.scope(node).self
  const isMember = file.tree.kind(file.tree.parent(node)) === 'class_body' && self !== null
  const isStatic = file.tree.childOf(node, ':static') !== NONE
  const name = memberName(file, node)
  if (isMember && name !== null && name !== 'constructor') {
    file.functions.set(node, addMethod(file, node, self.key, name))
  }
  openFunction(file, node, isMember ? { key: self.key, isStatic } : (file.selves.get(node) ?? null))
}

function declareField(file: ScriptFile, node: Node): void {
  const { tree } = file
  const self = file.scope(node).self
  const value = tree.child(node, 'value')
  const name = memberName(file, node)
  if (self === null) return
  const isStatic = tree.childOf(node, ':static') !== NONE
  if (isStatic) file.openScope(node, file.scope(node).inner(false, file.scope(node).prefix, { ...self, isStatic }))
  if (value === NONE || name === null || !FUNCTION_VALUES.has(tree.kind(value))) return
  const key = addMethod(file, node, self.key, name)
  file.functions.set(value, key)
}

function declareType(file: ScriptFile, node: Node, type: 'Interface' | 'TypeAlias' | 'Enum'): void {
  const name = file.tree.child(node, 'name')
  file.markDeclaring(name)
  const text = file.text(name)
  if (text === '') return
  const outer = file.scope(node)
  const known = outer.types.get(text)
  if (known?.is === 'concept' && known.key.startsWith(`${type} `)) {
    // Interfaces and enums may be written in parts.
    extendConcept(file, statementOf(file, node), known.key)
    file.openOwner(node, known.key)
    file.aliases.set(node, known.key)
  } else {
    const key = addConcept(file, node, type, text, statementOf(file, node))
    file.aliases.set(node, key)
    outer.declare(text, { is: 'concept', key }, type === 'Enum' ? 'both' : 'type')
  }
  file.openScope(node, outer.inner(false))
}

function openNamespace(file: ScriptFile, node: Node): void {
  const name = file.tree.child(node, 'name')
  if (name === NONE) return
  for (let at = name; at < file.tree.until(name); at++) file.markDeclaring(at)
  const text = file.stringOf(name) ?? file.text(name)
  const outer = file.scope(node)
  const known = outer.values.get(text)
  // A namespace may be written in parts.
  const inner = outer.inner(true, file.tree.kind(name) === 'string' ? outer.prefix : `${outer.prefix}${text}.`)
  const scope = known?.is === 'namespace' ? known.scope : inner
  outer.declare(text, { is: 'namespace', scope }, 'value')
  file.openScope(node, scope)
}

/** `export default` of a function or class without a name. */
function declareDefault(file: ScriptFile, node: Node): void {
  const { tree } = file
  if (tree.childOf(node, ':default') === NONE) return
  const value = tree.child(node, 'value')
  if (value === NONE) return
  const kind = tree.kind(value)
  if (!FUNCTION_VALUES.has(kind) && kind !== 'class') return
  const name = file.text(tree.child(value, 'name')) || 'default'
  const key = addConcept(file, value, kind === 'class' ? 'Class' : 'Function', name, node)
  if (kind === 'class') file.classes.set(value, key)
  else file.functions.set(value, key)
}

/** It may define types, and hold notes. */
function readComment(file: ScriptFile, node: Node): void {
  declareTypedefs(file, file.text(node))
  addCaveats(file.draft, file.text(node), file.tree.start(node), file.owner(node))
}

function isBodyOfFunction(file: ScriptFile, node: Node): boolean {
  return file.tree.field(node) === 'body' && file.scope(file.tree.parent(node)).isFunction
}
