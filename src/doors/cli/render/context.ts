/** Answers of the lens `context` as text: tables separated by tabs, as its contract has them. */

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
  readonly left_out: Told
  readonly errors: Told
  readonly ms: number
  readonly files_per_second: number
}

interface Told {
  readonly total: number
  readonly files: readonly { readonly url: string; readonly reason: string }[]
}

export function answerText({ concepts, files, graph, bundle }: Answer): string {
  if (concepts.length === 0) return '(no concepts found)\n'
  const rows = concepts.map(({ id, name, type, relevance, score }) =>
    [id, name, type, relevance, score?.toFixed(3) ?? ''].map(cell).join('\t'),
  )
  const table = ['ID\tNAME\tTYPE\tRELEVANCE\tSCORE', ...rows]
  const places = files.map(({ url, start_line, end_line, error }) => {
    const lines = start_line === undefined ? '' : `:${start_line}-${end_line}`
    return `${cell(url)}${lines}${error === undefined ? '' : ` (${cell(error.message)})`}`
  })
  const edges = graph.edges.map(({ source, relation, target }) => `${source} --[${cell(relation)}]--> ${target}`)
  const parts = [table, ['FILES', ...places], ['EDGES', ...edges]].map(lines => `${lines.join('\n')}\n`)
  return [...parts, ...(bundle === undefined ? [] : [`${bundle.text}\n`])].join('\n')
}

export function indexText(report: IndexReport): string {
  const { indexed, skipped, deleted, renamed, concepts, left_out, errors, ms, files_per_second } = report
  const lines = [
    `${indexed} files read (${concepts} concepts), ${skipped} unchanged, ${deleted} deleted, ${renamed} renamed`,
    `${left_out.total} left out${reasonsOf(left_out)}, ${errors.total} could not be read`,
    ...errors.files.map(({ url, reason }) => `  ${cell(url)}: ${reason}${reason === 'outside' ? OUTSIDE : ''}`),
    `${(ms / 1000).toFixed(1)} s, ${files_per_second} files a second`,
  ]
  return `${lines.join('\n')}\n`
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

function reasonsOf({ files }: Told): string {
  const counts = new Map<string, number>()
  for (const { reason } of files) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const told = [...counts].map(([reason, count]) => `${count} ${reason}`)
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}

/** A name may hold anything; a line of a table may not. */
function cell(value: string | number): string {
  return String(value).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
