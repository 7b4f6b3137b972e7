/** About the engine itself: how it is, whether it is well, what ways of asking it has. */
import { z } from 'zod'
import type { Backup, Engine, Examination, Status } from '../engine/engine.ts'
import { backupInput, doctorInput } from '../model/care-input.ts'
import type { Operation } from '../model/operation.ts'
import { changedPath } from './ingest-ops.ts'

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const READ = { kind: 'read', idempotent: true } as const

const statusOutput: z.ZodType<Status> = z.strictObject({
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
    .describe('The largest first'),
  embedder: z
    .strictObject({
      id: z.string().describe('Name and version of the model'),
      dimensions: z.int().min(1).describe('Length of a vector'),
      runs_on: z
        .strictObject({
          runtime: z.enum(['native', 'wasm']).describe('What computes it'),
          workers: z.int().min(1).describe('Threads or processes of it'),
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
        name: z.string().describe('Such as words or vectors'),
        bytes: z.int().min(0).nullable().describe('Memory it takes; null: not known'),
        rows: z.int().min(0).nullable().describe('What it holds; null: not shown'),
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
      to_erase: z.boolean().describe('Whether deleted text is still to be wiped from the file'),
    })
    .nullable()
    .describe('The file, for its owner; null: none, or not shown'),
  paths: z
    .array(changedPath)
    .nullable()
    .describe('Files and folders that were added, and what changed below them since, for the owner; null: not shown'),
})

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  name: 'status',
  summary: 'Show what the store holds and how much of it is embedded and indexed',
  input: nothing,
  output: statusOutput,
  effect: READ,
  run: (engine, _input, context) => engine.status(context),
}

const doctorOutput: z.ZodType<Examination> = z.strictObject({
  ok: z.boolean().describe('Whether no check found anything wrong'),
  findings: z
    .array(
      z.strictObject({
        check: z.string().describe('Name of what was examined, such as words or vectors'),
        ok: z.boolean().describe('Whether nothing is wrong with it'),
        message: z.string().describe('What was found, in a sentence'),
        help: z.string().nullable().describe('What to do; null: nothing'),
        repaired: z.string().nullable().describe('With repair: what was done; null: nothing'),
      }),
    )
    .describe('One item a check'),
  backup: z.string().nullable().describe('With repair: path of the copy that was made first; null: none'),
})

export const doctor: Operation<Engine, typeof doctorInput, typeof doctorOutput> = {
  name: 'doctor',
  summary: 'Check store, indexes and embedder, say how to fix problems, and repair them on request',
  input: doctorInput,
  output: doctorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.doctor(input, context),
}

const backupOutput: z.ZodType<Backup> = z.strictObject({
  path: z.string().describe('The file that was made'),
  bytes: z.int().min(0).describe('Its length'),
  entries: z.int().min(0).describe('How many it holds'),
  position: z.int().min(0).describe('Last change in it: what was written later is not'),
  not_held: z.array(z.string()).describe('What a backup does not contain, such as models'),
})

export const backup: Operation<Engine, typeof backupInput, typeof backupOutput> = {
  name: 'backup',
  summary: 'Copy the store into one file, also while others write to it',
  input: backupInput,
  output: backupOutput,
  effect: { kind: 'write', idempotent: false, ownerOnly: true },
  run: (engine, input, context) => engine.backup(input, context),
}

const lensesOutput: z.ZodType<{ readonly lenses: readonly { readonly name: string; readonly summary: string }[] }> =
  z.strictObject({
    lenses: z
      .array(
        z.strictObject({
          name: z.string().describe('For the field lens of a query'),
          summary: z.string().describe('What it is for, in a line'),
        }),
      )
      .describe('Lenses in the order of their set-up'),
  })

export const lenses: Operation<Engine, typeof nothing, typeof lensesOutput> = {
  name: 'lenses',
  summary: 'List the lenses',
  input: nothing,
  output: lensesOutput,
  effect: READ,
  run: async engine => ({ lenses: engine.lenses.map(({ name, summary }) => ({ name, summary })) }),
}
