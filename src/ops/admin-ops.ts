/** About the engine itself: how it is, whether it is well, what ways of asking it has. */
import { z } from 'zod'
import type { Engine, Finding, Status } from '../engine/engine.ts'
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
  embedder: z.strictObject({ id: z.string(), dimensions: z.int() }).nullable(),
  embedder_error: z.string().nullable(),
  indexes: z.array(z.strictObject({ name: z.string(), bytes: z.int().nullable(), rows: z.int().nullable() })),
  lenses: z.array(z.string()),
})

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  name: 'status',
  summary: 'Say what the store holds and how far it is embedded and indexed',
  input: nothing,
  output: statusOutput,
  effect: READ,
  run: (engine, _input, context) => engine.status(context),
}

const doctorOutput: z.ZodType<{ readonly ok: boolean; readonly findings: readonly Finding[] }> = z.strictObject({
  ok: z.boolean(),
  findings: z.array(
    z.strictObject({ check: z.string(), ok: z.boolean(), message: z.string(), help: z.string().nullable() }),
  ),
})

export const doctor: Operation<Engine, typeof nothing, typeof doctorOutput> = {
  name: 'doctor',
  summary: 'Check store, indexes and embedder, and say what to do about what is wrong',
  input: nothing,
  output: doctorOutput,
  effect: { ...READ, ownerOnly: true },
  run: (engine, _input, context) => engine.doctor(context),
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
