/** What the process that measures says to the process of a peer, and what it hears. */
import type { Times } from './figures.ts'

/** Which of the peer's methods; the scenario is its place in the list of all. */
export type Way = { readonly kind: 'nearest'; readonly scenario: number } | { readonly kind: 'words' | 'hybrid' }

export type Request =
  | { readonly act: 'build' }
  | { readonly act: 'open' }
  | { readonly act: 'set'; readonly value: number; readonly filtered: boolean }
  /** Asks the questions from `from` to before `to`. */
  | { readonly act: 'ask'; readonly way: Way; readonly from: number; readonly to: number }
  | { readonly act: 'update'; readonly times: number }
  | { readonly act: 'close' }

export interface Built {
  readonly seconds: number
  /** Seconds of all threads of the peer's process; of a server's nothing. */
  readonly processor: number
}

export interface Opened {
  readonly version: string
  readonly ms: number
  /** Bytes of the process after the garbage has been collected, less those of one that has only the questions. */
  readonly memory: number
  readonly has: Readonly<Record<'nearest' | 'words' | 'hybrid' | 'put', boolean>>
  readonly knobs: readonly ({ readonly name: string; readonly values: readonly number[] } | null)[]
}

export interface Asked {
  readonly ms: readonly number[]
  readonly rows: readonly (readonly number[])[]
}

export interface Updated {
  readonly insert: Times
  /** From before the insertion until a question has found it. */
  readonly found: Times
  readonly update: Times
  readonly remove: Times
  /** What was not as it should have been: not found when it should, or found when gone. */
  readonly wrong: number
}

export type Reply = { readonly answer: unknown } | { readonly failed: string }
