/** Answers of the lens `context` as text: tables separated by tabs, as its contract has them. */
import { printable } from '../../../base/printable.ts'
import { lines } from './answer.ts'

export interface Answer {
  readonly concepts: readonly {
    readonly id: number
    readonly name: string
    readonly type: string
    readonly relevance: string
    readonly score?: number
  }[]
  readonly files: readonly {
    readonly url: string
    readonly start_line?: number
    readonly end_line?: number
    readonly error?: { readonly message: string }
  }[]
  readonly graph: {
    readonly edges: readonly { readonly source: number; readonly target: number; readonly relation: string }[]
  }
  readonly bundle?: { readonly text: string }
}

export interface IndexReport {
  readonly indexed: number
  readonly skipped: number
  readonly deleted: number
  readonly renamed: number
  readonly concepts: number
  readonly left_out: LeftOut
  readonly errors: Listed
  readonly ms: number
  readonly files_per_second: number
}

interface LeftOut extends Listed {
  /** How many of each. */
  readonly reasons: Readonly<Record<string, number>>
}

interface Listed {
  readonly total: number
  readonly files: readonly { readonly url: string; readonly reason: string }[]
}

export function answerText({ concepts, files, graph, bundle }: Answer): string {
  if (concepts.length === 0) return '(no concepts found)\n'
  const found = concepts.map(({ id, name, type, relevance, score }) => {
    return [id, name, type, relevance, score?.toFixed(3) ?? ''].map(cell).join('\t')
  })
  const places = files.map(({ url, start_line, end_line, error }) => {
    const lines = start_line === undefined ? '' : `:${start_line}-${end_line}`
    return `${cell(url)}${lines}${error === undefined ? '' : ` (${cell(error.message)})`}`
  })
  const edges = graph.edges.map(({ source, relation, target }) => `${source} --[${cell(relation)}]--> ${target}`)
  return parts(
    ['ID\tNAME\tTYPE\tRELEVANCE\tSCORE', ...found],
    ['FILES', ...places],
    ['EDGES', ...edges],
    ...(bundle === undefined ? [] : [[printable(bundle.text)]]),
  )
}

/** With an empty line between them. */
function parts(...texts: readonly (readonly string[])[]): string {
  return texts.map(lines).join('\n')
}

export function indexText(report: IndexReport): string {
  const { indexed, skipped, deleted, renamed, concepts, left_out, errors, ms, files_per_second } = report
  return lines([
    `${indexed} files read (${concepts} concepts), ${skipped} unchanged, ${deleted} deleted, ${renamed} renamed`,
    `${left_out.total} left out${reasonsOf(left_out)}, ${errors.total} could not be read`,
    ...errors.files.map(({ url, reason }) => `  ${cell(url)}: ${reason}${reason === 'outside' ? OUTSIDE : ''}`),
    `${(ms / 1000).toFixed(1)} s, ${files_per_second} files a second`,
  ])
}

interface Place {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly url: string | null
  readonly start_line: number | null
  readonly end_line: number | null
}

/** Of `definition`, `references` or `callers`. */
export interface Places {
  readonly definitions?: readonly (Place & { readonly doc: string | null; readonly text: string | null })[]
  readonly references?: readonly (Place & { readonly relation: string })[]
  readonly callers?: readonly (Place & { readonly hops: number })[]
}

export interface Impact {
  readonly changed: readonly Place[]
  readonly dependants: readonly (Place & { readonly hops: number; readonly relation: string })[]
  readonly files: readonly string[]
  readonly not_indexed: readonly string[]
}

export function placesText({ definitions = [], references = [], callers = [] }: Places): string {
  const found = [
    ...definitions.flatMap(place => [row(place), ...(place.text === null ? [] : [printable(place.text), ''])]),
    ...references.map(place => row(place, place.relation)),
    ...callers.map(place => row(place, String(place.hops))),
  ]
  return found.length === 0 ? '(nothing found)\n' : lines(found)
}

export function impactText({ changed, dependants, files, not_indexed }: Impact): string {
  return parts(
    ['CHANGED', ...changed.map(place => row(place))],
    ['DEPENDANTS', ...dependants.map(place => row(place, String(place.hops), place.relation))],
    ['FILES', ...files.map(cell)],
    ...(not_indexed.length === 0 ? [] : [['NOT INDEXED', ...not_indexed.map(cell)]]),
  )
}

export interface CodeMap {
  readonly text: string
  /** Symbols that do not fit. */
  readonly omitted: number
}

export function mapText({ text, omitted }: CodeMap): string {
  if (text !== '') return `${printable(text)}\n`
  return omitted === 0 ? '(no symbols found)\n' : `(no room for any of ${omitted} symbols)\n`
}

/** Ids that an advice names. */
const MOST_IDS = 10

/** What to do next, where the answer itself does not say. */
export function adviceOn({
  errors,
  result,
}: {
  readonly errors: unknown
  readonly result: unknown
}): readonly string[] {
  if (Object.values(errors ?? {}).some(([error]) => error?.code === 'not_initialized')) {
    return ['the code of this folder has not been read yet: querent context index']
  }
  const { total, ...lists } = (result ?? {}) as Readonly<Record<string, unknown>>
  const shown = ['definitions', 'references', 'callers', 'dependants'].map(name => lists[name]).find(Array.isArray)
  const isCut = typeof total === 'number' && shown !== undefined && shown.length < total
  const named = (lists['of'] ?? []) as readonly { readonly id: number }[]
  const ids = named.slice(0, MOST_IDS).map(({ id }) => id)
  return [
    ...(isCut ? [`${shown.length} of ${total} shown; --limit ${total} shows all`] : []),
    ...(named.length > 1 ? [`${named.length} concepts have this name; give an id for one: ${ids.join(', ')}`] : []),
  ]
}

function row({ id, name, type, url, start_line, end_line }: Place, ...more: readonly string[]): string {
  const where = url === null ? '' : `${url}${start_line === null ? '' : `:${start_line}-${end_line}`}`
  return [id, name, type, ...more, where].map(cell).join('\t')
}

const OUTSIDE = ' of the folder that the store stands in (make one there, or name it with --home)'

/** One line an error: `query: query is required`. */
export function errorLines(errors: unknown, at: readonly string[] = []): readonly string[] {
  if (typeof errors !== 'object' || errors === null) return []
  if (Array.isArray(errors)) {
    return errors.map((error: { message?: unknown; code?: unknown }) =>
      cell(`${at.join('.')}: ${String(error.message ?? error.code)}`),
    )
  }
  return Object.entries(errors).flatMap(([field, inner]) => errorLines(inner, [...at, field]))
}

function reasonsOf({ reasons }: LeftOut): string {
  const counts = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`)
  return counts.length === 0 ? '' : ` (${counts.join(', ')})`
}

/** A name may hold anything; a line of a table may not. */
function cell(value: string | number): string {
  return printable(String(value).replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
}
