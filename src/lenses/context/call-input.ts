/** Calls as a command line gives them (CX-046): a path, and parameters as JSON, as `@file`, or on standard input. */
import { QuerentError } from '../../model/errors.ts'
import { refusal } from './envelope.ts'

/** Where parameters given by name come from. */
export interface CallInput {
  /** Undefined: there is no such file. */
  readFile(path: string): Promise<string | undefined>
  readStandardInput(): Promise<string>
}

/** Whether the first argument of a command is a path of this lens rather than the name of a command. */
export function isCallPath(argument: string | undefined): argument is string {
  return argument?.startsWith('/') ?? false
}

/** Throws `Refusal` with `file_not_found`, `unreadable` or `invalid_json`. What is empty is null. */
export async function paramsOf(argument: string | undefined, input: CallInput): Promise<unknown> {
  if (argument === undefined || argument === '-') return parsed(await read(() => input.readStandardInput()))
  if (!argument.startsWith('@')) return parsed(argument)
  const path = argument.slice(1)
  const text = await read(() => input.readFile(path))
  if (text === undefined) throw refusal('params', 'file_not_found', `there is no file ${path}`)
  return parsed(text)
}

/** What is no text cannot be JSON. */
async function read<T>(source: () => Promise<T>): Promise<T> {
  try {
    return await source()
  } catch (error) {
    const isNoText = error instanceof QuerentError && error.code === 'invalid_argument'
    throw refusal('params', isNoText ? 'invalid_json' : 'unreadable', messageOf(error))
  }
}

function parsed(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refusal('params', 'invalid_json', messageOf(error))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
