/** About the engine itself: how it is, whether it is well, what ways of asking it has. */
import { z } from 'zod'
import type { Backup, Engine, Examination, Status } from '../engine/engine.ts'
import { backupInput, doctorInput } from '../model/care-input.ts'
import type { Operation } from '../model/operation.ts'

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})
const READ = { kind: 'read', idempotent: true } as const

const statusOutput: z.ZodType<Status> = z.strictObject({
  version: z.string(),
  home: z.string().nullable(),
  entries: z.int(),
  chunks: z.int(),
  embedded: z.int(),
  collections: z.array(z.strictObject({ value: z.string(), count: z.int() })),
  embedder: z
    .strictObject({
      id: z.string(),
      dimensions: z.int(),
      runs_on: z.strictObject({ runtime: z.enum(['native', 'wasm']), workers: z.int() }).nullable(),
    })
    .nullable(),
  embedder_error: z.string().nullable(),
  indexes: z.array(z.strictObject({ name: z.string(), bytes: z.int().nullable(), rows: z.int().nullable() })),
  lenses: z.array(z.string()),
  storage: z.strictObject({ log_bytes: z.int(), to_erase: z.boolean() }).nullable(),
})

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  name: 'status',
  summary: 'Say what the store holds and how far it is embedded and indexed',
  input: nothing,
  output: statusOutput,
  effect: READ,
  run: (engine, _input, context) => engine.status(context),
}

const doctorOutput: z.ZodType<Examination> = z.strictObject({
  ok: z.boolean(),
  findings: z.array(
    z.strictObject({
      check: z.string(),
      ok: z.boolean(),
      message: z.string(),
      help: z.string().nullable(),
      repaired: z.string().nullable(),
    }),
  ),
  backup: z.string().nullable(),
})

export const doctor: Operation<Engine, typeof doctorInput, typeof doctorOutput> = {
  name: 'doctor',
  summary: 'Check store, indexes and embedder, say what to do about what is wrong, and mend it if told to',
  input: doctorInput,
  output: doctorOutput,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (engine, input, context) => engine.doctor(input, context),
}

const backupOutput: z.ZodType<Backup> = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  entries: z.int(),
  position: z.int(),
  not_held: z.array(z.string()),
})

export const backup: Operation<Engine, typeof backupInput, typeof backupOutput> = {
  name: 'backup',
  summary: 'Copy the store into one file, while others write to it',
  input: backupInput,
  output: backupOutput,
  effect: { kind: 'write', idempotent: false, ownerOnly: true },
  run: (engine, input, context) => engine.backup(input, context),
}

const lensesOutput: z.ZodType<{ readonly lenses: readonly { readonly name: string; readonly summary: string }[] }> =
  z.strictObject({ lenses: z.array(z.strictObject({ name: z.string(), summary: z.string() })) })

export const lenses: Operation<Engine, typeof nothing, typeof lensesOutput> = {
  name: 'lenses',
  summary: 'List the lenses: the named ways to ask',
  input: nothing,
  output: lensesOutput,
  effect: READ,
  run: async engine => ({ lenses: engine.lenses.map(({ name, summary }) => ({ name, summary })) }),
}
