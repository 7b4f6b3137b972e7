/**
 * Formats answers for people from short descriptions: a list as a table, a record as one value per line, any other answer by a general
 * format.
 */

import pc from 'picocolors'
import { printable, printableStyled, STYLE_ESCAPE } from '../../../base/printable.ts'
import { isRecord } from '../../../base/record.ts'
import type { Io } from '../io.ts'

// Colours for terminals, and functions that make text harmless for a terminal.

export interface Style {
  bold(text: string): string
  dim(text: string): string
  mark(text: string): string
  good(text: string): string
  bad(text: string): string
}

/**
 * Functions that add terminal styles to a text. They add none if NO_COLOR is set (to any value but empty) or there is no terminal;
 * FORCE_COLOR always adds them.
 */
export function styleOf({ env, stdout }: Pick<Io, 'env' | 'stdout'>): Style {
  const wanted = stdout.isTTY === true && env['TERM'] !== 'dumb'
  const colors = pc.createColors(env['NO_COLOR'] ? false : env['FORCE_COLOR'] ? true : wanted)
  // Escape characters in the text itself are data and are made harmless; only those that are added around the text are styles.
  const own = (styled: (text: string) => string) => (text: string) =>
    styled(printableStyled(text, STYLE_ESCAPE)).replaceAll('\u001b', STYLE_ESCAPE)
  return {
    bold: own(colors.bold),
    dim: own(colors.dim),
    mark: own(text => colors.bold(colors.yellow(text))),
    good: own(colors.green),
    bad: own(colors.red),
  }
}

/** Cuts a text to at most `length` UTF-16 units; `…` marks the cut. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`
}

/** The text on one line, with its control characters made harmless. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
}

export const PLAIN: Style = { bold: same, dim: same, mark: same, good: same, bad: same }

function same(text: string): string {
  return text
}

/** How an answer is formatted, and for which command. */
export interface Shown {
  readonly isMarkdown: boolean
  readonly style: Style
  /** Width of the terminal in columns; undefined: there is no limit. */
  readonly width: number | undefined
  readonly folder: string
  /** Whether the next page can be requested with `--more`; then the cursor, which has hundreds of characters, is not printed. */
  readonly hasMore: boolean
  readonly flags: Readonly<Record<string, unknown>>
  /** Input with which the operation was called. */
  readonly input: Readonly<Record<string, unknown>>
}

/** Formatting as plain text without a terminal: no styles and no limit on width. */
export const PLAIN_TEXT: Shown = {
  ...{ isMarkdown: false, style: PLAIN, width: undefined, folder: '', hasMore: false, flags: {}, input: {} },
}

/** A function that formats an answer as text, ending with a line feed. */
export type Print<Answer> = (answer: Answer, shown: Shown) => string

/**
 * Descriptions of table columns, or of the values of a record, each written as `TITLE=path format`, such as `score.final 3` (three
 * decimals), `UPDATED=created_at day` (2026-03-01) or `created_at minute`. If a path is several paths separated by `|`, the first one that
 * leads to a value counts. The default title is the last name of the path. A path through a list gives a list.
 */
export type Columns = readonly string[]

interface Value {
  readonly title: string
  readonly format: string | undefined
  of(row: unknown): unknown
}

function fieldOf(column: string): Value {
  const [path, format] = pathAndFormat(column.replace(/^[^=]*=/, ''))
  const title = column.includes('=') ? column.split('=', 1)[0] : path.split('.').at(-1)?.replaceAll('_', ' ')
  return { title: title ?? '', format, of: row => valueAt(row, path) }
}

/** Splits the description of a column: the path is before the first blank, the format after it. */
function pathAndFormat(text: string): readonly [path: string, format: string | undefined] {
  const [path = '', ...words] = text.split(' ')
  return [path, words.length === 0 ? undefined : words.join(' ')]
}

/**
 * Returns a function that formats a list of similar records as a table. `path`: path of the list, or of one record, in the answer; `none`:
 * text for an empty list.
 */
export function rows<Answer = object>(
  path: string,
  columns: Columns,
  none = 'none',
  after: Print<Answer> = () => '',
): Print<Answer> {
  return (answer, shown) => {
    const found = [valueAt(answer, path)].flat()
    return (found.length === 0 ? `${none}\n` : table(found, columns, shown)) + after(answer, shown)
  }
}

/**
 * Formats records as a table. Columns of numbers are right-aligned. In plain text, lines are cut to the terminal's width, if there is one.
 */
