/** One request to the HTTP interface, as an operator may log it. Nothing in it comes from a body but the text of a query of beliefs. */
export interface HttpRequestLine {
  /** Time of the request, ISO 8601. */
  readonly at: string
  readonly request_id: string
  readonly requester: string
  readonly method: string
  /** The route that answered, as declared, such as `/v1/ops/:name`. */
  readonly route: string
  readonly operation: string | null
  readonly status: number
  readonly duration_ms: number
  /** Whether the answer was streamed; the duration then includes the last piece. */
  readonly streamed: boolean
  /** Number of results; null where there is none. */
  readonly results: number | null
  /** Code of the error; null: the request succeeded. */
  readonly code: string | null
  /** Position of the request in a trace, as the client gave it (W3C Trace Context). */
  readonly traceparent?: string
  /** Text of a query of beliefs, where the operator turned that on, and until when it may be kept. */
  readonly query?: string
  readonly keep_until?: string
}
