/** What a Python file imports, and the modules it thereby depends on. */
import { HARD, MODERATE } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { PythonFile } from './python-file.ts'

/** Names are declared in the scope that the import stands in. */
export function declareImport(file: PythonFile, node: Node): void {
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
