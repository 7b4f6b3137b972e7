/** An explanation as an indented tree: value, label, how it follows, remark. */
import type { Explanation } from '../../../model/explanation.ts'
import { oneLine, type Style } from './style.ts'

const SIGNS = { sum: '+', product: '×', quotient: '÷', max: 'max' } as const

/** One line a node, each ending in a line feed; children two blanks further in. */
export function explanationText(tree: Explanation, style: Style, indent = ''): string {
  const how = tree.formula === undefined ? '' : ` (${SIGNS[tree.formula]})`
  const note = tree.note === undefined ? '' : style.dim(`  ${oneLine(tree.note)}`)
  const own = `${indent}${tree.value.toFixed(4)} ${oneLine(tree.label)}${how}${note}\n`
  return own + (tree.children ?? []).map(child => explanationText(child, style, `${indent}  `)).join('')
}
