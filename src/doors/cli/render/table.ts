/** Rows in columns: aligned for people, or as a Markdown table. */
import { cut, oneLine, type Style } from './style.ts'

export interface Column<Row> {
  readonly title: string
  readonly align?: 'right'
  cell(row: Row): string
}

/** The last column is cut to the width, if there is one. */
export function textTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: Style,
  width: number = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map(row => columns.map(column => oneLine(column.cell(row))))
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map(row => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    cut(
      row
        .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align))
        .join('  ')
        .trimEnd(),
      width,
    )
  return [style.dim(line(columns.map(({ title }) => title))), ...cells.map(line)].map(text => `${text}\n`).join('')
}

export function markdownTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'))
  const body = rows.map(row => line(columns.map(column => markdownText(oneLine(column.cell(row))))))
  return line(columns.map(({ title }) => title)) + line(rule) + body.join('')
}

/** Text that means itself in Markdown. */
export function markdownText(text: string): string {
  return text.replace(/[\\`*_[\]<>|#]/g, '\\$&')
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width)
}
