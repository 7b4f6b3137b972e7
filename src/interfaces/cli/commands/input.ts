/** What a command is given beside its words and flags: files, piped text, and JSON in them. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QuerentError } from '../../../model/errors.ts'
import { decodeUtf8, readAll } from '../io.ts'
import type { Cli } from '../run.ts'

/** Of an operation, which checks it. */
export type Input = Readonly<Record<string, unknown>>

/** In bytes: a large store exported as one document should still fit. */
export const MAX_INPUT: number = 1024 * 1024 * 1024

/** The text of a file; `-` reads standard input. */
export function textOf(cli: Cli, file: string): Promise<string> {
  return file === '-' ? readAll(cli.io.stdin, MAX_INPUT) : fileText(cli, file)
}

/** Rejects with `io_failed`, and with `invalid_argument` for what is not UTF-8; `name` is what messages call the file. */
export async function fileText(cli: Cli, file: string, name: string = file): Promise<string> {
  try {
    return decodeUtf8(await readFile(resolve(cli.io.workingFolder, file)), name)
  } catch (error) {
    if (error instanceof QuerentError) throw error
    throw new QuerentError('io_failed', `${name}: ${(error as Error).message}`, { path: file }, error)
  }
}

/** All of standard input. One line end is the shell's, not the text's. */
export async function pipedText(cli: Cli): Promise<string> {
  return (await textOf(cli, '-')).replace(/\r?\n$/, '')
}

/** Throws `invalid_json`, naming the field. */
export function parsed(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new QuerentError('invalid_json', `${field}: ${(error as Error).message}`, { field }, error)
  }
}
