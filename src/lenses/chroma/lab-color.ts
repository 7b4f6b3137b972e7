/** The colour of a node as a screen shows it. No other module of the lens imports the colour library `culori`. */
import { converter, formatHex, toGamut } from 'culori'
import type { Color } from './model.ts'

const toScreen = toGamut('rgb', 'lch65')
const fromLab = converter('lch65')

/** The colour as `#rrggbb` for a CIELAB colour (D65). A colour outside sRGB loses chroma but keeps its hue and lightness. */
export function hexOf([l, a, b]: Color): string {
  return formatHex(toScreen(fromLab({ mode: 'lab65', l, a, b }))) ?? '#808080'
}
