/** The colour of a node as a screen shows it. The only module that imports the colour library. */
import { converter, formatHex, toGamut } from 'culori'
import type { Color } from './model.ts'

const toScreen = toGamut('rgb', 'lch65')
const fromLab = converter('lch65')

/** `#rrggbb` for a CIELAB colour (D65); colours outside sRGB lose chroma, not hue or lightness. */
export function hexOf([l, a, b]: Color): string {
  return formatHex(toScreen(fromLab({ mode: 'lab65', l, a, b }))) ?? '#808080'
}
