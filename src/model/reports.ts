/** Schemas of the engine's reports on entries, on itself and on its work. Times are ISO 8601, names snake_case. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import { jsonObject } from './page.ts'

const audience = z.strictObject({
  kind: z
    .enum(['public', 'private', 'shared'])
    .describe('public: everybody; private: nobody else; shared: members of federations'),
  federations: z
    .array(z.string())
    .optional()
    .describe('Ids of the federations whose members may see it; only with shared'),
})

const entryFields = {
  id: z.string().describe('Id of the entry'),
  holder: z.string().describe('Id of the agent that holds the entry'),
  audience: audience.describe('Who may see it besides its holder'),
  collection: z.string().describe('Name of its collection'),
  kind: z.string().describe('Kind of entry, such as note or code'),
  title: z.string().describe('Title; empty: none'),
  tags: z.array(z.string()).describe('Tags of the entry'),
  metadata: jsonObject.describe('Facts stored with it, as JSON'),
  origin: z.string().nullable().describe('Where it comes from, such as a path; null: not known'),
  created_at: z.string().describe('When it was created, ISO 8601'),
  updated_at: z.string().describe('When it was last changed, ISO 8601'),
  valid_from: z.string().nullable().describe('Start of its validity, ISO 8601; null: always valid'),
  valid_until: z.string().nullable().describe('End of its validity, ISO 8601; null: no end'),
  known_at: z.string().describe('When it became known, ISO 8601'),
  access: z
    .strictObject({
      last_accessed: z.string().describe('When it was last used, ISO 8601'),
      count: z.int().min(0).describe('How often it was used'),
      strength: z.number().min(0).describe('Grows with each use and fades with time'),
    })
    .nullable()
    .describe("This viewer's use of it; null: none yet"),
}

/** Schema of the id and title of an entry that another entry's text links to, or whose text links to the other entry. */
const entryName = z.strictObject({
  id: z.string().describe('Id of the entry'),
  title: z.string().describe('Title of the entry; empty: none'),
})
export type EntryName = ReadonlyDeep<z.output<typeof entryName>>

const entrySchema = z.strictObject({
  ...entryFields,
  content: z.string().describe('Full text'),
  links: z.array(entryName).describe('Visible entries that its text links to, at most 100'),
  backlinks: z.array(entryName).describe('Visible entries whose text links to it, at most 100'),
})

export type EntryView = ReadonlyDeep<z.output<typeof entrySchema>>
export const entryOutput: z.ZodType<EntryView> = entrySchema

const listSchema = z.strictObject({
  items: z.array(z.strictObject(entryFields)).describe('Entries in the requested order'),
  total: z.int().min(0).describe('Number of entries that match, on all pages'),
  cursor: z.string().nullable().describe('Cursor of the next page; null: this is the last'),
})

export type ListPage = ReadonlyDeep<z.output<typeof listSchema>>
export const listOutput: z.ZodType<ListPage> = listSchema

const where = z.string().describe('File or folder, and within a file the part')
const said = z.string().describe('What is wrong, in a sentence')

const addReport = z.strictObject({
  added: z.int().min(0).describe('Entries that are new'),
  updated: z.int().min(0).describe('Entries whose text has changed'),
  unchanged: z.int().min(0).describe('Entries that have not changed'),
  deleted: z.int().min(0).describe('Entries whose file or part of a file is gone'),
  skipped: z
    .array(
      z.strictObject({
        path: where,
        reason: z.string().describe('Reason, such as binary'),
        count: z.int().min(1).optional().describe('Number of files. Absent: one'),
      }),
    )
    .describe('Files that were skipped'),
  errors: z.array(z.strictObject({ path: where, message: said })).describe('Files that could not be stored'),
  warnings: z
    .array(z.strictObject({ path: where, message: said }))
    .describe('Files that were not stored exactly as they are'),
  chunks: z.int().min(0).describe('Chunks that new texts were cut into'),
  // `pending` counts only chunks of the viewer's own entries.
  pending: z.int().min(0).describe('Chunks that have no vector yet'),
  visibility_changes: z
    .array(
      z.strictObject({
        path: where,
        from: audience.describe('Who might see them before'),
        to: audience.describe('Who may see them now'),
        count: z.int().min(1).describe('Entries of that path'),
      }),
    )
    .describe('Entries whose visibility has changed'),
  embedding_error: z.string().nullable().describe('Why vectors are missing; null: they are there, or follow'),
  ms: z.number().min(0).describe('How long it took, milliseconds'),
})

