/** Schemas of the input for writing, listing, naming and explaining entries; the engine and all interfaces share them. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import { isStorable } from '../base/storable.ts'
import { MAX_CONTENT_LENGTH, MAX_CURSOR_LENGTH, MAX_ID_LENGTH, MAX_LIMIT, MAX_NAME_LENGTH, MAX_TAGS } from './limits.ts'
import type { ExplainRequest } from './page.ts'
import { jsonObjectInput } from './parse-input.ts'
import type { Audience } from './partition.ts'
import { filterInput, groupInput, instantInput, queryInput } from './query-input.ts'

/** Who may see an entry besides its holder. */
export type Visibility = Audience['kind']

/**
 * Schema for text that is stored exactly as given. Text that no store can hold (with a NUL character or half of a surrogate pair) is
 * refused, not repaired.
 */
export function keptText(text: z.ZodString): z.ZodString {
  return text.refine(isStorable, 'text without NUL and lone surrogates')
}

const name: z.ZodString = z.string().trim().min(1).max(MAX_NAME_LENGTH)
const tags: z.ZodArray<z.ZodString> = z.array(name).max(MAX_TAGS)

/** Schema of the federations (groups of agents) whose members may see an entry. */
const federations = z.array(name).max(100)

const visibilityInput: z.ZodType<Visibility> = z.enum(['private', 'public', 'shared'])

/** Schema of the fields that a writer may give for an entry; the others have defaults. */
const putInput = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(MAX_ID_LENGTH)
    .optional()
    .describe("Id; the viewer's own entry with this id is replaced. Default: a new random id"),
  collection: name.optional().describe('Collection. Default: unchanged, or notes'),
  kind: name.optional().describe('Kind of entry, such as note or document. Default: unchanged, or note'),
  title: keptText(z.string().max(1000))
    .optional()
    .describe('Title, at most 1000 characters; it is searched too. Default: the first line of the content'),
  content: keptText(z.string().max(MAX_CONTENT_LENGTH)).describe(
    `Text to store and search, at most ${MAX_CONTENT_LENGTH} characters`,
  ),
  tags: tags.optional().describe('Tags. Default: none'),
  metadata: jsonObjectInput.optional().describe('Other facts about it, for filters. Default: none'),
  visibility: visibilityInput.optional().describe('Who else may see it. Default: unchanged, or private'),
  federations: federations
    .optional()
    .describe('With visibility shared: ids of the federations whose members may see it. Default: unchanged, or none'),
  origin: z.string().max(4096).optional().describe('Where it comes from, such as a path. Default: none'),
  created_at: instantInput.optional().describe('When it was created. Default: unchanged, or now'),
  valid_from: instantInput.optional().describe('Start of its validity. Default: always valid'),
  valid_until: instantInput.optional().describe('End of its validity. Default: no end'),
})

const putEntriesSchema = z.strictObject({
  entries: z.array(putInput).min(1).max(10_000).describe('Entries to write: all are written, or none'),
  wait: z.boolean().optional().describe('Wait until they have vectors. Default: false'),
})

export type PutInput = ReadonlyDeep<z.output<typeof putInput>>
export type PutEntriesInput = ReadonlyDeep<z.output<typeof putEntriesSchema>>
export const putEntriesInput: z.ZodType<PutEntriesInput> = putEntriesSchema

/** Schema of options for reading exports of conversations. Options that are absent are derived from the content. */
const chatInput = z.strictObject({
  profile: z
    .enum(['people', 'assistant'])
    .optional()
    .describe('Who takes part. Default: assistant if an assistant speaks, otherwise people'),
  format: z
    .enum(['jsonl', 'chatgpt', 'claude', 'slack', 'whatsapp', 'mail'])
    .optional()
    .describe('Format of the export. Default: detected from the content'),
  zone: z
    .string()
    .min(1)
    .optional()
    .describe('Time zone for times without one, such as +02:00 or Europe/Madrid. Default: UTC'),
  conversation: z
    .string()
    .trim()
    .min(1)
    .max(MAX_ID_LENGTH)
    .optional()
    .describe('Name of the conversation, if the file does not say it. Default: the name of the file'),
  date_order: z
    .enum(['day-first', 'month-first'])
    .optional()
    .describe('Order of day and month in WhatsApp dates. Default: detected from the file'),
})

