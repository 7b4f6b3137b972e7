/** Second pass over a script: what its concepts call, use, extend and export. */
import { HARD, isUndeclared, MODERATE } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { exportedName } from './common-js.ts'
import { dependOn, readExport } from './imports.ts'
import { CLASSES } from './kinds.ts'
import { requiredModule } from './required.ts'
import type { ScriptFile } from './script-file.ts'
import { typeSymbol } from './types.ts'
import type { ScriptValues } from './values.ts'

export function referAll(file: ScriptFile, values: ScriptValues): void {
  file.eachNode((node, kind) => {
    if (!kind.startsWith(':')) referNode(file, values, node, kind)
  })
}

function referNode(file: ScriptFile, values: ScriptValues, node: Node, kind: string): void {
  switch (kind) {
    case 'call_expression':
      referCall(file, values, node)
      return
    case 'new_expression':
      call(file, values, node, file.tree.child(node, 'constructor'))
      return
    case 'type_identifier':
    case 'nested_type_identifier':
      useType(file, values, node)
      return
    case 'identifier':
    case 'shorthand_property_identifier':
      useValue(file, values, node)
      return
    case 'export_statement':
      referExport(file, values, node)
      return
    case 'assignment_expression':
      exportAssigned(file, values, node)
      return
  }
  if (CLASSES.has(kind)) {
    referHeritage(file, values, node)
    return
  }
  if (kind === 'interface_declaration') {
    const key = file.aliases.get(node)
    const bases = file.tree.childOf(node, 'extends_type_clause')
    for (const base of key === undefined ? [] : file.tree.children(bases))
      build(file, values, key as string, 'EXTENDS', base)
  }
}

function referCall(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree } = file
  const callee = tree.child(node, 'function')
  const module = requiredModule(file, node)
  if (tree.kind(callee) === 'import') {
    if (module !== null) dependOn(file, module, MODERATE)
  } else if (module !== null && file.scope(node).value('require') === null) {
    dependOn(file, module, HARD)
  } else if (tree.kind(callee) !== 'super') call(file, values, node, callee)
}

function call(file: ScriptFile, values: ScriptValues, node: Node, callee: Node): void {
  const target = values.value(callee)
  if (target !== null) file.draft.refer(file.owner(node), 'CALLS', target)
}

function useType(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree } = file
  if (file.isDeclaring(node) || tree.kind(tree.parent(node)) === 'nested_type_identifier') return
  if (tree.kind(tree.parent(node)) === 'class_declaration' || isBase(file, node)) return
  const target = typeSymbol(file, node, values, 0)
  if (target !== null && !isUndeclared(target)) file.draft.refer(file.owner(node), 'USES', target)
}

/** A function, class or constant that is spoken of without being called: handed on, compared, thrown. */
function useValue(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree } = file
  if (file.isDeclaring(node)) return
  const module = requiredModule(file, node)
  if (module !== null) dependOn(file, module, MODERATE)
  const parent = tree.parent(node)
  const field = tree.field(node)
  const kind = tree.kind(parent)
  if (field === 'function' || field === 'constructor' || kind === 'class_heritage' || kind === 'extends_clause') return
  if (kind === 'import_specifier' || kind === 'export_specifier' || kind === 'import_clause') return
  const meaning = file.scope(node).value(file.text(node))
  if (meaning?.is !== 'concept' && (meaning?.is !== 'import' || meaning.name === null)) return
  const target = values.value(node)
  if (target !== null) file.draft.refer(file.owner(node), 'USES', target)
}

/** Of `extends A<B>` and `implements A<B>`, A. */
function isBase(file: ScriptFile, node: Node): boolean {
  const { tree } = file
  let parent = tree.parent(node)
  if (tree.kind(parent) === 'generic_type' && tree.field(node) === 'name') parent = tree.parent(parent)
  return /^(?:implements_clause|extends_type_clause|extends_clause|class_heritage)$/.test(tree.kind(parent))
}

function referHeritage(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree } = file
  const key = file.classes.get(node)
  const heritage = tree.childOf(node, 'class_heritage')
  if (key === undefined || heritage === NONE) return
  for (const part of tree.children(heritage)) {
    const kind = tree.kind(part)
    if (kind === 'extends_clause') extendClass(file, values, key, tree.child(part, 'value'))
    else if (kind === 'implements_clause') {
      for (const base of tree.children(part)) build(file, values, key, 'IMPLEMENTS', base)
    } else if (!kind.startsWith(':')) extendClass(file, values, key, part)
  }
}

