/** The commands `doctor` and `backup`, and `export` and `import`, including the forms that read a damaged store. */

import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { promises, type Readable, type Writable } from 'node:stream'
import type { JsonObject } from '../../../base/canonical.ts'
import { examineClosed, isOfStore } from '../../../engine/care/doctor-files.ts'
import {
  backUpReadable,
  homeOf,
  putInPlace,
  syncFile,
  unfinishedPath,
  withSalvaged,
} from '../../../engine/care/salvage.ts'
import type { Engine, Examination } from '../../../engine/engine.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { BackupRequest, DoctorRequest } from '../../../model/reports.ts'
import { LOCAL_OWNER } from '../../../model/viewer.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { type Cli, EXIT, linesOf, type Output, write, writeJson } from '../io.ts'
import type { CallContext as CommandContext, Flags } from '../operation-command.ts'
import { each, oneLine } from '../render/answer.ts'
import { requireOwner, withSession } from '../session.ts'
import { fileFailed, print } from './print.ts'

/**
 * Runs the examination that `doctor` reports. A store that no engine can open is examined without one; if that repairs the store, it is
 * then examined again with an engine.
 */
export async function examined(input: DoctorRequest, { cli, flags, run }: CommandContext): Promise<Examination> {
  const open = () => run<Examination>()
  try {
    return await open()
  } catch (error) {
    if (!isOfStore(error)) throw error
    requireOwner(cli, flags)
    const outside = await examineClosed(homeOf(flags.home), error, input, Date.now())
    if (!outside.findings.some(({ repaired }) => repaired !== null)) return outside
    const inside = await open().catch(() => null)
    if (inside === null) return outside
    const known = outside.findings.filter(({ repaired }) => repaired !== null)
    const others = inside.findings.filter(({ check }) => !known.some(one => one.check === check))
    return { ...inside, findings: [...known, ...others], backup: outside.backup }
  }
}

/** Backs up the store; with `--skip-damaged`, everything in it that can be read. */
export async function backedUp(input: JsonObject, { cli, flags, run, report }: CommandContext): Promise<object> {
  if (flags['skipDamaged'] !== true) return run()
  requireOwner(cli, flags)
  const request = input as unknown as BackupRequest
  const { lost, ...copy } = await backUpReadable(homeOf(flags.home), Date.now(), request, { report })
  reportLost(cli, lost)
  return copy
}

/** Runs `export --skip-damaged`: exports everything in the store that can be read. */
async function exportReadable(
  cli: Cli,
  flags: CommonFlags,
  body: (engine: Engine, context: CallContext) => Promise<void>,
): Promise<void> {
  requireOwner(cli, flags)
  await withSalvaged(homeOf(flags.home), Date.now(), async (engine, { lost }) => {
    await body(engine, { viewer: LOCAL_OWNER, signal: cli.signal })
    reportLost(cli, lost)
  })
}

/** Lists on standard error what could not be read; the exit code then says that the result is incomplete. */
function reportLost(cli: Cli, lost: readonly string[]): void {
  for (const line of lost) void write(cli.io.stderr, `lost: ${oneLine(line)}\n`)
  if (lost.length > 0) cli.exitCode = EXIT.failed
}

// The commands `export` and `import`.

/**
 * Runs `export`: writes the store's contents as NDJSON to standard output or a file. Ends without an error if the reader of standard output
 * closes the pipe early. A file appears only when it is complete; one that is there already is replaced only with `--overwrite`, and only if
 * it is an export.
 */
export async function runExport(cli: Cli, flags: Flags, [name]: readonly string[]): Promise<void> {
  const overwrite = flags['overwrite'] === true
  const target = name === undefined || name === '-' ? null : exportTarget(cli, name, overwrite)
  const body = async (engine: Engine, context: CallContext): Promise<void> => {
    const lines = engine.export(context)
    if (target === null) return writeLines(cli, lines, cli.io.stdout)
    const { path, isPlain } = target
    const written = isPlain ? unfinishedPath(path) : path
    try {
      const made = await opened(
        createWriteStream(written, { flags: isPlain ? 'wx' : 'w', mode: 0o600 }),
        name as string,
      )
      await writeLines(cli, lines, made)
      await promises.finished(made.end())
      if (!isPlain || cli.signal.aborted) return
      syncFile(written)
      putInPlace(written, path, overwrite)
    } catch (error) {
      // Only errors of the operating system have a system call; others are the engine's own.
      const { syscall } = error as NodeJS.ErrnoException
      throw syscall === undefined ? error : fileFailed(name as string, error as Error)
    } finally {
      if (isPlain) rmSync(written, { force: true })
    }
  }
  if (flags['skipDamaged'] !== true) await withSession(cli, flags, {}, ({ engine, context }) => body(engine, context))
  else await exportReadable(cli, flags, body)
}

async function writeLines(cli: Cli, lines: AsyncIterable<unknown>, to: Output): Promise<void> {
  for await (const line of lines) {
    if (cli.signal.aborted) break
    await writeJson(to, line)
  }
}

interface ExportTarget {
  /** Absolute, with symbolic links resolved. */
  readonly path: string
  /** Whether it is, or becomes, a file on a disk: not a pipe or device. */
  readonly isPlain: boolean
}

/** First bytes of every export; its first line says what it is. */
const EXPORT_BEGINS = '{"type":"querent"'

/** Where an export goes. Throws `invalid_argument`, `conflict` or `io_failed` where a file cannot be written, or must not be replaced. */
function exportTarget(cli: Cli, name: string, overwrite: boolean): ExportTarget {
  const path = resolve(cli.io.workingFolder, name)
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there === undefined) return { path, isPlain: true }
    if (there.isDirectory()) throw invalidArgument('file', name, 'a file, and this is a folder: name a file in it')
    if (!there.isFile()) return { path, isPlain: false }
    if (!overwrite) {
      const what = 'exists already; name another file, or overwrite it (--overwrite)'
      throw new QuerentError('conflict', `${name}: ${what}`, { path })
    }
    if (!beginsAsExport(path)) {
      const what = 'it is not an export of Querent, and nothing else is overwritten; name another file'
      throw new QuerentError('conflict', `${name}: ${what}`, { path })
    }
    return { path: realpathSync(path), isPlain: true }
  } catch (error) {
    throw error instanceof QuerentError ? error : fileFailed(name, error as Error)
  }
}

function beginsAsExport(path: string): boolean {
  const start = Buffer.alloc(EXPORT_BEGINS.length)
  const file = openSync(path, 'r')
  try {
    readSync(file, start)
  } finally {
    closeSync(file)
  }
  return start.toString() === EXPORT_BEGINS
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

/**
 * Resolves when the file is open, and rejects if it cannot be opened. Called before anything else, so that a missing file leads neither to
 * a new store nor to an unhandled error.
 */
function opened<File extends Readable | Writable>(stream: File, name: string): Promise<File> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream))
    stream.once('error', error => reject(fileFailed(name, error)))
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
    throw error instanceof QuerentError ? error : fileFailed(name, error as Error)
  }
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new QuerentError('invalid_json', `line ${number}: not JSON`, { line: number }, error)
  }
}
