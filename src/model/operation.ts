/** An operation: one thing the engine can do, described once; every interface, its help and its schemas are made from this. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { QuerentError } from './errors.ts'
import type { Fault } from './parse-input.ts'
import type { Viewer } from './viewer.ts'

export interface Progress {
  readonly phase: string
  readonly done: number
  /** Total amount of work; null: not known yet. */
  readonly total: number | null
  /** Name of what is currently being processed, such as a file. */
  readonly current?: string | undefined
}

export interface CallContext {
  /** The requester, from the interface's authentication. */
  readonly viewer: Viewer
  readonly signal: AbortSignal
  /** Time of the call, where the caller has read the clock already. Absent: the clock is read. */
  readonly now?: Instant | undefined
  /**
   * For a query: the page contains no items, for a lens that makes its own rows from the answer (`ranked`, and `entries` where requested).
   */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly report?: ((progress: Progress) => void) | undefined
  /**
   * Whether the request came from outside, with a token or a signature, and so counts against the requester's limits. Requests of the local
   * owner on this machine do not, whichever viewer they act as.
   */
  readonly remote?: boolean | undefined
  /** Address of the machine that sent the request, or of the proxy that forwarded it. Absent: it came from this process. */
  readonly address?: string | undefined
  /**
   * Whether the requester is still authorised as that viewer, for long-running work: an agent's key can be revoked. Read from the store.
   * Absent: authorisation cannot be lost.
   */
  readonly isStillAllowed?: (() => boolean) | undefined
  /** Whether cursors are handles of at most 64 characters, in the input and in the answer: over HTTP and MCP (QE-015). */
  readonly shortCursors?: boolean | undefined
  /**
   * Charges a part of a request separately, where the requester has limits (an operation with such parts costs 0 as a whole). `question`:
   * the query in that part, where it is one of its own. Throws `rate_limited`.
   */
  readonly charge?: ((units: number, question?: unknown) => void) | undefined
}

export interface Effect {
  /** `read` changes nothing but access state; `write` adds or changes data; `destroy` removes data. */
  readonly kind: 'read' | 'write' | 'destroy'
  /** Whether calling it twice has the same effect as calling it once. */
  readonly idempotent: boolean
  /** Whether only the local owner may call it. */
  readonly ownerOnly?: boolean | undefined
  /** Whether it needs no store: the command line then runs it where there is none. */
  readonly storeless?: boolean | undefined
}

/** An operation. `Host` is what it works on: the engine, or what a lens is given. */
export interface Operation<Host = never, Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Name of the operation: `<verb>` or `<lens>.<verb>`, lower case, words joined by underscores. */
  readonly name: string
  /** Summary in one line, in the imperative, without a full stop. */
  readonly summary: string
  readonly input: Input
  readonly output: Output
  readonly effect: Effect
  run(host: Host, input: z.output<Input>, context: CallContext): Promise<z.output<Output>>
  /**
   * The operation's result in pieces. Ends by itself, or when the signal is aborted or the consumer returns; then all its resources are
   * released. An error at the first piece is the one that `run` would throw. Absent: there is no streamed form.
   */
  stream?(host: Host, input: z.output<Input>, context: CallContext): AsyncIterable<JsonObject>
  /**
   * Path in the input of the token after which a stream continues, such as `options.resume_token`; its pieces then contain a `resume_token`
   * of their own. For interfaces whose protocol can transmit one. Absent: the stream can only start again.
   */
  readonly resumeAt?: string | undefined
  /**
   * The operation delays its answer until there is something to report. When its signal is aborted it answers with what there is; an
   * interface that closes aborts it.
   */
  readonly waits?: true | undefined
  /** Path in the input of a flag that requests the streamed form. */
  readonly streamAt?: string | undefined
  /**
   * Fields that interfaces for people and agents set where the input does not, different from the defaults of a contract for programs
   * (CX-078). The library, and that contract's own paths, do not use them.
   */
  readonly preset?: JsonObject | undefined
  /** Units that a request is charged (BQ-190), computed from its input alone: 1 for one that will be refused. Absent: 1. */
  cost?(input: z.output<Input>): number
  /**
   * The queries in an input, where different queries are counted (BQ-193): none where parts are charged separately. Absent: the input is
   * one query where the operation has a cost.
   */
  questions?(input: z.output<Input>): readonly unknown[]
  /** The error that the lens's contract specifies for input that the schema refuses. Absent: that of `parseInput`. */
  invalid?(faults: readonly Fault[]): QuerentError
  /**
   * `run`, `cost` and `questions` get the input unchecked, and `run` checks it by `input` itself: because the answer reports the faults, or
   * because which fault is reported depends on more than the schema.
   */
  readonly checksInput?: true | undefined
  /** Translates an error from before the operation ran into one of the lens's contract. Absent: the error stays as it is. */
  refusal?(host: Host, error: QuerentError, input: unknown, context: CallContext): QuerentError
  /** Largest request in bytes that an interface reads for the operation. Absent: the interface's own limit. */
  readonly bodyLimit?: number | undefined
}
