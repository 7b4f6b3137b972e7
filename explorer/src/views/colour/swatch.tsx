import { hexOf } from '../../../../src/lenses/chroma/lab-color.ts'

/** A colour as it is drawn. Said in numbers elsewhere, where it matters. */
export function Swatch({ color }: { readonly color: readonly [number, number, number] }) {
  return <i class="colour-swatch" aria-hidden="true" style={{ background: hexOf(color) }} />
}
