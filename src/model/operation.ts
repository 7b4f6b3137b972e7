/**
 * An operation: one thing that the engine can do, described once. Every interface (library, command line, HTTP, MCP), its help and its
 * schemas are made from the description.
 */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { QuerentError } from './errors.ts'
import type { Fault } from './parse-input.ts'
import type { Viewer } from './viewer.ts'

export interface Progress {
  readonly phase: string
  readonly done: number
  /** Total amount of work, in the unit of `done`; null: not known yet. */
  readonly total: number | null
  /** Name of the thing that is currently being processed, such as a file. */
  readonly current?: string | undefined
}

export interface CallContext {
  /** The viewer for whom the operation runs, determined by the interface's authentication. */
  readonly viewer: Viewer
  readonly signal: AbortSignal
  /** Time of the call, where the caller has already read the clock; absent: the operation reads it. */
  readonly now?: Instant | undefined
  /**
   * For an operation that builds its own results from a query: the answer's page has no items. `keys`: the answer has only the ranked
   * candidates, with keys of entries. `entries`: it also has the entries.
   */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly report?: ((progress: Progress) => void) | undefined
  /**
   * Whether the request came from outside, with a token or a signature, and so counts towards the requester's rate limits. Requests of the
   * local owner on this machine do not count, for whichever viewer they run.
   */
  readonly remote?: boolean | undefined
  /** Address of the machine that sent the request, or of the proxy that forwarded it; absent: the request came from this process. */
  readonly address?: string | undefined
  /**
   * Whether the viewer is still authorised, read from the store; long-running work asks repeatedly, since an agent's key can be revoked.
   * Absent: the authorisation cannot be lost.
   */
  readonly isStillAllowed?: (() => boolean) | undefined
  /** Whether cursors in input and answer are short handles of at most 64 characters, as over HTTP and MCP (QE-015). */
  readonly shortCursors?: boolean | undefined
  /**
   * Charges one part of a request to the requester's rate limits, for an operation whose parts are charged separately and which itself
   * costs 0. `question`: the query in that part, if it has one. Throws `rate_limited`. Absent: the requester has no limits.
   */
  readonly charge?: ((units: number, question?: unknown) => void) | undefined
}

export interface Effect {
  /**
   * Kind of effect: `read` changes nothing but the record of which entries were used; `write` adds or changes data; `destroy` removes data.
   */
  readonly kind: 'read' | 'write' | 'destroy'
  /** Whether calling the operation twice has the same effect as calling it once. */
  readonly idempotent: boolean
  /** Whether only the local owner may call the operation. */
  readonly ownerOnly?: boolean | undefined
  /** Whether the operation needs no store; the command line then runs it also where there is no store. */
  readonly storeless?: boolean | undefined
}

/** An operation of the engine or of a lens. `Host`: what `run` gets to work on, the engine or the services given to a lens. */
export interface Operation<Host = never, Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Name of the operation: `<verb>` or `<lens>.<verb>`, lower case, words joined by underscores. */
  readonly name: string
  /** Summary of the operation in one line, in the imperative, without a full stop. */
  readonly summary: string
  readonly input: Input
  readonly output: Output
  readonly effect: Effect
  run(host: Host, input: z.output<Input>, context: CallContext): Promise<z.output<Output>>
  /**
   * The operation's result as a stream of pieces. It ends by itself, when the signal is aborted, or when the consumer stops, and then
   * releases all resources. An error of `run` appears at the first piece. Absent: the operation has no streamed form.
   */
  stream?(host: Host, input: z.output<Input>, context: CallContext): AsyncIterable<JsonObject>
  /**
   * Path in the input of the resume token after which a stream continues, such as `options.resume_token`; the stream's pieces then contain
   * a `resume_token`. Used by interfaces whose protocol can transmit such tokens. Absent: a stream can only start from the beginning.
   */
  readonly resumeAt?: string | undefined
  /**
   * Whether the operation waits until there is something to report. When its signal is aborted, it answers with what it has; an interface
   * that closes aborts the signal.
   */
  readonly waits?: true | undefined
  /** Path in the input of the flag by which a caller requests the answer as a stream. */
  readonly streamAt?: string | undefined
  /**
   * Values for fields missing from the input, filled in by the interfaces for people and agents because the defaults for them differ from
   * those of the contract for programs (CX-078). The library and that contract's own HTTP paths do not fill them in.
   */
  readonly preset?: JsonObject | undefined
  /**
   * Cost of a request in units (BQ-190), computed from its input alone; 1 for input that will be refused. Absent: every request costs 1.
   */
  cost?(input: z.output<Input>): number
  /**
   * The queries in an input, for limits on the number of different queries (BQ-193). The list is empty where each part of the input is
   * charged by itself. Absent: if the operation has a `cost`, the whole input counts as one query.
   */
  questions?(input: z.output<Input>): readonly unknown[]
  /** Makes the error that a lens's contract specifies for input refused by the schema. Absent: the usual error of `parseInput`. */
  invalid?(faults: readonly Fault[]): QuerentError
  /**
   * True: `run`, `cost` and `questions` get the input unchecked, and `run` itself checks it with the schema `input`. For operations whose
   * answer reports the faults, or where other things than the schema decide which fault is reported.
   */
  readonly checksInput?: true | undefined
  /**
   * Translates an error that occurred before the operation ran into an error of the lens's contract. Absent: the error is reported
   * unchanged.
   */
  refusal?(host: Host, error: QuerentError, input: unknown, context: CallContext): QuerentError
  /** Largest request body, in bytes, that an interface accepts for the operation; absent: the interface's own limit. */
  readonly bodyLimit?: number | undefined
}
