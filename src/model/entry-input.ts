/** What callers may say of entries (write, list, name, explain): schemas shared by the engine and by every door. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { isStorable } from '../base/storable.ts'
import type { ExplainRequest } from './explain-answer.ts'
import { jsonObjectInput } from './json-input.ts'
import { MAX_CONTENT_LENGTH, MAX_CURSOR_LENGTH, MAX_ID_LENGTH, MAX_LIMIT, MAX_NAME_LENGTH, MAX_TAGS } from './limits.ts'
import type { Audience } from './partition.ts'
import type { Group } from './query.ts'
import { type FilterInput, filterInput, groupInput, instantInput, queryInput } from './query-input.ts'

/** Who may see an entry, the holder apart. */
export type Visibility = Audience['kind']

/** What a writer may say of an entry; the rest has defaults. */
export interface PutInput {
  readonly id?: string | undefined
  readonly collection?: string | undefined
  readonly kind?: string | undefined
  readonly title?: string | undefined
  readonly content: string
  readonly tags?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  readonly visibility?: Visibility | undefined
  readonly federations?: readonly string[] | undefined
  readonly origin?: string | undefined
  readonly created_at?: string | number | undefined
  readonly valid_from?: string | number | undefined
  readonly valid_until?: string | number | undefined
}

/** How exports of conversations are read. What is absent is told from their content. */
export interface ChatRequest {
  readonly profile?: 'people' | 'assistant' | undefined
  readonly format?: 'jsonl' | 'chatgpt' | 'claude' | 'slack' | 'whatsapp' | 'mail' | undefined
  readonly zone?: string | undefined
  readonly conversation?: string | undefined
  readonly date_order?: 'day-first' | 'month-first' | undefined
}

export interface AddRequest {
  /** Files and folders. */
  readonly paths: readonly string[]
  readonly collection?: string | undefined
  readonly kind?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly visibility?: Visibility | undefined
  readonly federations?: readonly string[] | undefined
  /** JSONL: our field to theirs. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** They are exports of conversations: each message becomes an entry. */
  readonly chat?: ChatRequest | undefined
  /** Read them as this lens does, into its collection unless another is named. */
  readonly lens?: string | undefined
  /** Wait until all chunks have vectors (default true); else they follow in the background. */
  readonly wait?: boolean | undefined
}

export interface ListInput {
  readonly filter?: FilterInput | undefined
  readonly order?: 'created' | 'updated' | 'accessed' | 'id' | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface PutEntriesInput {
  readonly entries: readonly PutInput[]
  /** Wait until they have vectors. */
  readonly wait?: boolean | undefined
}

/** Text that is kept as it is given: what no store can keep is refused, not replaced. */
export function keptText(text: z.ZodString): z.ZodString {
  return text.refine(isStorable, 'text without NUL and half surrogate pairs')
}

const name: z.ZodString = z.string().trim().min(1).max(MAX_NAME_LENGTH)
const tags: z.ZodArray<z.ZodString> = z.array(name).max(MAX_TAGS)

/** Of one entry. */
const federations = z.array(name).max(100)

const visibilityInput: z.ZodType<Visibility> = z.enum(['private', 'public', 'shared'])

const putInput: z.ZodType<PutInput> = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(MAX_ID_LENGTH)
    .optional()
    .describe("Replaces the viewer's own entry of that id. Default: a new random one"),
  collection: name.optional().describe('What it belongs to. Default: as it was, or notes'),
  kind: name.optional().describe('What sort of thing it is. Default: as it was, or note'),
  title: keptText(z.string().max(1000))
    .optional()
    .describe('Heading, at most 1000 characters; it is searched too. Default: the first line of content'),
  content: keptText(z.string().max(MAX_CONTENT_LENGTH)).describe(
    `What is kept and searched, at most ${MAX_CONTENT_LENGTH} characters`,
  ),
  tags: tags.optional().describe('Words to find it by. Default: none'),
  metadata: jsonObjectInput.optional().describe('Anything else about it, for filters. Default: none'),
  visibility: visibilityInput.optional().describe('Who may see it, its holder apart. Default: as it was, or private'),
  federations: federations
    .optional()
    .describe('Ids of federations whose members may see it, with visibility shared. Default: as it was, or none'),
  origin: z.string().max(4096).optional().describe('Where it comes from, such as a path. Default: none'),
  created_at: instantInput.optional().describe('Moment at which it was written first. Default: as it was, or now'),
  valid_from: instantInput.optional().describe('Moment from which it holds. Default: always'),
  valid_until: instantInput.optional().describe('Moment until which it holds. Default: no end'),
})

