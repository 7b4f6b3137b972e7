/** What tests look for in answers of the lens chroma. */
import type { ResultRow } from '../../src/lenses/chroma/model.ts'

export function ids(rows: readonly ResultRow[]): readonly string[] {
  return rows.map(row => row.entry_id)
}

export function labels(rows: readonly ResultRow[]): readonly string[] {
  return rows.map(row => row.label)
}

/** The error that refuses a parameter. */
export function invalid(parameter: string): object {
  return { name: 'ValidationError', code: 'invalid_parameter', details: { parameter } }
}
