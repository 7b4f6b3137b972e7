/** Pieces of a text. */
import { LineStarts } from '../../../text/lines.ts'

/** Characters of a preview. */
export const PREVIEW_LENGTH = 500
/** Lines of a passage before the line it is about. */
const LINES_BEFORE = 1

/** The first 500 characters, with dots when there is more. */
export function headOf(text: string): string {
  let units = 0
  let characters = 0
  for (const character of text) {
    if (characters === PREVIEW_LENGTH) return `${text.slice(0, units)}...`
    characters++
    units += character.length
  }
  return text
}

/** Whole lines from just before `line` on, as many as fit; at least that one, cut where it is longer than a preview. */
export function linesFrom(
  text: string,
  line: number,
): { readonly text: string; readonly startLine: number; readonly endLine: number } {
  const lines = new LineStarts(text)
  const startLine = Math.max(1, Math.min(line, lines.count) - LINES_BEFORE)
  let endLine = startLine
  while (endLine < lines.count) {
    const isFull = lines.between(startLine, endLine).length >= PREVIEW_LENGTH
    const isTooMuch = lines.between(startLine, endLine + 1).length >= PREVIEW_LENGTH
    if (isFull || (isTooMuch && endLine >= line)) break
    endLine++
  }
  const piece = lines.between(startLine, endLine)
  return { text: piece.length > 2 * PREVIEW_LENGTH ? headOf(piece) : piece, startLine, endLine }
}
