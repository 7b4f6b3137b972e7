/**
 * Sends one JSON request to an embedding provider, with a time limit, and with retries where waiting helps (status 429 or 5xx, or no
 * connection). Every failure becomes a `provider_failed` error that contains the provider and the status, but never the API key.
 */
import type { Json } from '../base/canonical.ts'
import { QuerentError } from '../model/errors.ts'
import { asRefusal, cancelled } from './embedder.ts'

export interface ProviderAccess {
  /** Name of the provider, for error messages. */
  readonly provider: string
  readonly url: URL
  readonly apiKey: string | undefined
  /** Time limit in milliseconds for one attempt, from connecting to the last byte of the response. */
  readonly timeoutMs: number
  /** Maximum number of further attempts after a failed first one. */
  readonly retries: number
  readonly sleep: Sleep
}

/** Resolves after `ms` milliseconds; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>

/**
 * Longest pause in milliseconds before a retry. If a provider asks for a longer pause, the request fails at once, because the caller can
 * continue without vectors.
 */
const MAX_PAUSE_MS = 30_000
const FIRST_PAUSE_MS = 500
const MAX_DETAIL_LENGTH = 200
/** HTTP statuses with which a provider rejects the text itself: bad request, too large, unprocessable. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422])

type Answer =
  | { readonly ok: true; readonly json: unknown }
  | { readonly ok: false; readonly error: QuerentError; readonly pauseMs: number | null }

/** Sends a request with a JSON body to an embedding provider, with retries, and returns the parsed JSON response. */
export async function postJson(access: ProviderAccess, body: Json, signal?: AbortSignal): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    const answer = await tryOnce(access, body, signal, FIRST_PAUSE_MS * 2 ** attempt)
    if (answer.ok) return answer.json
    if (answer.pauseMs === null || answer.pauseMs > MAX_PAUSE_MS || attempt >= access.retries) throw answer.error
    await access.sleep(answer.pauseMs, signal).catch(error => {
      throw signal?.aborted ? cancelled(signal) : error
    })
  }
}

export function providerFailed(
  access: ProviderAccess,
  what: string,
  status: number | null = null,
  cause?: unknown,
): QuerentError {
  const { provider, url } = access
  return new QuerentError('provider_failed', `${provider} at ${url.href}: ${what}`, { provider, status }, cause)
}

/** Creates a `provider_failed` error that says in its details (`refused: 'text'`) that a text of the request seems to have caused it. */
export function textRefused(access: ProviderAccess, what: string, status: number): QuerentError {
  return asRefusal(providerFailed(access, what, status))
}

/**
 * Sends one attempt of a request to a provider. `pauseMs`: milliseconds to wait before the next attempt if the response has no Retry-After
 * header.
 */
async function tryOnce(
  access: ProviderAccess,
  body: Json,
  signal: AbortSignal | undefined,
  pauseMs: number,
): Promise<Answer> {
  if (signal?.aborted) throw cancelled(signal)
  const timeLimit = AbortSignal.timeout(access.timeoutMs)
  try {
    const response = await fetch(access.url, {
      method: 'POST',
      headers: headers(access),
      body: JSON.stringify(body),
      signal: signal === undefined ? timeLimit : AbortSignal.any([signal, timeLimit]),
    })
    const text = await response.text()
    if (response.ok) return { ok: true, json: parseAnswer(access, text, response.status) }
    const failed = REFUSALS.has(response.status) ? textRefused : providerFailed
    const error = failed(access, describeRefusal(access, response.status, text), response.status)
    const canWait = response.status === 429 || response.status >= 500
    return { ok: false, error, pauseMs: canWait ? (askedPauseMs(response.headers) ?? pauseMs) : null }
  } catch (error) {
    if (error instanceof QuerentError) throw error
    if (signal?.aborted) throw cancelled(signal)
    if (timeLimit.aborted) throw providerFailed(access, `no answer within ${access.timeoutMs} ms`, null, error)
    return { ok: false, error: providerFailed(access, `no connection (${rootMessage(error)})`, null, error), pauseMs }
  }
}

function headers({ apiKey }: ProviderAccess): Record<string, string> {
  const json = { 'content-type': 'application/json', accept: 'application/json' }
  return apiKey === undefined ? json : { ...json, authorization: `Bearer ${apiKey}` }
}

function parseAnswer(access: ProviderAccess, text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw providerFailed(access, `answered ${status} with a body that is not JSON`, status, error)
  }
}

/** Some providers repeat a refused API key in the response, whole or in part; in that case no part of the response is shown. */
function describeRefusal({ apiKey }: ProviderAccess, status: number, text: string): string {
  if (status === 401 || status === 403) {
    return `answered ${status}: ${apiKey === undefined ? 'it wants a key' : 'it does not accept the key'}`
  }
  const shown = apiKey === undefined ? text : text.replaceAll(apiKey, '***')
  const oneLine = shown.replace(/\s+/g, ' ').trim().slice(0, MAX_DETAIL_LENGTH)
  return oneLine === '' ? `answered ${status}` : `answered ${status}: ${oneLine}`
}

/**
 * Milliseconds to wait according to a response's Retry-After header. The header contains seconds, or a date, from which the date of the
 * response is subtracted.
 */
function askedPauseMs(headers: Headers): number | null {
  const asked = headers.get('retry-after')
  if (asked === null) return null
  if (/^\d+$/.test(asked)) return Number(asked) * 1000
  const until = Date.parse(asked) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(until) ? null : Math.max(0, until)
}

/** `fetch` reports only "fetch failed"; the reason is in the error's cause. */
function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return rootMessage(error.cause)
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name)
}
