/** Reads JSON Lines files: each line becomes an entry. An invalid line is reported, and the other lines are read nevertheless. */
import { canonicalJson, type Json, sha256 } from '../base/canonical.ts'
import { isRecord } from '../base/record.ts'
import { hasStorableTexts } from '../base/storable.ts'
import type { Steps } from '../base/turns.ts'
import { FieldMap, type UsualNames, unknownMapField } from '../model/field-map.ts'
import type { FileDocument, FileProblem, FileReading, Ingester, IngestSettings, SourceFile } from '../model/ingester.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH } from '../model/limits.ts'
import { chunkContentInSteps } from '../text/chunk.ts'
import { instantOf, kindOf, tagsOf, titleOf, toJson } from './values.ts'

/**
 * Maximum size of a JSON Lines file in bytes. Larger than for other files, because collections of records are larger than files that people
 * write.
 */
const MAX_BYTES = 256 * 1024 * 1024
/** Maximum length of a field name in messages, in characters. */
const MAX_NAMED = 80
/** Maximum number of invalid lines listed for a file; further ones are only counted. */
const MAX_PROBLEMS = 100

/** For each field of an entry, the usual names of that field in records of other programs. */
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

type RecordField = keyof typeof USUAL_NAMES
const RECORD_FIELDS: readonly RecordField[] = Object.keys(USUAL_NAMES) as RecordField[]

/** Throws if the map names a field that entries do not have. */
export function checkMap(map: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(map)) {
    if (ownField(field) === null) throw unknownMapField(field, RECORD_FIELDS)
  }
}

/**
 * Combines the usual field names with the user's checked `map`, which gives for a field of the entry the field of the record, or a path of
 * fields joined by dots.
 */
function recordFields(map: Readonly<Record<string, string>>): FieldMap<RecordField> {
  const given = Object.entries(map).map(([field, theirs]) => [ownField(field) as RecordField, theirs] as const)
  return new FieldMap(USUAL_NAMES, new Map(given))
}

/** `text` is accepted as a name for `content`, because it is a common mistake. */
function ownField(name: string): RecordField | null {
  if (name === 'text') return 'content'
  return RECORD_FIELDS.find(field => field === name) ?? null
}

export const jsonl: Ingester = {
  name: 'jsonl',
  version: 1,
  maxBytes: MAX_BYTES,
  accepts: file => ['jsonl', 'ndjson', 'jsonlines'].includes(file.extension),
  read,
}

type Fields = Readonly<Record<string, unknown>>

function* read(file: SourceFile, settings: IngestSettings): Steps<FileReading> {
  const fields = recordFields(settings.map)
  const documents: FileDocument[] = []
  const problems: FileProblem[] = []
  const names = new Set<string>()
  let line = 0
  for (const text of linesOf(file.text)) {
    line++
    if (text.trim() === '') continue
    const found = yield* readLine(text, line, fields)
    yield
    const message = typeof found === 'string' ? found : repeated(found, names)
    if (message !== null) problems.push({ line, message })
    else documents.push(found as FileDocument)
  }
  const untold = problems.length - MAX_PROBLEMS
  if (untold <= 0) return { documents, problems }
  return {
    documents,
    problems: [...problems.slice(0, MAX_PROBLEMS), { line: null, message: `${untold} more lines could not be read` }],
  }
}

/** Message if an earlier line of the file had this document's id (or, without ids, was the same record); null otherwise. */
function repeated(document: FileDocument, names: Set<string>): string | null {
  const name = document.id ?? `#${document.part}`
  if (!names.has(name)) {
    names.add(name)
    return null
  }
  return document.id === null ? 'the same record occurred before' : `the id ${document.id} occurred before`
}

function* linesOf(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    yield text.slice(start, end)
    start = end + 1
  }
}

/** The document made from a line of the file, or a message that says what is wrong with the line. */
function* readLine(line: string, number: number, fields: FieldMap<RecordField>): Steps<FileDocument | string> {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
  if (!isRecord(record)) return 'expected a JSON object'
  const unkept = Object.entries(record).find(field => !hasStorableTexts(field))
  if (unkept === undefined) return yield* documentOf(record, number, fields)
  return `the field ${unkept[0].slice(0, MAX_NAMED)} contains NUL or a lone surrogate, which cannot be stored`
}

function* documentOf(record: Fields, line: number, fields: FieldMap<RecordField>): Steps<FileDocument | string> {
  const value = (field: (typeof RECORD_FIELDS)[number]) => fields.value(record, field)
  const title = titleOf(value('title'))
  const content = contentOf(value('content'))
  if (content === null) return `the field ${fields.nameIn(record, 'content')} is not text`
  if (content.trim() === '' && title === '')
    return 'it has neither a title nor a text; name the field that has it with a map'
  if (content.length > MAX_CONTENT_LENGTH) return `the text is longer than ${MAX_CONTENT_LENGTH} characters`
  const id = idOf(value('id'))
  if (id !== null && id.length > MAX_ID_LENGTH) return `the id is longer than ${MAX_ID_LENGTH} characters`
  return {
    id,
    part: id === null ? sha256(canonicalJson(toJson(record))).slice(0, 16) : null,
    title,
    content,
    chunks: yield* chunkContentInSteps(content, { format: 'plain' }),
    kind: kindOf(value('kind')),
    tags: tagsOf(value('tags')),
    metadata: metadataOf(record, fields),
    createdAt: instantOf(value('created')),
    updatedAt: instantOf(value('updated')),
    validFrom: instantOf(value('valid_from')),
    validUntil: instantOf(value('valid_until')),
    line,
  }
}

/** Converts the value of a content field to text: a list of texts becomes paragraphs. Null if the value is an object or another list. */
function contentOf(value: unknown): string | null {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const parts = Array.isArray(value) && value.every(part => typeof part === 'string') ? value : null
  return parts === null ? null : parts.join('\n\n')
}

function idOf(value: unknown): string | null {
  const id = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return id === '' ? null : id
}

/**
 * Metadata of an entry: all fields of the record that were not used otherwise, including times that could not be parsed. `date` is kept in
 * addition to being used: every entry has a creation time, but a day filter depends on whether the record itself states a date.
 */
function metadataOf(record: Fields, fields: FieldMap<RecordField>): Readonly<Record<string, Json>> {
  const taken = new Set(RECORD_FIELDS.map(field => fields.nameIn(record, field)))
  taken.delete('date')
  for (const field of ['created', 'updated', 'valid_from', 'valid_until'] as const) {
    const name = fields.nameIn(record, field)
    if (name !== null && instantOf(fields.value(record, field)) === null) taken.delete(name)
  }
  const rest = Object.entries(record).filter(([name]) => !taken.has(name))
  return Object.fromEntries(rest.map(([name, value]) => [name, toJson(value, 2)]))
}
