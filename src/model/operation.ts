/** One thing the engine can do, described once: every interface, its help and its schemas are made from this. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { QuerentError } from './errors.ts'
import type { Fault } from './parse-input.ts'
import type { Viewer } from './viewer.ts'

export interface Progress {
  readonly phase: string
  readonly done: number
  /** Null: not known yet. */
  readonly total: number | null
  /** What is being worked on. */
  readonly current?: string | undefined
}

export interface CallContext {
  /** From the interface's authentication. */
  readonly viewer: Viewer
  readonly signal: AbortSignal
  /** The moment of the call, where whoever makes it has read the clock for it already. Absent: the clock is read. */
  readonly now?: Instant | undefined
  /**
   * Of a query: the page has no items, for a lens that makes rows of its own from what the answer says of them (`ranked`, and
   * `entries` where they are asked for).
   */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly report?: ((progress: Progress) => void) | undefined
  /**
   * Whether the request came from outside, with a token or a signature: then it counts against the requester's limits.
   * What the local owner asks on his own machine does not, whoever he asks as.
   */
  readonly remote?: boolean | undefined
  /** Of the machine that the request came from, or of the proxy that handed it on. Absent: it came from this process. */
  readonly address?: string | undefined
  /**
   * Whether who asks still is that viewer, for what goes on long after it was asked: a key can be taken from an agent. Read
   * now. Absent: it cannot be lost.
   */
  readonly isStillAllowed?: (() => boolean) | undefined
  /** Whether cursors are handles of at most 64 characters, in the input and in the answer: over HTTP and MCP (QE-015). */
  readonly shortCursors?: boolean | undefined
  /**
   * Charges a part of a request on its own, where the requester has limits (an operation with such parts costs 0 as a
   * whole). `question`: what is asked by it, where it is one of its own. Throws `rate_limited`.
   */
  readonly charge?: ((units: number, question?: unknown) => void) | undefined
}

export interface Effect {
  /** `read` changes nothing but access state; `write` adds or changes; `destroy` removes. */
  readonly kind: 'read' | 'write' | 'destroy'
  /** Doing it twice is the same as doing it once. */
  readonly idempotent: boolean
  /** Only for the local owner. */
  readonly ownerOnly?: boolean | undefined
  /** Needs nothing of a store: the command line runs it also where there is none. */
  readonly storeless?: boolean | undefined
}

/** `Host` is what the operation works on: the engine, or what a lens is given. */
export interface Operation<Host = never, Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** `<verb>` or `<lens>.<verb>`, lower case, words joined by underscores. */
  readonly name: string
  /** One line, imperative, without a full stop. */
  readonly summary: string
  readonly input: Input
  readonly output: Output
  readonly effect: Effect
  run(host: Host, input: z.output<Input>, context: CallContext): Promise<z.output<Output>>
  /**
   * The same piece by piece. Ends by itself, or when the signal is aborted or the consumer returns; then all it held is
   * free. What it throws at the first piece is what `run` would throw. Absent: there is no streamed form.
   */
  stream?(host: Host, input: z.output<Input>, context: CallContext): AsyncIterable<JsonObject>
  /**
   * Path in the input of the token that a stream goes on after, such as `options.resume_token`; its pieces then bear a
   * `resume_token` of their own. For interfaces whose protocol has a place for it. Absent: such a stream only begins again.
   */
  readonly resumeAt?: string | undefined
  /** Holds its answer back for as long as there is nothing to say. Its signal, aborted, asks for what there is: so does an interface that closes. */
  readonly waits?: true | undefined
  /** Path in the input of a flag that asks for the streamed form. */
  readonly streamAt?: string | undefined
  /**
   * Fields that interfaces for people and agents set where the input does not: the defaults of a contract that only programs
   * of its own speak (CX-078). The library, and the paths of that contract, do not.
   */
  readonly preset?: JsonObject | undefined
  /** Units of work that a request is charged for (BQ-190), from its input alone: 1 for one that will be refused. Absent: 1. */
  cost?(input: z.output<Input>): number
  /**
   * The questions in an input, where different ones are counted (BQ-193): none for one that charges its parts on their own.
   * Absent: the input is one where the operation has a cost.
   */
  questions?(input: z.output<Input>): readonly unknown[]
  /** The error that the contract of the operation's lens has for input that the schema refuses. Absent: `parseInput`'s. */
  invalid?(faults: readonly Fault[]): QuerentError
  /**
   * `run`, `cost` and `questions` are given what came, unchecked, and `run` checks it by `input` itself: because the answer
   * reports what is wrong, or because which fault is reported depends on more than the form.
   */
  readonly checksInput?: true | undefined
  /** What the contract of the operation's lens calls an error from before it ran. Absent: what everybody calls it. */
  refusal?(host: Host, error: QuerentError, input: unknown, context: CallContext): QuerentError
  /** Bytes of the longest request that an interface reads for it. Absent: the interface's own bound. */
  readonly bodyLimit?: number | undefined
}
