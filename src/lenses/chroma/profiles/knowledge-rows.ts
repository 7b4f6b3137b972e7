/** What becomes of the rows of a knowledge-patch question (CQ-114, CQ-115). */
import type { Json } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { ResultRow } from '../model.ts'

/** Segments without white space around them and without empty ones, the paradigm in front. */
export function fullPath(paradigm: string, path: string): string {
  const segments = path
    .split(':')
    .map(segment => segment.trim())
    .filter(segment => segment !== '')
  return (segments[0] === paradigm ? segments : [paradigm, ...segments]).join(':')
}

/** Rows of exactly this full path, however they spell it. */
export function withPath(rows: readonly ResultRow[], wanted: string): ResultRow[] {
  return rows.filter(row => {
    const path = fieldOf(row, 'subdomain_path')
    const paradigm = fieldOf(row, 'paradigm')
    if (typeof path !== 'string') return false
    return (typeof paradigm === 'string' ? fullPath(paradigm.trim(), path) : path) === wanted
  })
}

/** Each row with the share of every layout trait in all of them. */
export function withLayoutTraits(rows: readonly ResultRow[]): ResultRow[] {
  const sums = new Map<string, number>()
  for (const row of rows) {
    for (const [trait, value] of Object.entries(traitsOf(row))) {
      if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) {
        sums.set(trait, (sums.get(trait) ?? 0) + value)
      }
    }
  }
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0)
  const shares = total > 0 && Number.isFinite(total) ? [...sums].map(([trait, sum]) => [trait, sum / total]) : []
  return rows.map(row => ({ ...row, _aggregated_layout_traits: Object.fromEntries(shares) as Json }))
}

/** The plug-in column first, then the metadata. */
function fieldOf(row: ResultRow, name: string): Json {
  const column = Object.hasOwn(row, name) ? row[name] : null
  if (column !== null && column !== undefined) return column
  const { metadata } = row
  return metadata !== null && Object.hasOwn(metadata, name) ? (metadata[name] ?? null) : null
}

function traitsOf(row: ResultRow): object {
  const field = fieldOf(row, 'layout_traits')
  const traits = typeof field === 'string' ? parsed(field) : field
  return isRecord(traits) ? traits : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