function table(found: readonly unknown[], columns: Columns, { isMarkdown, style, width }: Shown): string {
  const fields = columns.map(fieldOf)
  const titles = fields.map(({ title }) => title.toUpperCase())
  const cells = found.map(row => fields.map(({ format, of }) => oneLine(valueText(of(row), format))))
  const isNumber = ({ format, of }: Value) =>
    format !== 'unix' && found.every(row => ['number', 'undefined'].includes(typeof (of(row) ?? undefined)))
  const areNumbers = fields.map(isNumber)
  if (isMarkdown) {
    const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`
    const rule = areNumbers.map(isOne => (isOne ? '---:' : '---'))
    return lines([line(titles), line(rule), ...cells.map(row => line(row.map(markdownText)))])
  }
  const widths = titles.map((title, at) => Math.max(title.length, ...cells.map(row => row[at]?.length ?? 0)))
  const padded = (text: string, at: number): string =>
    areNumbers[at] ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)
  const line = (texts: readonly string[]): string =>
    cut(texts.map(padded).join('  ').trimEnd(), width ?? Number.POSITIVE_INFINITY)
  return lines([style.dim(line(titles)), ...cells.map(line)])
}

/**
 * Returns a function that formats one record with one value per line, leaving out missing values. `path`: path of the record in the answer.
 */
export function facts(path: string, columns: Columns): Print<object> {
  return (answer, shown) => {
    const row = valueAt(answer, path)
    const values = columns.map(fieldOf).map(({ title, format, of }) => [title, of(row), format] as const)
    const known = values.filter(([, value]) => valueText(value ?? '') !== '')
    return factLines(
      known.map(([title, value, format]) => [title, valueText(value, format)]),
      shown,
    )
  }
}

/**
 * Formats any answer: lists of records as tables, everything else as one value per line (nested values as JSON). If the answer has only a
 * single field and that is a record or a list, the field's name is left out. Numbers have at most four decimals, unless `isExact`.
 */
export function shape(answer: object, shown: Shown, isExact = false): string {
  const entries = Object.entries(answer)
  const [[name, only] = ['', null]] = entries
  if (entries.length === 1 && isRecord(only)) return shape(only, shown, isExact)
  if (entries.length === 1 && Array.isArray(only) && only.length === 0) return `no ${name.replaceAll('_', ' ')}\n`
  const tables = entries.filter(([, value]) => isTable(value)) as readonly [string, readonly object[]][]
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(4)) : value)
  const values = entries.filter(([, value]) => !isTable(value) && value !== undefined)
  const texts = values.map(([title, value]): [string, string] => {
    const plain = typeof value === 'string' ? value : JSON.parse(JSON.stringify(value, isExact ? undefined : rounded))
    const isNested = Object.values(plain ?? {}).some(part => typeof part === 'object' && part !== null)
    return [title, isNested ? JSON.stringify(plain) : valueText(plain)]
  })
  const parts = [
    ...(texts.length === 0 ? [] : [factLines(texts, shown)]),
    ...tables.map(([, found]) => {
      const names = [...new Set(found.flatMap(row => Object.keys(row)))] as (keyof (typeof found)[number])[]
      return table(
        found,
        names.filter(column => found.some(row => row[column] !== null)),
        shown,
      )
    }),
  ]
  return parts.join('\n')
}

/** Formats any answer, with numbers in full instead of rounded to four decimals. */
export const exactShape: Print<object> = (answer, shown) => shape(answer, shown, true)

function isTable(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord)
}

function factLines(values: readonly (readonly [name: string, text: string])[], { isMarkdown }: Shown): string {
  const width = Math.max(...values.map(([name]) => name.length))
  return lines(
    values.map(([name, text]) => {
      return isMarkdown ? `- ${name}: ${markdownText(oneLine(text))}` : `${name.padEnd(width)}  ${oneLine(text)}`
    }),
  )
}

/**
 * A value as text: `trust 0.5, recency 0.1` for an object, `a, b` for a list, `-` for a missing value. `format`: for numbers the decimals
 * (`+4`: with sign), the thing counted (`row/rows`), `MiB` for bytes, `unix` for seconds; for times `day` or `minute`; for texts the
 * maximum length (in a template also the minimum); for booleans the two words (`yes/no`).
 */
export function valueText(value: unknown, format = ''): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.map(one => valueText(one)).join(', ')
  if (typeof value === 'boolean') return (format.includes('/') ? format : 'yes/no').split('/')[value ? 0 : 1] ?? ''
  if (typeof value === 'number') return numberText(value, format)
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([name, part]) => `${name} ${valueText(part)}`)
    return parts.join(', ')
  }
  const text = String(value)
  if (format === 'day') return text.slice(0, 10)
  if (Number(format) > 0) return cut(text, Number(format))
  return format === 'minute' ? text.slice(0, 16).replace('T', ' ') : text
}

function numberText(value: number, format: string): string {
  if (format === '') return `${Number(value.toPrecision(15))}` // rounded, so that 0.35 is shown rather than 0.35000000000000003
  if (format.includes('/')) return `${value} ${format.split('/')[value === 1 ? 0 : 1]}`
  if (format === 'MiB') return `${(value / 1024 / 1024).toFixed(1)} MiB`
  if (format === 'unix') return new Date(value * 1000).toISOString()
  return `${format.startsWith('+') && value >= 0 ? '+' : ''}${value.toFixed(Number(format))}`
}

/** The value at a path of an answer; if several paths are given, separated by `|`, the first one that leads to a value. */
export function valueAt(row: unknown, path: string): unknown {
  const paths = path.split('|')
  if (paths.length > 1) return paths.map(one => valueAt(row, one)).find(one => one !== null && one !== undefined)
  return (path === '' ? [] : path.split('.')).reduce<unknown>((at, name) => {
    const isThrough = Array.isArray(at) && !(name in at)
    return isThrough ? at.map(one => valueAt(one, name)) : (at as Readonly<Record<string, unknown>> | null)?.[name]
  }, row)
}

/**
 * Returns a function that formats one line for each element of a list, or for one record if `path` leads to one; nothing if it leads to
 * nothing. `?path` means the answer itself if there is a value at that path (a list counts if it is not empty). In the template, `{score
 * 3}` is replaced by the value at a path in a format of `valueText`; `{of |name|: }` by the value with the text around it, or by nothing if
 * there is no value.
 */
export function each<Answer = object>(
  path: string | ((answer: Answer) => unknown),
  template: string,
  as: 'line' | 'note' | 'cell' = 'line',
): Print<Answer> {
  return (answer, shown) => {
    const found = typeof path === 'function' ? path(answer) : foundAt(answer, path)
    const texts = [found]
      .flat()
      .filter(one => one !== null && one !== undefined)
      .map(one => filled(template, one, as === 'cell' ? cell : oneLine))
    return as === 'note' ? notes(texts, shown) : lines(texts)
  }
}

function foundAt(answer: unknown, path: string): unknown {
  return path.startsWith('?') ? (valueAt(answer, path.slice(1)) ? answer : null) : valueAt(answer, path)
}

/** A text on one line with its blanks unchanged: line ends and tabs become blanks. */
export function cell(text: string): string {
  return printable(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
}

function filled(template: string, row: unknown, clean: (text: string) => string): string {
  return template.replace(/\{([^{}]*)\}/g, (_, inside: string) => {
    const parts = inside.split('|')
    const [before = '', place = '', after = ''] = parts.length === 1 ? ['', inside] : parts
    const [path, format] = pathAndFormat(place)
    const value = valueAt(row, path)
    const text = value === undefined && parts.length > 1 ? '' : clean(valueText(value))
    if (parts.length > 1 && (value === null || text === '')) return ''
    return `${before}${format === undefined ? text : clean(valueText(value, format)).padEnd(Number(format) || 0)}${after}`
  })
}

/** Returns a function that formats an answer by several functions and joins their texts. */
export function all<Answer>(...prints: readonly Print<Answer>[]): Print<Answer> {
  return (answer, shown) => prints.map(print => print(answer, shown)).join('')
}

/** Joins texts as lines: each is ended by a line feed. */
export function lines(texts: readonly string[]): string {
  return texts.map(text => `${text}\n`).join('')
}

/** A line that says how to get the next page; none if there is no next page. */
export function moreText(cursor: string | null | undefined, { hasMore }: Pick<Shown, 'hasMore'>): readonly string[] {
  return cursor ? [hasMore ? 'more: --more' : `more: --cursor ${cursor}`] : []
}

/** Formats lines below an answer, such as notes, in a less prominent style. */
export function notes(texts: readonly string[], { style }: Pick<Shown, 'style'>): string {
  return lines(texts.map(text => style.dim(oneLine(text))))
}

/** Escapes a text so that Markdown shows its characters unchanged. */
export function markdownText(text: string): string {
  return text.replace(/[\\`*_[\]<>|#]/g, '\\$&')
}
