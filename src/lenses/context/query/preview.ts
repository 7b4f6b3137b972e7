/** Pieces of a text. */

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
  const lines = text.split('\n')
  const startLine = Math.max(1, Math.min(line, lines.length) - LINES_BEFORE)
  const taken: string[] = []
  let length = 0
  for (const next of lines.slice(startLine - 1)) {
    length += next.length + 1
    if (length > PREVIEW_LENGTH && startLine + taken.length > line) break
    taken.push(next)
    if (length > PREVIEW_LENGTH) break
  }
  const piece = taken.join('\n')
  const endLine = startLine + taken.length - 1
  return { text: piece.length > 2 * PREVIEW_LENGTH ? headOf(piece) : piece, startLine, endLine }
}
