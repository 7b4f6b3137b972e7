/** Which field of a record is which of an entry's. */
import { FieldMap, type UsualNames, unknownMapField } from '../model/field-map.ts'

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
} as const satisfies UsualNames<string>

export type RecordField = keyof typeof USUAL_NAMES
export const RECORD_FIELDS: readonly RecordField[] = Object.keys(USUAL_NAMES) as RecordField[]

/** Refuses a map that names a field we do not have. */
export function checkMap(map: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(map)) {
    if (ownField(field) === null) throw unknownMapField(field, RECORD_FIELDS)
  }
}

/** `map`, checked: our field to a field of the record, or to a path of fields joined by dots. */
export function recordFields(map: Readonly<Record<string, string>>): FieldMap<RecordField> {
  const given = Object.entries(map).map(([field, theirs]) => [ownField(field) as RecordField, theirs] as const)
  return new FieldMap(USUAL_NAMES, new Map(given))
}

/** `text` is a common slip for `content`. */
function ownField(name: string): RecordField | null {
  if (name === 'text') return 'content'
  return RECORD_FIELDS.find(field => field === name) ?? null
}
