/**
 * An answer sent piece by piece. The next piece is asked for when the socket takes more, and a connection that closes
 * ends the work at once. What goes wrong before anything was sent is an ordinary failure with its status; later it is
 * the last line, or an event `error`.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { EngineOperation } from '../../ops/catalog.ts'
import { valueAt } from './body.ts'

// Whether an answer is sent as a stream, and in which form: by what the client accepts, and by what its input says.

/** Lines of JSON, or server-sent events. */
export type StreamForm = 'ndjson' | 'sse'

const FORMS: Readonly<Record<string, StreamForm | 'document'>> = {
  'application/x-ndjson': 'ndjson',
  'text/event-stream': 'sse',
  'application/json': 'document',
  'application/*': 'document',
  '*/*': 'document',
}

/** Null: one document. */
export function streamForm(operation: EngineOperation, accept: string | undefined, input: unknown): StreamForm | null {
  const { stream, streamAt } = operation
  const forms = acceptedForms(accept ?? '')
  const streams = forms.filter(form => form !== 'document')
  const [dearest = 'document'] = forms
  if (dearest !== 'document') {
    // One that has no streamed form refuses, unless a document will do.
    return stream === undefined && forms.includes('document') ? null : dearest
  }
  const isAsked = stream !== undefined && streamAt !== undefined && valueAt(input, streamAt) === true
  return isAsked ? (streams[0] ?? 'ndjson') : null
}

/** Those we have, dearest first; of equals the one named first. */
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

/** Calls back after so many ms; returns what prevents it. */
export type After = (ms: number, then: () => void) => () => void

interface StreamOptions {
  readonly form: StreamForm
  /** A client can go on after the last piece that it got: so the stream may be ended from here. */
  readonly resumable: boolean
  /** The request has ended. */
  readonly gone: AbortSignal
  /** The server is to end. */
  readonly ending: AbortSignal
  readonly after: After
  /** Closes the connection, whatever is still to be sent. */
  readonly drop: () => void
  /** The part of a failure that the client sees. */
  readonly told: (thrown: unknown) => QuerentError
  /** It is over, once; with the code of what ended it early. */
  readonly over?: ((code: string | null) => void) | undefined
}

/** So long a stream may be silent before its head is sent: until then a failure can still have a status. */
const OPENING_MS = 1_000
/** Proxies close connections on which nothing comes. */
const HEARTBEAT_MS = 15_000
/** A client that takes nothing for so long loses a stream that it can go on with later. */
const STALLED_MS = 60_000
/**
 * A client that takes nothing for so long loses its connection, where the stream is none to go on with. Its work has ended by
 * then (the engine waits a minute for the question for the next piece), and a client that comes back sooner learns so.
 */
const DROPPED_MS = 120_000
/** When a client that has lost its connection should come back. */
const RETRY_MS = 3_000

const CONTENT_TYPE: Readonly<Record<StreamForm, string>> = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
}

/** `open` begins the work under a signal that ends with the stream. Rejects with what goes wrong at first. */
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

/** The source of a `ReadableStream`. */
class PieceStream {
  readonly #options: StreamOptions
  readonly #abort = new AbortController()
  readonly #pieces: AsyncIterator<JsonObject>
  readonly #freed = Promise.withResolvers<Piece>()
  /** Asked for and not sent yet. */
  #next: Promise<Piece> | null
  #cancelStall = (): void => {}
  /** Nobody reads any more; nothing may be sent. */
  #isCancelled = false

  constructor(open: (signal: AbortSignal) => AsyncIterable<JsonObject>, options: StreamOptions) {
    this.#options = options
    this.#pieces = open(this.#abort.signal)[Symbol.asyncIterator]()
    this.#next = this.#pieces.next()
    options.gone.addEventListener('abort', this.#free)
    if (options.resumable) options.ending.addEventListener('abort', this.#free)
    if (options.gone.aborted || (options.resumable && options.ending.aborted)) this.#free()
  }

  /** Resolves when there is something to send, or has not been for a while. */
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
    const { form, told } = this.#options
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
      const error = told(thrown)
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

  /** Null: it takes longer. Done also when everything was let go meanwhile. */
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

  /** Ends the work, and forgets all that was held; once. What is sent by now stays sent. */
  #letGo(code: string | null): void {
    if (this.#abort.signal.aborted) return
    const { gone, ending, over } = this.#options
    over?.(code)
    this.#cancelStall()
    gone.removeEventListener('abort', this.#free)
    ending.removeEventListener('abort', this.#free)
    this.#freed.resolve({ done: true, value: undefined })
    this.#abort.abort(new QuerentError('cancelled', 'the stream has ended'))
    // A generator returns when its signal has woken it; what it says of that matters to nobody any more.
    for (const last of [this.#next, this.#pieces.return?.()]) void last?.catch(() => {})
  }
}

function send(controller: Controller, text: string): void {
  controller.enqueue(new TextEncoder().encode(text))
}

/** One line, or one event: `id` is what a client that comes back names as the last it has seen. */
function encoded(piece: JsonObject, form: StreamForm, event: string = nameOf(piece)): string {
  const data = JSON.stringify(piece)
  if (form === 'ndjson') return `${data}\n`
  const { resume_token: token } = piece
  return `event: ${event}\n${isOneLine(token) ? `id: ${token}\n` : ''}data: ${data}\n\n`
}

function nameOf({ type }: JsonObject): string {
  return isOneLine(type) ? type : 'chunk'
}

/** Fields of an event end at the end of the line. */
function isOneLine(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}
