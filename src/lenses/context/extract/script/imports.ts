/** What a script imports and re-exports, and the modules it thereby depends on. */
import { HARD, MODERATE } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { ScriptFile } from './script-file.ts'

/** Import statements; their names are declared in the scope of the file. */
export function declareImport(file: ScriptFile, node: Node): void {
  const { tree } = file
  const clause = tree.childOf(node, 'import_clause')
  const required = tree.childOf(node, 'import_require_clause')
  const source = tree.child(required === NONE ? node : required, 'source')
  const module = file.stringOf(source)
  if (module === null) return
  const isTypeOnly = tree.childOf(node, ':type') !== NONE
  let names = 0
  let types = 0
  const declare = (leaf: Node, name: string | null): void => {
    file.markDeclaring(leaf)
    file.scope(node).declare(file.text(leaf), { is: 'import', module, name }, 'both')
  }
  if (required !== NONE) declare(file.inside(required), 'export=')
  for (const part of clause === NONE ? [] : tree.children(clause)) {
    const kind = tree.kind(part)
    if (kind === 'identifier') declare(part, 'default')
    if (kind === 'namespace_import') declare(file.inside(part), null)
    if (!kind.startsWith(':')) names += kind === 'named_imports' ? 0 : 1
    if (kind !== 'named_imports') continue
    for (const specifier of tree.children(part)) {
      if (tree.kind(specifier) !== 'import_specifier') continue
      const name = tree.child(specifier, 'name')
      const alias = tree.child(specifier, 'alias')
      file.markDeclaring(name)
      declare(alias === NONE ? name : alias, file.stringOf(name) ?? file.text(name))
      names++
      if (tree.childOf(specifier, ':type') !== NONE) types++
    }
  }
  dependOn(file, module, isTypeOnly || (names > 0 && types === names) ? MODERATE : HARD)
}

/** `export … from`, `export { a as b }`, `export default x` and `export =`; declarations are met elsewhere. */
export function readExport(file: ScriptFile, node: Node, exportLocal: (name: string, value: Node) => void): void {
  const { tree, draft } = file
  const module = file.stringOf(tree.child(node, 'source'))
  if (module !== null) dependOn(file, module, tree.childOf(node, ':type') === NONE ? HARD : MODERATE)
  const namespace = tree.childOf(node, 'namespace_export')
  if (namespace !== NONE && module !== null) {
    const name = file.inside(namespace)
    file.markDeclaring(name)
    draft.exports.set(file.stringOf(name) ?? file.text(name), { module, name: null })
  } else if (tree.childOf(node, ':*') !== NONE && module !== null) draft.stars.add(module)
  for (const specifier of tree.children(tree.childOf(node, 'export_clause'))) {
    if (tree.kind(specifier) !== 'export_specifier') continue
    const name = tree.child(specifier, 'name')
    const alias = tree.child(specifier, 'alias')
    file.markDeclaring(name)
    file.markDeclaring(alias)
    const exported = alias === NONE ? name : alias
    const text = file.stringOf(exported) ?? file.text(exported)
    if (module === null) exportLocal(text, name)
    else draft.exports.set(text, { module, name: file.stringOf(name) ?? file.text(name) })
  }
}

export function dependOn(file: ScriptFile, module: string, weight: number): void {
  if (module === '' || module.length > 1_000) return
  file.draft.refer(file.draft.fileKey, 'DEPENDS_ON', { module, name: null }, weight)
}
