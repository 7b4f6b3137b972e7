/** Files and folders that `serve` adds before it answers, as `add` does. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { runOperation } from '../../../ops/catalog.ts'
import { add } from '../../../ops/ingest-ops.ts'
import { writeStyled } from '../io.ts'
import { withProgress } from '../progress.ts'
import { PLAIN_TEXT } from '../render/answer.ts'
import { addText } from '../render/reports.ts'
import { styleOf } from '../render/style.ts'
import type { Cli } from '../run.ts'
import type { Session } from '../session.ts'

/** Before a store is made for them. Throws `invalid_argument` where there is nothing, `io_failed` where it may not be seen. */
export async function mustBeThere(cli: Cli, paths: readonly string[]): Promise<void> {
  for (const [at, path] of paths.entries()) {
    await stat(resolve(cli.io.workingFolder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
        throw invalidArgument(`paths.${at}`, path, 'the path of an existing file or folder')
      }
      throw new QuerentError('io_failed', `${path}: ${error.message}`, { path, cause: error.code ?? '' }, error)
    })
  }
}

/** All that is said goes to standard error. What cannot be read is reported, and the rest is served. */
export async function addFiles(
  { io }: Cli,
  { engine, context }: Session,
  paths: readonly string[],
  collection: string | undefined,
): Promise<void> {
  const input = { paths: paths.map(path => resolve(io.workingFolder, path)), collection }
  const outcome = await withProgress(io, report => runOperation(add, engine, input, { ...context, report }))
  await writeStyled(io.stderr, addText(outcome, { ...PLAIN_TEXT, style: styleOf({ env: io.env, stdout: io.stderr }) }))
}