export type AddReport = ReadonlyDeep<z.output<typeof addReport>>
export const addOutput: z.ZodType<AddReport> = addReport

/** Schema of a path that was added to the store, with how many files below it have changed since they were read. */
const addedPath = z.strictObject({
  path: z.string().describe('The path that was added'),
  lens: z.string().nullable().describe('Lens that has read it as code; null: entries were made of its files'),
  missing: z.boolean().describe('It is missing or empty, such as a disk that is not mounted; its entries are kept'),
  is_changed: z.boolean().describe('Whether anything at or below it has changed since it was read'),
  files: z
    .int()
    .min(0)
    .nullable()
    .describe('Number of files in it; null, here and below: not counted, such as for code'),
  changed: z.int().min(0).nullable().describe('Files whose size or time has changed since they were read'),
  added: z.int().min(0).nullable().describe('Files that were never read'),
  deleted: z.int().min(0).nullable().describe('Files that were read and are gone, or are left out now'),
  error: z
    .string()
    .nullable()
    .describe('Why files of it could not be read when this process last tried; null: none failed'),
})
export type AddedPathState = ReadonlyDeep<z.output<typeof addedPath>>

const syncReport = addReport.extend({
  paths: z.array(addedPath).describe('Added paths, as they were found'),
})

export type SyncReport = ReadonlyDeep<z.output<typeof syncReport>>
export const syncOutput: z.ZodType<SyncReport> = syncReport

const statusSchema = z.strictObject({
  version: z.string().describe('Version of the program'),
  home: z.string().nullable().describe('Folder of the store, for its owner; null: none, or not shown'),
  entries: z.int().describe('Number of entries visible to the viewer'),
  chunks: z.int().describe('Number of passages they are cut into'),
  embedded: z.int().describe('Number of chunks that have a vector'),
  collections: z
    .array(
      z.strictObject({
        value: z.string().describe('Name of the collection'),
        count: z.int().min(0).describe('Entries in it'),
      }),
    )
    .describe('Collections, the largest first'),
  embedder: z
    .strictObject({
      id: z.string().describe('Name and version of the model'),
      dimensions: z.int().min(1).describe('Length of a vector'),
      runs_on: z
        .strictObject({
          runtime: z.enum(['native', 'wasm']).describe('What computes it'),
          // Each thread or process of the embedder embeds one passage at a time.
          workers: z.int().min(1).describe('Number of its threads or processes'),
        })
        .nullable()
        .describe('Where it runs; null: not on this machine, or not started'),
    })
    .nullable()
    .describe('The model that makes vectors; null: none, words answer alone'),
  embedder_error: z.string().nullable().describe('Why there are no vectors; null: nothing is wrong'),
  indexes: z
    .array(
      z.strictObject({
        name: z.string().describe('Name of the index, such as words or vectors'),
        // The memory that an index takes is null for viewers other than the owner, since the index holds data of all partitions
        // (audiences).
        bytes: z.int().min(0).nullable().describe('Memory it takes; null: not known'),
        // The number of rows counts only those of partitions (entries of one audience) that the viewer may read.
        rows: z.int().min(0).nullable().describe('Number of rows; null: not shown'),
      }),
    )
    .describe('Indexes of this process'),
  lenses: z.array(z.string()).describe('Names of the lenses'),
  notices: z
    .array(z.string())
    .describe('What background work will soon do to entries that the viewer uses, one sentence each'),
  storage: z
    .strictObject({
      log_bytes: z.int().min(0).describe('Length of the write-ahead log'),
      // Deleted or replaced text can remain in the store's write-ahead log or in snapshots: for some seconds, or as long as other readers
      // of the store are active.
      to_erase: z.boolean().describe('Whether deleted text is still to be wiped from the file'),
    })
    .nullable()
    .describe('The file, for its owner; null: none, or not shown'),
  paths: z
    .array(addedPath)
    .nullable()
    .describe('Files and folders that were added, and what changed below them since, for the owner; null: not shown'),
})

export type Status = ReadonlyDeep<z.output<typeof statusSchema>>
export const statusOutput: z.ZodType<Status> = statusSchema

const finding = z.strictObject({
  check: z.string().describe('Name of what was examined, such as words or vectors'),
  ok: z.boolean().describe('Whether nothing is wrong with it'),
  message: z.string().describe('What was found, in a sentence'),
  help: z.string().nullable().describe('What to do; null: nothing'),
  repaired: z.string().nullable().describe('With repair: what was done; null: nothing'),
})
export type Finding = ReadonlyDeep<z.output<typeof finding>>

