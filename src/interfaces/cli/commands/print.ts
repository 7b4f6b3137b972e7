/** Prints the answer of an operation in the requested format: text, JSON, or JSON lines for a stream. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { JsonObject } from '../../../base/canonical.ts'
import { QuerentError } from '../../../model/errors.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { type Cli, decodeUtf8, readAll, write, writeJson, writeStyled } from '../io.ts'
import { PLAIN, type Print, type Shown, styleOf } from '../render/answer.ts'
import { homeFor, viewerOf } from '../session.ts'

export async function print<Answer>(
  { io }: Cli,
  flags: CommonFlags,
  value: Answer,
  text: Print<Answer>,
  input: Shown['input'] = {},
  isPaged = false,
): Promise<void> {
  const isMarkdown = flags.format === 'md'
  if (wantsJson(flags)) return writeJson(io.stdout, value, 2)
  const style = isMarkdown ? PLAIN : styleOf(io)
  const shown = {
    ...{ isMarkdown, style, width: io.stdout.columns, folder: io.workingFolder, flags: { ...flags }, input },
    hasMore: isPaged && !('cursor' in flags),
  }
  return (isMarkdown ? write : writeStyled)(io.stdout, text(value, shown))
}

export async function printPieces(cli: Cli, pieces: AsyncIterable<JsonObject>): Promise<void> {
  for await (const piece of pieces) await printLine(cli, piece)
}

/**
 * Prints a streamed answer: each member of the list named `list` as it arrives. Resolves to the number of members, and to all other fields
 * of the pieces.
 */
export async function printMembers(
  cli: Cli,
  pieces: AsyncIterable<JsonObject>,
  list: string,
): Promise<{ readonly rest: JsonObject; readonly count: number }> {
  let whole: JsonObject = {}
  let count = 0
  for await (const { [list]: members, ...rest } of pieces) {
    for (const member of members as readonly unknown[]) await printLine(cli, member)
    count += (members as readonly unknown[]).length
    whole = joined(whole, rest)
  }
  return { rest: whole, count }
}

/** Joins two pieces of a streamed answer: lists are concatenated; of every other field the last value counts. */
function joined(before: JsonObject, piece: JsonObject): JsonObject {
  const lists = Object.entries(piece).flatMap(([name, value]) => {
    const known = before[name]
    return Array.isArray(known) && Array.isArray(value) ? [[name, [...known, ...value]] as const] : []
  })
  return { ...before, ...piece, ...Object.fromEntries(lists) }
}

/** Throws `invalid_argument` if `--stream` is combined with a format other than JSON. */
export function assertLines({ format }: CommonFlags): void {
  if (format === undefined || format === 'json') return
  const message = `--format: expected json, or none, got ${format}; with --stream results are JSON lines`
  throw new QuerentError('invalid_argument', message, { field: '--format', value: format, expected: 'json' })
}

async function printLine(cli: Cli, value: unknown): Promise<void> {
  await writeJson(cli.io.stdout, value)
}

// Stores the input with which the next page of an answer can be requested, for `--more`: in the home of the store, with the viewer and
// command that it belongs to.

interface NextPage {
  readonly command: string
  readonly viewer: string
  /** Input of the operation for the next page, including the cursor. */
  readonly input: JsonObject
}

/** Stores the input with which `--more` requests the next page; null removes the stored one. Does nothing if the home cannot be written. */
export function keepNextPage(cli: Cli, flags: CommonFlags, command: string, input: JsonObject | null): void {
  try {
    const file = fileOf(cli, flags)
    const page = { command, viewer: viewerNow(cli, flags), input }
    if (input === null) rmSync(file, { force: true })
    else writeFileSync(file, JSON.stringify(page), { mode: 0o600 })
  } catch {
    // An error of writing is ignored: a later command with `--more` then reports that there is no next page.
  }
}

/** The stored input for the next page. Throws `not_found` if the last answer of this command to this viewer had no further page. */
export function nextPage(cli: Cli, flags: CommonFlags, command: string): JsonObject {
  const page = read(fileOf(cli, flags))
  if (page?.command === command && page.viewer === viewerNow(cli, flags)) return page.input
  const message = `--more: the last answer of \`querent ${command}\` had no further page, or there was none; run it with a query first`
  throw new QuerentError('not_found', message, { field: '--more' })
}

function read(file: string): NextPage | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as NextPage
  } catch {
    return null
  }
}

function viewerNow({ io }: Cli, flags: CommonFlags): string {
  return viewerOf(flags.viewer, io.env['QUERENT_VIEWER']).id
}

function fileOf(cli: Cli, flags: CommonFlags): string {
  return join(homeFor(cli, flags).folder, 'last-page.json')
}

// Reads input of a command that is not on the command line: files, piped text, and JSON in them.

/** Input of an operation before it was checked; the operation itself checks it. */
export type Input = Readonly<Record<string, unknown>>

/** Maximum size of a piped input in bytes, large enough for a big store exported as one document. */
export const MAX_INPUT: number = 1024 * 1024 * 1024

/** The text of a file named on the command line; `-` means standard input. */
export function textOf(cli: Cli, file: string): Promise<string> {
  return file === '-' ? readAll(cli.io.stdin, MAX_INPUT) : fileText(cli, file)
}

/**
 * Reads a text file, relative to the working folder. Rejects with `io_failed` if it cannot be read, and with `invalid_argument` if it is
 * not UTF-8. `name`: name of the file in messages.
 */
export async function fileText(cli: Cli, file: string, name: string = file): Promise<string> {
  try {
    return decodeUtf8(await readFile(resolve(cli.io.workingFolder, file)), name)
  } catch (error) {
    if (error instanceof QuerentError) throw error
    throw fileFailed(name, error as Error, file)
  }
}

const CODES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'exists already',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'there is no such file or folder',
  EROFS: 'the disk is read-only',
}

/**
 * The error for a file or folder named on the command line that could not be opened or read, with the system's reason in words. `name`:
 * what the message calls the file.
 */
export function fileFailed(name: string, error: NodeJS.ErrnoException, path: string = name): QuerentError {
  const cause = CODES[error.code ?? ''] ?? error.message
  return new QuerentError('io_failed', `${name}: ${cause}`, { path, cause }, error)
}

/** The whole text on standard input, without the last line end, which the shell adds. */
export async function pipedText(cli: Cli): Promise<string> {
  return (await textOf(cli, '-')).replace(/\r?\n$/, '')
}

/** Parses JSON. Throws `invalid_json` if the text is not JSON. `field`: name of the input, for the error. */
export function parsed(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new QuerentError('invalid_json', `${field}: ${(error as Error).message}`, { field }, error)
  }
}
