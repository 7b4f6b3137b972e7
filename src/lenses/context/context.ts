/**
 * The lens as a library: `call(path, params, emit?)`, as one viewer; also with parameters as a command line gives them (CX-046): as JSON, as
 * `@file`, or on standard input.
 */
import { QuerentError } from '../../model/errors.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import { callHandler, type Emit } from './call.ts'
import { type Envelope, refusal } from './envelope.ts'
import { HANDLERS } from './operations.ts'

export class Context {
  readonly #host: LensHost
  readonly #viewer: Viewer

  /** `host` is that of the lens: `engine.host('context')`. */
  constructor(host: LensHost, viewer: Viewer = LOCAL_OWNER) {
    this.#host = host
    this.#viewer = viewer
  }

  /** Never rejects: what goes wrong is in the envelope. */
  call(path: string, params: unknown = null, emit?: Emit, signal?: AbortSignal): Promise<Envelope> {
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, emit, signal })
  }

  /** As `call`, with parameters as an argument of a command line. */
  callText(path: string, argument: string | undefined, input: CallInput, signal?: AbortSignal): Promise<Envelope> {
    const params = () => paramsOf(argument, input)
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, signal })
  }
}

/** Where parameters given by name come from. */
export interface CallInput {
  /** Undefined: there is no such file. */
  readFile(path: string): Promise<string | undefined>
  readStandardInput(): Promise<string>
}

/** Throws `Refusal` with `file_not_found`, `unreadable` or `invalid_json`. What is empty is null. */
async function paramsOf(argument: string | undefined, input: CallInput): Promise<unknown> {
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
