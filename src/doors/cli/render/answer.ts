/** Answers for people, by description: a list as a table, one record as facts, a tree as indented lines. */
import { printable } from '../../../base/printable.ts'
import { oneLine, PLAIN, type Style } from './style.ts'
import { type Column, markdownTable, textTable } from './table.ts'

/** How an answer is shown. */
export interface Shown {
  readonly isMarkdown: boolean
  readonly style: Style
  /** Columns of the terminal; undefined: no bound. */
  readonly width: number | undefined
  readonly folder: string
  /** Whether `--more` gives the next page, so that no cursor is printed. */
  readonly hasMore: boolean
  readonly flags: Readonly<Record<string, unknown>>
  /** Of the operation. */
  readonly input: Readonly<Record<string, unknown>>
}

/** Without a terminal. */
export const PLAIN_TEXT: Shown = {
  ...{ isMarkdown: false, style: PLAIN, width: undefined, folder: '', hasMore: false, flags: {}, input: {} },
}

/** Text for people, ended by a line feed; see `rows` and `facts` for the generic ones. */
export type Print<Answer> = (answer: Answer, shown: Shown) => string

/**
 * By title: the path of a value in the row, such as `score.final 3` with three decimals, `created day` (2026-03-01) or
 * `created minute`; or a function of the row.
 */
export type Columns<Row> = Readonly<Record<string, string | ((row: Row) => unknown)>>

/** A list of like records. `path`: of the list in the answer (or of one record); `none`: what is said of an empty one. */
export function rows<Row, Answer = object>(
  path: string,
  columns: Columns<Row>,
  none = 'none',
  after: Print<Answer> = () => '',
): Print<Answer> {
  return (answer, shown) => {
    const found = [valueAt(answer, path)].flat() as readonly Row[]
    return (found.length === 0 ? `${none}\n` : tableOf(columns, found, shown)) + after(answer, shown)
  }
}

/** Columns of numbers are aligned at the right; those without a value in any row are left out of no table. */
export function tableOf<Row>(columns: Columns<Row>, found: readonly Row[], shown: Shown): string {
  const made = Object.entries(columns).map(([title, of]): Column<Row> => {
    const [path = '', format] = typeof of === 'string' ? of.split(' ') : []
    const valueIn = typeof of === 'string' ? (row: Row) => valueAt(row, path) : of
    const isNumber = found.every(row => ['number', 'undefined'].includes(typeof (valueIn(row) ?? undefined)))
    return {
      title,
      ...(isNumber && { align: 'right' }),
      cell: row => valueText(valueIn(row), format),
    }
  })
  return shown.isMarkdown ? markdownTable(made, found) : textTable(made, found, shown.style, shown.width)
}

/**
 * One record, a value a line; what has parts of its own as JSON, with four decimals unless it is `exact`. `path`: in the
 * answer, or several with `|`, of which the first that is there is shown.
 */
export function facts(path = '', exact = false): Print<object> {
  return answer => {
    const found = firstAt(answer, path)
    return factsText(found as Readonly<Record<string, unknown>>, exact)
  }
}

export function factsText(values: Readonly<Record<string, unknown>>, exact = false): string {
  const width = Math.max(...Object.keys(values).map(name => name.length))
  const shown = (value: unknown) =>
    typeof value === 'string' ? value : JSON.stringify(value, exact ? undefined : rounded)
  return lines(Object.entries(values).map(([name, value]) => `${name.padEnd(width)}  ${oneLine(shown(value))}`))
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(4)) : value
}

/** `trust 0.5, recency 0.1` of an object, `a, b` of a list, `-` where there is nothing. */
export function valueText(value: unknown, format?: string): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.map(one => valueText(one)).join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return format === undefined ? `${value}` : value.toFixed(Number(format))
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, part]) => `${name} ${valueText(part)}`)
      .join(', ')
  const text = String(value)
  return format === 'day' ? text.slice(0, 10) : format === 'minute' ? text.slice(0, 16).replace('T', ' ') : text
}

