/**
 * Sends an answer in pieces. The next piece is requested only when the socket can take more, and closing the connection ends the work at
 * once. A failure before anything was sent is an ordinary error response with its own status; a later one is sent as the last line, or as
 * an event named `error`.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { EngineOperation } from '../../ops/catalog.ts'
import { valueAt } from './body.ts'

// Decides whether an answer is sent as a stream, and in which form, by the Accept header and the input.

/** Form of a streamed answer: NDJSON (one JSON value per line), or server-sent events. */
export type StreamForm = 'ndjson' | 'sse'

const FORMS: Readonly<Record<string, StreamForm | 'document'>> = {
  'application/x-ndjson': 'ndjson',
  'text/event-stream': 'sse',
  'application/json': 'document',
  'application/*': 'document',
  '*/*': 'document',
}

/** Form in which the answer is streamed; null: the answer is sent as one document. */
export function streamForm(operation: EngineOperation, accept: string | undefined, input: unknown): StreamForm | null {
  const { stream, streamAt } = operation
  const forms = acceptedForms(accept ?? '')
  const streams = forms.filter(form => form !== 'document')
  const [dearest = 'document'] = forms
  if (dearest !== 'document') {
    // The operation has no stream. If the client accepts a document too, it gets a document; otherwise the stream form is returned
    // nevertheless, so that the operation itself rejects the request.
    return stream === undefined && forms.includes('document') ? null : dearest
  }
  const isAsked = stream !== undefined && streamAt !== undefined && valueAt(input, streamAt) === true
  return isAsked ? (streams[0] ?? 'ndjson') : null
}

/** The supported forms that the Accept header names, most preferred first; equally preferred ones in the order of the header. */
function acceptedForms(accept: string): readonly (StreamForm | 'document')[] {
  return accept
    .split(',')
    .map(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
      const quality = parameters.find(text => text.startsWith('q='))
      return { form: FORMS[type], quality: quality === undefined ? 1 : Number(quality.slice(2)) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ form }) => form ?? [])
}

/** Function that calls another function after `ms` milliseconds; it returns a function that cancels the call. */
export type After = (ms: number, then: () => void) => () => void

interface StreamOptions {
  readonly form: StreamForm
  /**
   * Whether the client can resume the stream after the last piece that it received, so that the server may end the stream when it needs to.
   */
  readonly resumable: boolean
  /** Signal that is aborted when the request has ended, for example because the client disconnected. */
  readonly gone: AbortSignal
  /** Signal that is aborted when the server shuts down. */
  readonly ending: AbortSignal
  readonly after: After
  /** Closes the connection at once, even if data has not been sent yet. */
  readonly drop: () => void
  /** Converts what was thrown to the error that the client may see, without internal information. */
  readonly errorOf: (thrown: unknown) => QuerentError
  /** Called once when the stream is over, with null, or with the error code if it ended early. */
  readonly over?: ((code: string | null) => void) | undefined
}

/**
 * If no piece is ready after this many milliseconds, the head of the response is sent anyway; before that, a failure can still be sent with
 * an HTTP status of its own.
 */
const OPENING_MS = 1_000
/** Milliseconds between two heartbeats, which are sent because proxies close connections on which nothing is sent. */
const HEARTBEAT_MS = 15_000
/** If a client reads nothing for this many milliseconds, its connection is closed, provided that it can resume the stream. */
const STALLED_MS = 60_000
/**
 * If a client reads nothing of a stream that cannot be resumed for this many milliseconds, its connection is closed. The engine has ended
 * the work before, after one minute in which no piece was requested; a client that reads again in between is informed of that.
 */
const DROPPED_MS = 120_000
/** Milliseconds after which a client that has lost its connection should connect again; sent to clients of server-sent events. */
const RETRY_MS = 3_000

const CONTENT_TYPE: Readonly<Record<StreamForm, string>> = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
}

/**
 * Makes the HTTP response that streams an answer. `open` starts the work with a signal that is aborted when the stream ends. Rejects with
 * errors that occur before the first piece.
 */
export async function streamResponse(
  open: (signal: AbortSignal) => AsyncIterable<JsonObject>,
  options: StreamOptions,
): Promise<Response> {
  const stream = new PieceStream(open, options)
  await stream.opened()
  const headers = { 'content-type': CONTENT_TYPE[options.form] }
  return new Response(new ReadableStream(stream, { highWaterMark: 0 }), { headers })
}

type Piece = IteratorResult<JsonObject>
type Controller = ReadableStreamDefaultController<Uint8Array>

