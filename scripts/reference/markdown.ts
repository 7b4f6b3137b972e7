/** Pieces of Markdown. */

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}

/** A bar ends a cell, also in code. */
function cell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|')
}

export function code(text: string): string {
  return `\`${text}\``
}

/** As GitHub makes it of a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

export const MADE = '<!-- Made by `npm run reference` from the code. Change the descriptions there, not here. -->\n'
