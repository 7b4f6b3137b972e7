/** One operation, over HTTP, as whoever the session says. */

import { EventSourceParserStream } from 'eventsource-parser/stream'
import { credentials, isTokenWanted } from './shell/session.ts'

/** What the server refused, in its own words. */
export class ApiError extends Error {
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Throws `ApiError`; `unreachable` where there is no answer. An aborted signal throws its reason. */
export async function call<T>(operation: string, input: object = {}, signal?: AbortSignal): Promise<T> {
  const response = await send(operation, input, 'application/json', signal)
  return (await response.json()) as T
}

export async function send(
  operation: string,
  input: object,
  accept: string,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(`v1/ops/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...credentials(), ...headers },
    body: JSON.stringify(input),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw signal.reason
    throw new ApiError('unreachable', 'The server does not answer. Is `querent serve` still running?', { cause })
  })
  if (response.ok) return response
  if (response.status === 401) isTokenWanted.value = true
  throw await errorOf(response)
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { error?: { code?: string; message?: string } } | null
  const { code = 'internal', message = `The server answered ${response.status}.`, ...details } = body?.error ?? {}
  return new ApiError(code, message, details)
}

/** Resolves after so long, or at once when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

// The streamed form of an operation: its pieces as they come, gone on with where the connection was lost.

export interface Piece<T> {
  readonly value: T
  /** Null: the stream cannot be gone on with from here. */
  readonly token: string | null
}

/** Ends with the server's stream or the signal. What is refused throws `ApiError`. */
export async function* stream<T>(
  operation: string,
  input: object,
  signal: AbortSignal,
  after: string | null = null,
): AsyncGenerator<Piece<T>> {
  const resume = after === null ? {} : { 'last-event-id': after }
  const response = await send(operation, input, 'text/event-stream', signal, resume)
  if (response.body === null) return
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = events.getReader()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      yield { value: JSON.parse(value.data) as T, token: value.id ?? null }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