/** The source from which a `ReadableStream` takes its data: encodes the pieces of an answer as the client reads them. */
class PieceStream {
  readonly #options: StreamOptions
  readonly #abort = new AbortController()
  readonly #pieces: AsyncIterator<JsonObject>
  readonly #freed = Promise.withResolvers<Piece>()
  /** Promise of the next piece, which was requested from the operation but not sent yet; null: none was requested. */
  #next: Promise<Piece> | null
  #cancelStall = (): void => {}
  /** Whether the client has closed the connection, so that nothing may be sent any more. */
  #isCancelled = false

  constructor(open: (signal: AbortSignal) => AsyncIterable<JsonObject>, options: StreamOptions) {
    this.#options = options
    this.#pieces = open(this.#abort.signal)[Symbol.asyncIterator]()
    this.#next = this.#pieces.next()
    options.gone.addEventListener('abort', this.#free)
    if (options.resumable) options.ending.addEventListener('abort', this.#free)
    if (options.gone.aborted || (options.resumable && options.ending.aborted)) this.#free()
  }

  /**
   * Resolves when the first piece or the end is there, or when there has been neither for `OPENING_MS`. Rejects if the work fails before.
   */
  async opened(): Promise<void> {
    try {
      await this.#pieceWithin(OPENING_MS)
    } catch (thrown) {
      this.#free()
      throw thrown
    }
  }

  start(controller: Controller): void {
    if (this.#options.form === 'sse') send(controller, `retry: ${RETRY_MS}\n\n`)
  }

  async pull(controller: Controller): Promise<void> {
    const { form, errorOf } = this.#options
    this.#cancelStall()
    try {
      this.#next ??= this.#pieces.next()
      const piece = await this.#pieceWithin(form === 'sse' ? HEARTBEAT_MS : null)
      if (this.#isCancelled) return
      if (piece === null) return send(controller, ':\n\n')
      this.#next = null
      if (piece.done === true) return this.#end(controller, null)
      send(controller, encoded(piece.value, form))
    } catch (thrown) {
      if (this.#isCancelled) return
      const error = errorOf(thrown)
      send(controller, encoded({ error: error.toJSON() }, form, 'error'))
      return this.#end(controller, error.code)
    }
    this.#watchStall()
  }

  #watchStall(): void {
    const { resumable, after, drop } = this.#options
    this.#cancelStall = resumable
      ? after(STALLED_MS, this.#free)
      : after(DROPPED_MS, () => {
          this.#free()
          drop()
        })
  }

  cancel(): void {
    this.#isCancelled = true
    this.#free()
  }

  #end(controller: Controller, code: string | null): void {
    this.#letGo(code)
    controller.close()
  }

  /**
   * Waits for the next piece of the answer. Resolves to null if that takes longer than `ms` milliseconds, and to the end of the stream if
   * the stream is ended in the meantime.
   */
  async #pieceWithin(ms: number | null): Promise<Piece | null> {
    const late = Promise.withResolvers<null>()
    const cancel = ms === null ? () => {} : this.#options.after(ms, () => late.resolve(null))
    try {
      return await Promise.race([this.#freed.promise, ...(this.#next === null ? [] : [this.#next]), late.promise])
    } finally {
      cancel()
    }
  }

  readonly #free = (): void => this.#letGo(null)

  /** Ends the work and releases everything it held; further calls do nothing. What was sent so far stays sent. */
  #letGo(code: string | null): void {
    if (this.#abort.signal.aborted) return
    const { gone, ending, over } = this.#options
    over?.(code)
    this.#cancelStall()
    gone.removeEventListener('abort', this.#free)
    ending.removeEventListener('abort', this.#free)
    this.#freed.resolve({ done: true, value: undefined })
    this.#abort.abort(new QuerentError('cancelled', 'the stream has ended'))
    // The generator of pieces ends when the aborted signal wakes it; errors that it throws then no longer matter.
    for (const last of [this.#next, this.#pieces.return?.()]) void last?.catch(() => {})
  }
}

function send(controller: Controller, text: string): void {
  controller.enqueue(new TextEncoder().encode(text))
}

/**
 * Encodes a piece as one line, or as one event; the event's `id` is what a reconnecting client sends to say which event it received last.
 */
function encoded(piece: JsonObject, form: StreamForm, event: string = nameOf(piece)): string {
  const data = JSON.stringify(piece)
  if (form === 'ndjson') return `${data}\n`
  const { resume_token: token } = piece
  return `event: ${event}\n${isOneLine(token) ? `id: ${token}\n` : ''}data: ${data}\n\n`
}

function nameOf({ type }: JsonObject): string {
  return isOneLine(type) ? type : 'chunk'
}

/** Whether a value can be used as a field of an event: it must be a text without a line break. */
function isOneLine(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}