export const putEntriesInput: z.ZodType<PutEntriesInput> = z.strictObject({
  entries: z.array(putInput).min(1).max(10_000).describe('All of them, or none'),
  wait: z.boolean().optional().describe('Wait until they have vectors. Default: false'),
})

const chatInput: z.ZodType<ChatRequest> = z.strictObject({
  profile: z
    .enum(['people', 'assistant'])
    .optional()
    .describe('Of whom they are. Default: assistant for conversations in which an assistant speaks, else people'),
  format: z
    .enum(['jsonl', 'chatgpt', 'claude', 'slack', 'whatsapp', 'mail'])
    .optional()
    .describe('Program that wrote the export. Default: recognised by the content'),
  zone: z.string().min(1).optional().describe('Of times without one, such as +02:00 or Europe/Madrid. Default: UTC'),
  conversation: z
    .string()
    .trim()
    .min(1)
    .max(MAX_ID_LENGTH)
    .optional()
    .describe('Its name, where a file holds one and does not name it. Default: the name of the file'),
  date_order: z
    .enum(['day-first', 'month-first'])
    .optional()
    .describe('How dates of WhatsApp are written. Default: recognised by the file'),
})

const localPath = z
  .string()
  .min(1)
  .regex(/^(?![A-Za-z][A-Za-z0-9+.-]+:\/\/)/, 'a file or folder of this machine: download what is at the address first')

export const addInput: z.ZodType<AddRequest> = z.strictObject({
  paths: z.array(localPath).min(1).max(1000).describe('Files and folders'),
  collection: name.optional().describe('The collection to add to. Default: as at the last time, or documents'),
  kind: name.optional().describe('What sort of thing these are. Default: by the kind of file'),
  tags: tags.optional().describe('For each entry. Default: as at the last time'),
  visibility: visibilityInput.optional().describe('Who may see them. Default: as at the last time, or private'),
  federations: federations
    .optional()
    .describe('Ids of federations whose members may see them, with visibility shared. Default: none'),
  map: z
    .record(z.string(), z.string())
    .optional()
    .describe('Of JSON lines: name of our field to name of theirs. Default: the same names'),
  chat: chatInput
    .optional()
    .describe('They are exports of conversations: each message becomes an entry. Default: they are not'),
  lens: z
    .string()
    .min(1)
    .optional()
    .describe('Read them as this lens does, into its collection unless another is named. Default: none'),
  wait: z.boolean().optional().describe('Wait until all have vectors. Default: true'),
})

export const listInput: z.ZodType<ListInput> = z.strictObject({
  filter: filterInput.optional().describe('What an entry must fulfil. Default: all'),
  order: z
    .enum(['created', 'updated', 'accessed', 'id'])
    .optional()
    .describe('Newest first; by id ascending. Default: updated'),
  limit: z.int().min(1).max(MAX_LIMIT).optional().describe('Most entries of a page, 1 to 1000. Default: 10'),
  cursor: z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .optional()
    .describe('Goes on where the page ended that gave it. Default: the first page'),
})

const id: z.ZodString = z.string().min(1).max(MAX_ID_LENGTH).describe('Of the entry')

export interface GetInput {
  readonly id: string
  /** Whether this counts as use of the entry. Default true. */
  readonly touch?: boolean | undefined
}

export const getInput: z.ZodType<GetInput> = z.strictObject({
  id,
  touch: z.boolean().optional().describe('Whether this counts as use of the entry. Default: true'),
})
export const touchInput: z.ZodType<{ readonly ids: readonly string[] }> = z.strictObject({
  ids: z.array(id).min(1).max(1000).describe('A use of each is counted, or of none'),
})
export const idsInput: z.ZodType<{ readonly ids: readonly string[] }> = z.strictObject({
  ids: z.array(id).min(1).max(10_000).describe('All of them are deleted, or none'),
})

export interface SimilarInput {
  readonly id: string
  readonly limit?: number | undefined
  readonly group?: Group | undefined
}

export const similarInput: z.ZodType<SimilarInput> = z.strictObject({
  id,
  limit: z.int().min(1).max(MAX_LIMIT).optional().describe('How many results. Default: 10'),
  group: groupInput,
})

const passage = z.int().min(1).optional()

export const explainInput: z.ZodType<ExplainRequest> = z.strictObject({
  query: queryInput.describe('The question'),
  id,
  passage: passage.describe('With query.group passage: its position, from 1. Default: the best'),
  over: id.optional().describe('Id of another entry to compare with: why the first leads or does not. Default: none'),
  over_passage: passage.describe('With query.group passage: position in the other entry, from 1. Default: the best'),
})
