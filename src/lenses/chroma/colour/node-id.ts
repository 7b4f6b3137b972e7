import { sha256 } from '../../../base/canonical.ts'
import type { Color } from '../model.ts'

/** Named after the colour, to six decimals: nodes at one place share it. */
export function nodeIdOf(color: Color): string {
  return `node_${sha256(color.map(sixDecimals).join(',')).slice(0, 16)}`
}

function sixDecimals(value: number): string {
  const text = value.toFixed(6)
  return text === '-0.000000' ? '0.000000' : text
}