/** Schema of the doctor command's report. `ok` describes the state after the repair, if one was made. */
const doctorSchema = z.strictObject({
  ok: z.boolean().describe('Whether no check found anything wrong'),
  findings: z.array(finding).describe('One item per check'),
  backup: z.string().nullable().describe('With repair: path of the copy that was made first; null: none'),
})

export type Examination = ReadonlyDeep<z.output<typeof doctorSchema>>
export const doctorOutput: z.ZodType<Examination> = doctorSchema

/** Schema of the report on a backup, which is a consistent copy of the store's file. */
const backupSchema = z.strictObject({
  path: z.string().describe('The file that was made'),
  bytes: z.int().min(0).describe('Size of the file in bytes'),
  entries: z.int().min(0).describe('Number of entries in it'),
  position: z.int().min(0).describe('Number of the last change that it contains'),
  not_held: z.array(z.string()).describe('What a backup does not contain, such as models'),
})

export type Backup = ReadonlyDeep<z.output<typeof backupSchema>>
export const backupOutput: z.ZodType<Backup> = backupSchema

// Schemas of reports about embedding models.

const modelFields = {
  id: z.string().describe('Name of the model'),
  dimensions: z.int().min(1).describe('Length of its vectors'),
  languages: z.array(z.string()).readonly().describe('Languages that it knows, as ISO 639-1; empty: unknown'),
}

export const modelsOutput = z.strictObject({
  models: z
    .array(
      z.strictObject({
        ...modelFields,
        role: z
          .enum(['answers', 'next', 'other_languages'])
          .describe(
            'answers: queries go to it; next: it will answer when it has embedded everything; other_languages: for texts and queries in languages that the first does not know',
          ),
        vectors: z.int().min(0).describe('Passages that have a vector of this model'),
        chunks: z.int().min(0).describe('Number of passages'),
        seconds_left: z
          .int()
          .min(0)
          .nullable()
          .describe('Time until everything is embedded; null: nothing is left, or this process does not embed'),
      }),
    )
    .describe('Models that answer, or will answer'),
})
export type ModelList = z.output<typeof modelsOutput>
export type ModelState = ModelList['models'][number]

export const modelCheckOutput = z.strictObject({
  ...modelFields,
  max_tokens: z.int().min(1).describe('Longer texts are cut'),
  bytes: z.int().min(0).describe('Size of its files'),
  calibrated: z.boolean().describe('Whether it has calibrated thresholds for the verdicts weak and nothing_relevant'),
  ok: z.boolean().describe('Whether the self-test passed'),
  message: z.string().describe('What the self-test found'),
  texts_per_second: z
    .number()
    .min(0)
    .nullable()
    .describe('Short passages embedded in a second on one thread; null: the self-test failed'),
})

export type ModelCheck = z.output<typeof modelCheckOutput>

export interface UseModelInput {
  readonly folder: string
  /**
   * Which entries' texts the model embeds. Default: `other_languages` for a multilingual model that is added to one for English, else
   * `all`.
   */
  readonly for?: 'all' | 'other_languages' | undefined
  /** Whether the call waits until all entries are embedded. Default: false. */
  readonly wait?: boolean | undefined
}

export const usedModelOutput = z.strictObject({
  id: z.string().describe('Name of the model'),
  for: z.enum(['all', 'other_languages']).describe('What it is used for'),
  folder: z.string().describe('Folder of the model'),
  restart: z.boolean().describe('Whether it takes effect only when the store is next opened'),
})
export type UsedModel = z.output<typeof usedModelOutput>

// Input schemas of the operations `doctor` and `backup`.

export const doctorInput = z.strictObject({
  repair: z.boolean().optional().describe('Repair what can be rebuilt. Default: false'),
  backup: z.boolean().optional().describe('Copy the store before a repair. Default: true'),
})
export type DoctorRequest = ReadonlyDeep<z.output<typeof doctorInput>>

export const backupInput = z.strictObject({
  to: z.string().min(1).max(4096).describe('Absolute path of the file to make'),
  overwrite: z
    .boolean()
    .optional()
    .describe('Replace an existing backup; other files are never overwritten. Default: false'),
})
export type BackupRequest = ReadonlyDeep<z.output<typeof backupInput>>