function valueAt(row: unknown, path: string): unknown {
  return (path === '' ? [] : path.split('.')).reduce<unknown>(
    (at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name],
    row,
  )
}

/**
 * A line for each of a list, or for one record where `path` leads to one; none where it leads to nothing. `{score 3}` in the
 * template is a value as in `Columns`; `{of |name|: }` is nothing where there is no value, else what stands around it too.
 */
export function each<Answer = object>(
  path: string | ((answer: Answer) => unknown),
  template: string,
  as: 'line' | 'note' | 'cell' = 'line',
): Print<Answer> {
  return (answer, shown) => {
    const found = [typeof path === 'string' ? firstAt(answer, path) : path(answer)].flat()
    const texts = found
      .filter(one => one !== null && one !== undefined)
      .map(one => filled(template, one, as === 'cell' ? cell : oneLine))
    return as === 'note' ? notes(texts, shown) : lines(texts)
  }
}

/** For `each`: the answer itself where there is something at this path (a length counts where it is not 0). */
export function having<Answer>(path: string): (answer: Answer) => Answer | null {
  return answer => {
    const value = valueAt(answer, path)
    return value === null || value === undefined || value === 0 ? null : answer
  }
}

/** A text on a line of its own, with its blanks as they are. */
export function cell(text: string): string {
  return printable(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
}

function filled(template: string, row: unknown, clean: (text: string) => string): string {
  return template.replace(/\{([^{}]*)\}/g, (_, inside: string) => {
    const parts = inside.split('|')
    const [before = '', place = '', after = ''] = parts.length === 1 ? ['', inside] : parts
    const [path = '', format] = place.split(' ')
    const value = valueAt(row, path)
    const isWidth = typeof value === 'string' && format !== undefined && /^\d+$/.test(format)
    const text =
      value === undefined && parts.length > 1
        ? ''
        : clean(valueText(value, format)).padEnd(isWidth ? Number(format) : 0)
    return parts.length > 1 && (value === null || text === '') ? '' : `${before}${text}${after}`
  })
}

/** One after the other. */
export function all<Answer>(...prints: readonly Print<Answer>[]): Print<Answer> {
  return (answer, shown) => prints.map(print => print(answer, shown)).join('')
}

/** Values of one record by name, a line each, without those that are not there. */
export function record<Row>(path: string, columns: Columns<Row>): Print<object> {
  return answer => {
    const row = valueAt(answer, path) as Row
    const values = Object.entries(columns).map(([name, of]) => {
      return [name, typeof of === 'string' ? valueAt(row, of) : of(row)] as const
    })
    const known = values.filter(([, value]) => value !== null && value !== undefined)
    return factsText(Object.fromEntries(known.map(([name, value]) => [name, valueText(value)])))
  }
}

/** Of several paths with `|`, that which leads to something. */
function firstAt(answer: unknown, paths: string): unknown {
  return paths
    .split('|')
    .map(path => valueAt(answer, path))
    .find(Boolean)
}

/** Each ended by a line feed. */
export function lines(texts: readonly string[]): string {
  return texts.map(text => `${text}\n`).join('')
}

/** `1 chunk`, `2 chunks`; `plural` where it is not just an s. */
export function counted(value: number, one: string, plural: string = `${one}s`): string {
  return `${value} ${value === 1 ? one : plural}`
}

/** How to get the next page. */
export function moreText(cursor: string | null | undefined, { hasMore }: Pick<Shown, 'hasMore'>): readonly string[] {
  return cursor ? [hasMore ? 'more: --more' : `more: --cursor ${cursor}`] : []
}

/** Less prominent lines below an answer. */
export function notes(texts: readonly string[], { style }: Pick<Shown, 'style'>): string {
  return lines(texts.map(text => style.dim(oneLine(text))))
}