/** The base is an expression; of `mixin(A)` nothing is said. */
function extendClass(file: ScriptFile, values: ScriptValues, key: string, base: Node): void {
  if (!/^(?:identifier|member_expression)$/.test(file.tree.kind(base))) return
  const target = values.value(base)
  if (target !== null) file.draft.refer(key, 'EXTENDS', target)
}

function build(
  file: ScriptFile,
  values: ScriptValues,
  key: string,
  relation: 'EXTENDS' | 'IMPLEMENTS',
  base: Node,
): void {
  if (file.tree.kind(base).startsWith(':') || file.tree.kind(base) === 'comment') return
  const target = typeSymbol(file, base, values, 0)
  if (target !== null) file.draft.refer(key, relation, target)
}

function referExport(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree, draft } = file
  // What a namespace exports is not what the file exports.
  if (tree.parent(node) !== 0) return
  readExport(file, node, (name, local) => exportName(file, values, name, file.text(local)))
  const declaration = tree.child(node, 'declaration')
  const isDefault = tree.childOf(node, ':default') !== NONE
  for (const name of declaration === NONE ? [] : declaredNames(file, declaration)) {
    exportName(file, values, isDefault ? 'default' : name, name)
  }
  const value = tree.child(node, 'value')
  if (value !== NONE) {
    const target = values.value(value)
    if (target !== null && !isUndeclared(target)) draft.exports.set('default', target)
    if (tree.kind(value) === 'identifier') exportName(file, values, 'default', file.text(value))
  }
  if (tree.childOf(node, ':=') !== NONE) exportName(file, values, 'export=', file.text(file.inside(node)))
}

function declaredNames(file: ScriptFile, declaration: Node): string[] {
  const { tree } = file
  const own = tree.child(declaration, 'name')
  if (own !== NONE) return [file.text(own)]
  const names: string[] = []
  for (let node = declaration; node < tree.until(declaration); ) {
    const kind = tree.kind(node)
    // Values hold names of their own.
    if (tree.field(node) === 'value' && kind !== 'identifier' && !kind.endsWith('_pattern')) node = tree.until(node)
    else {
      if (file.isDeclaring(node)) names.push(file.text(node))
      node++
    }
  }
  return names
}

/** A name may be a type and a value at once: then the type is exported with `type:` in front. */
function exportName(file: ScriptFile, values: ScriptValues, exported: string, local: string): void {
  const value = file.top.value(local)
  const type = file.top.type(local)
  const valueReference = value === null ? null : values.meaning(value, 0)
  const typeReference = type === null ? null : values.meaning(type, 0)
  const first = valueReference ?? typeReference
  if (first !== null) file.draft.exports.set(exported, first)
  if (valueReference !== null && typeReference !== null && value !== type) {
    const same = JSON.stringify(valueReference) === JSON.stringify(typeReference)
    if (!same) file.draft.exports.set(`type:${exported}`, typeReference)
  }
}

function exportAssigned(file: ScriptFile, values: ScriptValues, node: Node): void {
  const { tree } = file
  const left = tree.child(node, 'left')
  const right = tree.child(node, 'right')
  if (tree.kind(left) !== 'member_expression') return
  const name = exportedName(file, left)
  if (name === null) return
  const put = (exported: string, value: Node): void => {
    const target = values.value(value)
    if (target !== null && !isUndeclared(target)) file.draft.exports.set(exported, target)
  }
  if (name !== 'export=' || tree.kind(right) !== 'object') {
    put(name, right)
    return
  }
  for (const part of tree.children(right)) {
    const kind = tree.kind(part)
    if (kind === 'shorthand_property_identifier') put(file.text(part), part)
    if (kind === 'pair') put(file.text(tree.child(part, 'key')), tree.child(part, 'value'))
    const key = kind === 'method_definition' ? file.functions.get(part) : undefined
    if (key !== undefined) file.draft.exports.set(file.text(tree.child(part, 'name')), { local: key })
  }
}
