/** Operations on the engine itself: its state, health, backup, models and lenses. */

import { inspect } from 'node:util'
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { QuerentError } from '../model/errors.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { Operation } from '../model/operation.ts'
import { asQuerentError } from '../model/reported-error.ts'
import {
  backupInput,
  backupOutput,
  doctorInput,
  doctorOutput,
  modelCheckOutput,
  modelsOutput,
  type Status,
  statusOutput,
  usedModelOutput,
} from '../model/reports.ts'
import { OWN } from './own-operations.ts'

const nothing: z.ZodType<Record<string, never>> = z.strictObject({})

export const status: Operation<Engine, typeof nothing, z.ZodType<Status>> = {
  ...OWN.status,
  input: nothing,
  output: statusOutput,
  run: (engine, _input, context) => engine.status(context),
}

export const doctor: Operation<Engine, typeof doctorInput, typeof doctorOutput> = {
  ...OWN.doctor,
  input: doctorInput,
  output: doctorOutput,
  run: (engine, input, context) => engine.doctor(input, context),
}

export const backup: Operation<Engine, typeof backupInput, typeof backupOutput> = {
  ...OWN.backup,
  input: backupInput,
  output: backupOutput,
  run: (engine, input, context) => engine.backup(input, context),
}

const lensesOutput: z.ZodType<{ readonly lenses: readonly { readonly name: string; readonly summary: string }[] }> =
  z.strictObject({
    lenses: z
      .array(
        z.strictObject({
          name: z.string().describe('Name of the lens, for the field lens of a query'),
          summary: z.string().describe('Purpose, in one line'),
        }),
      )
      .describe('Lenses in the order of their set-up'),
  })

export const lenses: Operation<Engine, typeof nothing, typeof lensesOutput> = {
  ...OWN.lenses,
  input: nothing,
  output: lensesOutput,
  run: async engine => ({ lenses: engine.lenses.map(({ name, summary }) => ({ name, summary })) }),
}

const folderOfModel = z
  .string()
  .min(1)
  .max(4_096)
  .describe(
    'Folder with manifest.json, model.onnx, tokenizer.json and tokenizer_config.json, relative to the home; or built-in, or multilingual',
  )

export const models: Operation<Engine, typeof nothing, typeof modelsOutput> = {
  ...OWN.models,
  input: nothing,
  output: modelsOutput,
  run: async (engine, _input, context) => engine.models(context),
}

const checkModelInput = z.strictObject({ folder: folderOfModel })

export const checkModel: Operation<Engine, typeof checkModelInput, typeof modelCheckOutput> = {
  ...OWN.check_model,
  input: checkModelInput,
  output: modelCheckOutput,
  run: async (engine, { folder }, context) => engine.checkModel(folder, context),
}

const useModelInput = z.strictObject({
  folder: folderOfModel,
  wait: z.boolean().optional().describe('Answer when everything is embedded. Default: false'),
  for: z
    .enum(['all', 'other_languages'])
    .optional()
    .describe(
      'other_languages: beside the first model, for languages that it does not know. Default: that for a model of several languages beside one for English, else all',
    ),
})

export const useModel: Operation<Engine, typeof useModelInput, typeof usedModelOutput> = {
  ...OWN.use_model,
  input: useModelInput,
  output: usedModelOutput,
  run: async (engine, input, context) => engine.useModel(input, context),
}

// The operation `mirror` copies entries of a collection to another server, outside the store, so only the local owner may call it.

const name = z.string().min(1).max(MAX_NAME_LENGTH)

const mirrorInput = z.strictObject({
  collection: name.describe('Name of the collection here'),
  to: z.enum(['chromadb', 'qdrant']).describe('Type of the server'),
  url: z.string().min(1).max(4096).describe('Address of the server'),
  tenant: name.optional().describe('Tenant of a ChromaDB server. Default: that of the server'),
  database: name.optional().describe('Database of a ChromaDB server. Default: that of the server'),
  token: z.string().min(1).max(4096).optional().describe('Token or key of the server. Default: none'),
})

const names = z.array(z.string())
const count = z.int().min(0)

const mirrorOutput = z.strictObject({
  names: names.describe('Collections on the server that belong to this store'),
  put: count.describe('Records that were written there'),
  removed: count.describe('Records that were removed there'),
  unchanged: count.describe('Records that were there already'),
  waiting: count.describe('Chunks that have no vector yet: run it again when they have one'),
  refused: z
    .array(
      z.strictObject({
        id: z.string().describe('Id of the entry'),
        holder: z.string().describe('Id of the viewer that holds the entry'),
        reason: z.string().describe('Reason, in the words of the server'),
      }),
    )
    .describe('Records that the server refuses'),
  taken: names.describe('Collections on the server that hold records of another store; they were not changed'),
  unowned: names.describe(
    'Collections of an earlier version with records that are unknown here; they were not changed',
  ),
})

export const mirror: Operation<Engine, typeof mirrorInput, typeof mirrorOutput> = {
  ...OWN.mirror,
  input: mirrorInput,
  output: mirrorOutput,
  // The cast is needed since the returned report has a read-only type.
  run: async (engine, input, { signal, report }) => {
    const { mirrorCollection } = await import('../engine/mirror.ts')
    return (await mirrorCollection(engine, { ...input, signal, report })) as z.output<typeof mirrorOutput>
  },
}

// Details of an unexpected failure (a bug), which are written to the log and shown to no requester.

/**
 * The lines about a bug, with its causes, for the server's log; null for an error that is no bug. `request`: the id that the client
 * received, by which the lines can be found.
 */
export function bugReport(thrown: unknown, request: string): string | null {
  return isBug(asQuerentError(thrown)) ? `querent: bug in request ${request}: ${inspect(thrown)}\n` : null
}

/**
 * Whether the error is a bug of this program. A lens may report a bug under an error code of its own; the bug is then the error's cause.
 */
function isBug({ code, kind, cause, isOpen }: QuerentError): boolean {
  return code === 'internal' || (isOpen && kind === 'broken' && !(cause instanceof QuerentError))
}