const localPath = z
  .string()
  .min(1)
  .regex(/^(?![A-Za-z][A-Za-z0-9+.-]+:\/\/)/, 'a file or folder of this machine: download what is at the address first')

const addSchema = z.strictObject({
  paths: z.array(localPath).min(1).max(1000).describe('Files and folders'),
  collection: name.optional().describe('Collection to add to. Default: as last time, or documents'),
  kind: name.optional().describe('Kind of the entries. Default: by file type'),
  tags: tags.optional().describe('Tags for every entry. Default: as last time'),
  visibility: visibilityInput.optional().describe('Who else may see the entries. Default: as last time, or private'),
  federations: federations
    .optional()
    .describe('With visibility shared: ids of the federations whose members may see them. Default: none'),
  map: z
    .record(z.string(), z.string())
    .optional()
    .describe('For JSON Lines: our field name to the name in the file. Default: the same names'),
  chat: chatInput
    .optional()
    .describe('Read exports of conversations: each message becomes an entry. Default: read documents'),
  lens: z
    .string()
    .min(1)
    .optional()
    .describe('Read files with this lens, into its collection unless another is given. Default: none'),
  wait: z.boolean().optional().describe('Wait until all entries have vectors. Default: true'),
})

export type ChatRequest = ReadonlyDeep<z.output<typeof chatInput>>
export type AddRequest = ReadonlyDeep<z.output<typeof addSchema>>
export const addInput: z.ZodType<AddRequest> = addSchema

const syncSchema = z.strictObject({
  paths: z.array(localPath).min(1).max(1000).optional().describe('Added paths to bring up to date. Default: all'),
  forget: z
    .array(localPath)
    .min(1)
    .max(1000)
    .optional()
    .describe('Added paths to stop tracking; entries made from their files are deleted. Default: none'),
  dry_run: z.boolean().optional().describe('Only say what has changed. Default: false'),
  wait: z.boolean().optional().describe('Wait until all entries have vectors. Default: true'),
})

export type SyncRequest = ReadonlyDeep<z.output<typeof syncSchema>>
export const syncInput: z.ZodType<SyncRequest> = syncSchema

const listSchema = z.strictObject({
  filter: filterInput.optional().describe('Conditions that entries must meet. Default: none'),
  order: z
    .enum(['created', 'updated', 'accessed', 'id'])
    .optional()
    .describe('Order: newest first, or ids ascending. Default: updated'),
  limit: z.int().min(1).max(MAX_LIMIT).optional().describe('Entries per page, 1 to 1000. Default: 10'),
  cursor: z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .optional()
    .describe('Cursor of the previous page, to continue after it. Default: the first page'),
})

export type ListInput = ReadonlyDeep<z.output<typeof listSchema>>
export const listInput: z.ZodType<ListInput> = listSchema

const id: z.ZodString = z.string().min(1).max(MAX_ID_LENGTH).describe('Id of the entry')

const getSchema = z.strictObject({
  id,
  touch: z.boolean().optional().describe('Count this as a use of the entry. Default: true'),
})

export type GetInput = ReadonlyDeep<z.output<typeof getSchema>>
export const getInput: z.ZodType<GetInput> = getSchema
export const touchInput: z.ZodType<{ readonly ids: readonly string[] }> = z.strictObject({
  ids: z.array(id).min(1).max(1000).describe('Ids of entries: a use is counted for all of them, or for none'),
})
export const idsInput: z.ZodType<{ readonly ids: readonly string[] }> = z.strictObject({
  ids: z.array(id).min(1).max(10_000).describe('Ids of entries: all are deleted, or none'),
})

const similarSchema = z.strictObject({
  id,
  limit: z.int().min(1).max(MAX_LIMIT).optional().describe('Number of results. Default: 10'),
  group: groupInput,
})

export type SimilarInput = ReadonlyDeep<z.output<typeof similarSchema>>
export const similarInput: z.ZodType<SimilarInput> = similarSchema

const passage = z.int().min(1).optional()

export const explainInput: z.ZodType<ExplainRequest> = z.strictObject({
  query: queryInput.describe('Query that the rank is explained for'),
  id,
  passage: passage.describe('With group passage: position of the passage, from 1. Default: the best'),
  over: id.optional().describe('Id of another entry to compare with. Default: none'),
  over_passage: passage.describe('With group passage: position in the other entry, from 1. Default: the best'),
})
