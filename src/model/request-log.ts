/** What a node may note of requests: who asked what, how long it took, how it ended. Never what is known. */

export interface RequestLine {
  /** ISO 8601. */
  readonly at: string
  readonly request_id: string
  readonly requester: string
  readonly operation: string
  readonly duration_ms: number
  /** Number of results; null where there is no such number. */
  readonly results: number | null
  /** Of the error; null: it succeeded. */
  readonly code: string | null
  /** The text that was asked, where the operator turned that on, and until when it may be kept. */
  readonly query?: string
  readonly keep_until?: string
}

export interface RequestLog {
  write(line: RequestLine): void
  /** Texts of queries are noted, to be kept so many days. Absent: they are not noted. */
  readonly queryDays?: number | undefined
}

/** One request to the HTTP interface. Nothing in it comes from a body: names of routes and operations, never paths or texts. */
export interface HttpRequestLine extends Omit<RequestLine, 'operation' | 'query' | 'keep_until'> {
  readonly method: string
  /** The route that answered, as it is declared, such as `/v1/ops/:name`. */
  readonly route: string
  readonly operation: string | null
  readonly status: number
  /** Whether it was answered piece by piece; the duration is then until the last. */
  readonly streamed: boolean
  /** Position of the request in a trace, as the client gave it (W3C Trace Context). */
  readonly traceparent?: string
}
