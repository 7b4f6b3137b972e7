/** Modules named in expressions. */
import { NONE, type Node } from '../syntax-tree.ts'
import type { ScriptFile } from './script-file.ts'

/** `require('x')` and `await import('x')`. */
export function requiredModule(file: ScriptFile, node: Node): string | null {
  const { tree } = file
  if (node === NONE) return null
  if (tree.kind(node) === 'identifier') return moduleInName(file.text(node))
  if (tree.kind(node) === 'await_expression') return requiredModule(file, file.inside(node))
  if (tree.kind(node) !== 'call_expression') return null
  const callee = tree.child(node, 'function')
  if (tree.kind(callee) !== 'import' && file.text(callee) !== 'require') return null
  return file.stringOf(file.inside(tree.child(node, 'arguments')))
}

/** An import as a type, which is parsed as a name where the grammar does not know it (`script-gaps.ts`). */
function moduleInName(name: string): string | null {
  return /^import\s*\(\s*(["'])([^"'\n]*)\1/.exec(name)?.[2] ?? null
}
