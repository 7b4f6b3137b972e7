/** `export`, `import`. */
import { createReadStream, createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { promises, type Readable, type Writable } from 'node:stream'
import type { Engine } from '../../../engine/engine.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { linesOf, write, writeJson } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { each } from '../render/answer.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

/** NDJSON, on standard output or into a file; ends quietly when the reader has read enough. */
export async function runExport(cli: Cli, flags: Flags, [file]: readonly string[]): Promise<void> {
  const body = async (engine: Engine, context: CallContext): Promise<void> => {
    const made =
      file === undefined || file === '-'
        ? null
        : await opened(createWriteStream(resolve(cli.io.workingFolder, file)), file)
    for await (const line of engine.export(context)) {
      if (cli.signal.aborted) break
      await writeJson(made ?? cli.io.stdout, line)
    }
    if (made !== null) await promises.finished(made.end())
  }
  if (flags['skipDamaged'] !== true) await withSession(cli, flags, {}, ({ engine, context }) => body(engine, context))
  else await (await import('./care.ts')).exportReadable(cli, flags, body)
}

export async function runImport(cli: Cli, flags: CommonFlags, [file]: readonly string[]): Promise<void> {
  const isPiped = file === undefined || file === '-'
  const source = isPiped ? cli.io.stdin : await opened(createReadStream(resolve(cli.io.workingFolder, file)), file)
  const answer = await withSession(cli, flags, { create: true }, ({ engine, context }) =>
    engine.import(jsonLines(source, file ?? '-'), context),
  )
  await print(cli, flags, answer, each('', '{entries entry/entries}, {rows row/rows} imported'))
  for (const warning of wantsJson(flags) ? [] : answer.warnings) await write(cli.io.stderr, `querent: ${warning}\n`)
}

/** Open before anything else is: a file that is not there makes no store, and no error that nobody listens for. */
function opened<File extends Readable | Writable>(stream: File, name: string): Promise<File> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream))
    stream.once('error', error => reject(ioFailed(name, error)))
  })
}

async function* jsonLines(source: Readable, name: string): AsyncGenerator<unknown> {
  let number = 0
  try {
    for await (const line of linesOf(source)) {
      number += 1
      if (line.trim() !== '') yield parseLine(line, number)
    }
  } catch (error) {
    throw error instanceof QuerentError ? error : ioFailed(name, error as Error)
  }
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new QuerentError('invalid_json', `line ${number}: not JSON`, { line: number }, error)
  }
}

function ioFailed(path: string, cause: Error): QuerentError {
  return new QuerentError('io_failed', `${path}: ${cause.message}`, { path, cause: cause.message }, cause)
}
