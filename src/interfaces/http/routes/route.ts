/** A readable route: which operation it stands for, and how a request becomes that operation's input. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { StreamForm } from '../stream-form.ts'

/** What a request says, before anything of it is checked. */
export interface Given {
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Of the query string, read by the types of the operation's fields. */
  readonly query: Readonly<Record<string, unknown>>
  /** Null: none was sent. */
  readonly body: unknown
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its parameters as `:name`; a name is that of the input field. */
  readonly path: string
  /** Name in the catalog. */
  readonly operation: string
  /** Default: the body, or for GET and DELETE the query string, together with the parameters of the path. */
  readonly input?: ((given: Given) => unknown) | undefined
  /** JSON Schema of what `input` reads, of path, query string and body together, made from that of the operation's input. Default: the same. */
  readonly says?: ((input: JsonObject) => JsonObject) | undefined
  /** Answers without a token: the request bears its own signature, or everybody gets the same answer. */
  readonly open?: true | undefined
  /** Always answers as a stream, in this form where the client accepts no other. */
  readonly streams?: StreamForm | undefined
  /** A flag of the answer that is false where there was nothing to work on: then it is `not_found`. */
  readonly found?: string | undefined
  /** With `found`: reads what the ids name, where a request gives nothing but them, and so asks for no change. */
  readonly reads?: string | undefined
}
