/**
 * Runs one operation for one HTTP request: on behalf of the request's viewer, and at most until the connection closes. The answer is sent
 * as one JSON document or as a stream.
 */

import { isRecord } from '../../base/record.ts'
import { type Steps, Turns } from '../../base/turns.ts'
import { untilKept } from '../../engine/cursor-handles.ts'
import { reportedByContract, unread } from '../../engine/run-operation.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import { reportedError } from '../../model/reported-error.ts'
import { bugReport } from '../../ops/admin-ops.ts'
import { type EngineOperation, runOperation, streamOperation } from '../../ops/catalog.ts'
import { isSigned } from './auth.ts'
import { readJson, withValueAt } from './body.ts'
import { type RequestContext, resultsIn, serverOf, viewerOf } from './env.ts'
import { type StreamForm, streamForm, streamResponse } from './stream.ts'

// Writes a large answer as one JSON document in pieces, so that other work on this thread is not held up (QE-019).

/** Number of UTF-16 units of JSON text that are made between two pauses: well under a millisecond of work. */
const PIECE = 64 * 1024

/**
 * The text of `JSON.stringify(value)` in pieces, with a pause after each piece so that other work can run. A list that is a direct field of
 * the value is written element by element; deeper values are written whole.
 */
export function* jsonInSteps(value: unknown): Steps<readonly string[]> {
  const pieces: string[] = []
  let piece = ''
  for (const part of partsOf(value)) {
    piece += part
    if (piece.length < PIECE) continue
    pieces.push(piece)
    piece = ''
    yield
  }
  return [...pieces, piece]
}

function* partsOf(value: unknown): Generator<string> {
  if (!isRecord(value) || 'toJSON' in value) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  yield '{'
  let isFirst = true
  for (const [name, member] of Object.entries(value)) {
    const written = Array.isArray(member) ? '' : JSON.stringify(member)
    if (written === undefined) continue
    yield `${isFirst ? '' : ','}${JSON.stringify(name)}:${written}`
    isFirst = false
    if (Array.isArray(member)) yield* elementsOf(member)
  }
  yield '}'
}

function* elementsOf(list: readonly unknown[]): Generator<string> {
  yield '['
  for (const [at, element] of list.entries()) yield `${at === 0 ? '' : ','}${JSON.stringify(element) ?? 'null'}`
  yield ']'
}

/**
 * The request's body as input of an operation, not yet checked; null if there is no body. Throws errors for an unreadable body in the form
 * that the operation's contract defines.
 */
export async function bodyInput(c: RequestContext, operation: EngineOperation): Promise<unknown> {
  c.get('notes').operation = operation.name
  try {
    const { maxBodyBytes } = c.get('app')
    return await readJson(c.req.raw, Math.min(operation.bodyLimit ?? maxBodyBytes, maxBodyBytes))
  } catch (thrown) {
    throw unread(operation, c.get('app').engine, thrown, contextOf(c))
  }
}

/**
 * Runs the operation on unchecked input and makes the HTTP response. The response is a stream if `streams` names a form, or if the
 * operation can stream and the client asks for it. Rejects with errors that occur before anything was sent.
 */
export async function answer(
  c: RequestContext,
  operation: EngineOperation,
  input: unknown,
  streams: StreamForm | null = null,
): Promise<Response> {
  const notes = c.get('notes')
  notes.operation = operation.name
  notes.input = input
  const form = streamForm(operation, c.req.header('accept'), input) ?? streams
  if (form !== null) return streamed(c, operation, input, form)
  const output = await inTime(c, operation, context => runOperation(operation, c.get('app').engine, input, context))
  notes.results = resultsIn(output)
  return jsonDocument(c, output)
}

/** The text is encoded piece by piece, because encoding the whole text of a large answer at once would hold up other work. */
async function jsonDocument(c: RequestContext, output: unknown): Promise<Response> {
  const turns = new Turns()
  const texts = await turns.run(jsonInSteps(output))
  const pieces: Uint8Array[] = []
  for (const text of texts) {
    pieces.push(Buffer.from(text))
    await turns.pauseIfDue()
  }
  return c.body(Buffer.concat(pieces), 200, { 'content-type': 'application/json' })
}

/** Logs an error that is a bug of this program, with the id of the request. The client learns only that there was an internal error. */
export function logBug(c: RequestContext, thrown: unknown): void {
  const report = bugReport(thrown, c.get('requestId'))
  if (report !== null) c.get('app').log(report)
}

async function streamed(
  c: RequestContext,
  operation: EngineOperation,
  input: unknown,
  form: StreamForm,
): Promise<Response> {
  const { engine, ending, after } = c.get('app')
  const context = contextOf(c)
  const { resumeAt } = operation
  const last = c.req.header('last-event-id')
  const given = last && resumeAt !== undefined ? withValueAt(input, resumeAt, last) : input
  const over = Promise.withResolvers<string | null>()
  await untilKept(operation, given, engine.cursors, context.signal)
  const response = await streamResponse(signal => streamOperation(operation, engine, given, { ...context, signal }), {
    form,
    resumable: resumeAt !== undefined,
    gone: context.signal,
    ending,
    after,
    drop: () => serverOf(c)?.outgoing?.destroy(),
    errorOf: thrown => {
      logBug(c, thrown)
      return reportedError(thrown, context.viewer)
    },
    over: over.resolve,
  })
  c.get('notes').stream = over.promise
  return response
}

/**
 * Runs the work within the time limit of a request. Rejects with `deadline_exceeded` when the time is over, even if the work ignores its
 * abort signal.
 */
async function inTime<T>(
  c: RequestContext,
  operation: EngineOperation,
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const { engine, timeoutMs, after, ending } = c.get('app')
  const open = contextOf(c)
  const context = operation.waits === true ? { ...open, signal: AbortSignal.any([open.signal, ending]) } : open
  if (timeoutMs === null) return work(context)
  const late = new AbortController()
  const failure = new QuerentError('deadline_exceeded', `there was no answer within ${timeoutMs} ms`, {
    timeout_ms: timeoutMs,
  })
  const isLate = Promise.withResolvers<never>()
  const cancel = after(timeoutMs, () => {
    isLate.reject(reportedByContract(operation, engine, failure, context))
    late.abort(failure)
  })
  try {
    const signal = AbortSignal.any([context.signal, late.signal])
    return await Promise.race([work({ ...context, signal }), isLate.promise])
  } finally {
    cancel()
  }
}

/**
 * Context for running an operation: viewer, remote address, time limit, and a signal that is aborted when the client disconnects or the
 * server shuts down.
 */
function contextOf(c: RequestContext): CallContext {
  const { headers, signal } = c.req.raw
  const viewer = viewerOf(c)
  const address = serverOf(c)?.incoming?.socket.remoteAddress
  const context = { viewer, signal, remote: c.get('remote') === true, address, shortCursors: true }
  if (!isSigned(headers)) return context
  const { signedRequests } = c.get('app').engine
  return { ...context, isStillAllowed: signedRequests.stillSpeaksFor(viewer, name => headers.get(name)) }
}
