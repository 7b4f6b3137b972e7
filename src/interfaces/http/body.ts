/** Reads the body of an HTTP request: limited in size, complete, and decoded as UTF-8 text or one JSON document. */

import { isRecord } from '../../base/record.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'

export const MAX_BODY_BYTES: number = 4 * 1024 * 1024

/**
 * Parses the request's body as JSON; null if the body is empty. Throws `too_large`, `cancelled` (the client disconnected),
 * `invalid_argument` (not UTF-8), `invalid_json`.
 */
export async function readJson(request: Request, most: number = MAX_BODY_BYTES): Promise<unknown> {
  const text = decode(await readBytes(request, most))
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new QuerentError('invalid_json', `body: ${(error as Error).message}`, { field: 'body' }, error)
  }
}

/**
 * A copy of the request whose body has already been read within the size limit, for handlers that have no limit of their own. Throws
 * `too_large`, `cancelled` (the client disconnected), `invalid_argument` (not UTF-8).
 */
export async function wholeRequest(request: Request, most: number): Promise<Request> {
  if (request.method === 'GET' || request.method === 'HEAD') return request
  const { url, method, headers, signal } = request
  return new Request(url, { method, headers, signal, body: decode(await readBytes(request, most)) })
}

/**
 * Reads the bytes of the request's body. Throws `too_large`; and `cancelled` if the client disconnects before the end, because an
 * incomplete body is not used.
 */
export async function readBytes(request: Request, most: number = MAX_BODY_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > most) throw tooLarge(most)
  // If the header states the length, the body is read at once: Node delivers no more bytes than stated, and reading it as a stream would
  // take longer than the rest of the work for a request.
  if (length !== null) return new Uint8Array(await request.arrayBuffer().catch(cutOff))
  if (request.body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of received(request.body)) {
    size += part.length
    if (size > most) throw tooLarge(most)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/**
 * Yields the body as it arrives. The only possible error is that of the connection: closed by the client, or cut off because it is slow or
 * malformed.
 */
async function* received(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    cutOff(error)
  }
}

function cutOff(error: unknown): never {
  throw new QuerentError('cancelled', 'body: the connection ended before it was complete', { field: 'body' }, error)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidArgument('body', '(bytes)', 'UTF-8 text')
  }
}

function tooLarge(most: number): QuerentError {
  return new QuerentError('too_large', `body: at most ${most} bytes`, { field: 'body', limit: most })
}

// Reads and sets fields of unchecked input by a path with dots, such as `options.stream`.

/** The value of the field at a path of the input; undefined if there is no such field. */
export function valueAt(input: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), input)
}

/**
 * A copy of the input with the field at the path set. If something on the path is not an object, the input is returned unchanged, so that
 * the operation rejects it.
 */
export function withValueAt(input: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  const object = input ?? {}
  if (!isRecord(object)) return input
  return { ...object, [name]: rest.length === 0 ? value : withValueAt(object[name], rest.join('.'), value) }
}
