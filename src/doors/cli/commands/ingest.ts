/** `init`, `add`, `export`, `import`. */
import { createReadStream, createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { promises, type Readable, type Writable } from 'node:stream'
import type { Engine } from '../../../engine/engine.ts'
import type { ChatRequest } from '../../../model/entry-input.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { status } from '../../../ops/admin-ops.ts'
import { add } from '../../../ops/ingest-ops.ts'
import { EXIT } from '../failure.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { linesOf, write, writeJson } from '../io.ts'
import { withProgress } from '../progress.ts'
import { addText, counted } from '../render/reports.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

/** Here, not above: someone who says `init` in a folder means that folder. */
export async function runInit(cli: Cli, flags: CommonFlags): Promise<void> {
  const home = flags.home ?? (cli.io.env['QUERENT_HOME'] || resolve(cli.io.workingFolder, '.querent'))
  const answer = await withSession(cli, { ...flags, home }, { create: true }, session => session.run(status, {}))
  await print(cli, flags, answer, { table: () => `store ready in ${answer.home ?? home}, ${answer.entries} entries\n` })
}

interface AddFlags extends CommonFlags {
  readonly collection?: string
  readonly kind?: string
  readonly tag?: readonly string[]
  readonly visibility?: 'private' | 'public' | 'shared'
  readonly federation?: readonly string[]
  readonly map?: readonly string[]
  readonly lens?: string
  readonly wait: boolean
  readonly code?: true
  readonly chat?: true
  readonly profile?: 'people' | 'assistant'
  readonly chatFormat?: NonNullable<ChatRequest['format']>
  readonly zone?: string
  readonly conversation?: string
  readonly dateOrder?: 'day-first' | 'month-first'
}

export async function runAdd(cli: Cli, paths: readonly string[], flags: AddFlags): Promise<void> {
  const { collection, kind, visibility, wait, lens } = flags
  const input = {
    paths: paths.map(path => resolve(cli.io.workingFolder, path)),
    ...{ collection, kind, visibility, wait, lens, tags: flags.tag, federations: flags.federation },
    ...(flags.map && { map: fieldMap(flags.map) }),
    ...chatOf(flags),
  }
  const outcome = await withProgress(cli.io, report =>
    withSession(cli, flags, { create: true, report }, session => session.run(add, input)),
  )
  await print(cli, flags, outcome, { table: style => addText(outcome, style) })
  const { added, updated, unchanged, deleted, errors } = outcome
  const nothingCame = added + updated + unchanged + deleted === 0
  if (errors.length > 0 && nothingCame) cli.exitCode = EXIT.failed // some bad files among good ones are no failure
}

/** Throws where a flag that only conversations have stands without `--chat`. */
function chatOf(flags: AddFlags): { readonly chat?: ChatRequest } {
  const { profile, chatFormat, zone, conversation, dateOrder } = flags
  if (flags.chat === true) return { chat: { profile, format: chatFormat, zone, conversation, date_order: dateOrder } }
  const only = { profile, 'chat-format': chatFormat, zone, conversation, 'date-order': dateOrder }
  for (const [name, value] of Object.entries(only)) {
    if (value !== undefined) throw invalidArgument(`--${name}`, value, '--chat beside it')
  }
  return {}
}

function fieldMap(pairs: readonly string[]): Record<string, string> {
  const split = pairs.map(pair => {
    const at = pair.indexOf('=')
    if (at <= 0 || at === pair.length - 1) throw invalidArgument('--map', pair, 'ours=theirs, such as content=body')
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(split)
}

interface ExportFlags extends CommonFlags {
  readonly skipDamaged?: true
}

/** NDJSON, on standard output or into a file; ends quietly when the reader has read enough. */
export async function runExport(cli: Cli, file: string | undefined, flags: ExportFlags): Promise<void> {
  const body = async (engine: Engine, context: CallContext): Promise<void> => {
    const made = file === undefined || file === '-' ? null : await newFile(resolve(cli.io.workingFolder, file))
    for await (const line of engine.export(context)) {
      if (cli.signal.aborted) break
      await writeJson(made ?? cli.io.stdout, line)
    }
    if (made !== null) await promises.finished(made.end())
  }
  if (flags.skipDamaged !== true) await withSession(cli, flags, {}, ({ engine, context }) => body(engine, context))
  else await (await import('./care.ts')).exportReadable(cli, flags, body)
}

export async function runImport(cli: Cli, file: string | undefined, flags: CommonFlags): Promise<void> {
  const source =
    file === undefined || file === '-' ? cli.io.stdin : await oldFile(resolve(cli.io.workingFolder, file), file)
  const answer = await withSession(cli, flags, { create: true }, ({ engine, context }) =>
    engine.import(jsonLines(source, file ?? '-'), context),
  )
  await print(cli, flags, answer, {
    table: () => `${counted(answer.entries, 'entry', 'entries')}, ${counted(answer.rows, 'row')} imported\n`,
  })
  for (const warning of wantsJson(flags) ? [] : answer.warnings) await write(cli.io.stderr, `querent: ${warning}\n`)
}

async function newFile(path: string): Promise<Writable> {
  const stream = createWriteStream(path)
  await opened(stream, path)
  return stream
}

/** Open before anything else is: a file that is not there makes no store, and no error that nobody listens for. */
async function oldFile(path: string, name: string): Promise<Readable> {
  const stream = createReadStream(path)
  await opened(stream, name)
  return stream
}

function opened(stream: Readable | Writable, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve())
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
