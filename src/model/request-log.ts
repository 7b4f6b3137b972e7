/**
 * A request to the HTTP interface in the form in which an operator may log it. It contains nothing from a request's body, except the text
 * of a query of beliefs where the operator allows it.
 */
export interface HttpRequestLine {
  /** Time of the request, ISO 8601. */
  readonly at: string
  readonly request_id: string
  readonly requester: string
  readonly method: string
  /** Pattern of the route that answered the request, such as `/v1/ops/:name`. */
  readonly route: string
  readonly operation: string | null
  readonly status: number
  readonly duration_ms: number
  /** Whether the answer was streamed; if so, the logged duration ends with the last piece. */
  readonly streamed: boolean
  /** Number of results in the answer; null where the answer has none to count. */
  readonly results: number | null
  /** Code of the error that the request got; null: it succeeded. */
  readonly code: string | null
  /** Place of the request in a distributed trace, as the client sent it (W3C Trace Context). */
  readonly traceparent?: string
  /** Text of a query of beliefs, where the operator has turned this on, with the time until which it may be kept. */
  readonly query?: string
  readonly keep_until?: string
}
