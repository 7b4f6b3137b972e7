/** Which field of a record is which of ours. */
import { QuerentError } from '../model/errors.ts'

/** Our fields, and the names they go by in other people's records, the likeliest first. */
const USUAL_NAMES = {
  id: ['id', '_id', 'docid', 'doc_id', 'uuid', 'key'],
  title: ['title', 'headline', 'subject', 'name'],
  content: ['content', 'text', 'body', 'contents', 'passage', 'abstract', 'message'],
  tags: ['tags', 'keywords', 'labels', 'categories'],
  kind: ['kind', 'type'],
  created: ['created', 'created_at', 'createdAt', 'date', 'timestamp', 'published', 'published_at'],
  updated: ['updated', 'updated_at', 'updatedAt', 'modified'],
  valid_from: ['valid_from'],
  valid_until: ['valid_until'],
} as const

export type RecordField = keyof typeof USUAL_NAMES
export const RECORD_FIELDS: readonly RecordField[] = Object.keys(USUAL_NAMES) as RecordField[]

/** Refuses a map that names a field we do not have. */
export function checkMap(map: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(map)) {
    if (ownField(field) !== null) continue
    const known = RECORD_FIELDS.join(', ')
    throw new QuerentError('unknown_field', `map: there is no field ${field}; known are ${known}`, {
      field: `map.${field}`,
      known: [...RECORD_FIELDS],
    })
  }
}

export class FieldMap {
  readonly #given: ReadonlyMap<RecordField, string>

  /** `map`, checked: our field to a field of the record, or to a path of fields joined by dots. */
  constructor(map: Readonly<Record<string, string>>) {
    this.#given = new Map(Object.entries(map).map(([field, theirs]) => [ownField(field) as RecordField, theirs]))
  }

  /** The field's value; undefined when the record has none. */
  value(record: Readonly<Record<string, unknown>>, field: RecordField): unknown {
    const name = this.nameIn(record, field)
    return name === null ? undefined : Object.hasOwn(record, name) ? record[name] : valueAt(record, name.split('.'))
  }

  /** The record's name for the field, or null. A mapped field goes by no other name. */
  nameIn(record: Readonly<Record<string, unknown>>, field: RecordField): string | null {
    return this.#given.get(field) ?? USUAL_NAMES[field].find(name => Object.hasOwn(record, name)) ?? null
  }
}

/** `text` is a common slip for `content`. */
function ownField(name: string): RecordField | null {
  if (name === 'text') return 'content'
  return RECORD_FIELDS.find(field => field === name) ?? null
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
