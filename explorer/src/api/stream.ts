/** The streamed form of an operation: its pieces as they come, gone on with where the connection was lost. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { send } from './call.ts'

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
