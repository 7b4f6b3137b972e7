/** The objects of a JSON file, one after the other; what is broken in one is told, and the rest of it is taken. */
import { isRecord } from '../../../base/record.ts'
import { type ExportFile, MAX_RECORD_BYTES } from './export-file.ts'
import type { Findings, Place } from './findings.ts'
import { type JsonLayout, jsonElements } from './json-elements.ts'
import { repairJson } from './json-repair.ts'
import { textPieces } from './text-pieces.ts'

export interface JsonRecord {
  readonly value: Readonly<Record<string, unknown>>
  readonly place: Place
}

/** `many`: the member of a record whose members are worth saving one by one; null where a record is too small for that. */
export async function* jsonRecords(
  file: ExportFile,
  many: string | null,
  findings: Findings,
): AsyncIterable<JsonRecord> {
  const layout: JsonLayout = { isJson: true, isEnded: false }
  const { path } = file
  for await (const element of jsonElements(textPieces(file, findings), MAX_RECORD_BYTES, layout)) {
    const place = { path, line: element.line, at: element.at === '' ? null : element.at }
    if (element.isTooLong) {
      findings.problem(place, `longer than ${MAX_RECORD_BYTES} characters; it was skipped`)
      continue
    }
    const read = parsed(element.text)
    if (read !== null) {
      if (isRecord(read.value)) yield { value: read.value, place }
      else findings.problem(place, 'expected a JSON object')
      continue
    }
    if (many === null || !element.text.startsWith('{')) {
      findings.problem(place, element.isWhole ? 'not JSON' : 'the file ends within it')
      continue
    }
    const { value, broken } = repairJson(element.text, many)
    if (broken.length === 0) {
      findings.problem(
        place,
        element.isWhole ? 'not JSON; what could be read of it was taken' : 'the file ends within it',
      )
    }
    for (const { at, message } of broken) findings.problem({ ...place, at: `${element.at}${at}` }, message)
    yield { value, place }
  }
  if (!layout.isJson) findings.problem({ path }, 'not JSON: expected an array or an object')
  else if (!layout.isEnded) findings.problem({ path }, 'the file ends before its JSON does: it was cut off')
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

export function textIn(record: unknown, field: string): string | null {
  const value = isRecord(record) && Object.hasOwn(record, field) ? record[field] : null
  return typeof value === 'string' && value !== '' ? value : null
}

export function recordIn(record: unknown, field: string): Readonly<Record<string, unknown>> {
  const value = isRecord(record) && Object.hasOwn(record, field) ? record[field] : null
  return isRecord(value) ? value : {}
}

export function listIn(record: unknown, field: string): readonly unknown[] {
  const value = isRecord(record) && Object.hasOwn(record, field) ? record[field] : null
  return Array.isArray(value) ? value : []
}
