/** The node itself, as others meet it: its key, the numbers it has taken, and the time it holds them against. */
import type { Instant } from '../base/clock.ts'
import type { Keys } from './keys.ts'
import type { Nonces } from './nonces.ts'
import type { MachineTime } from './token-bucket.ts'

export interface NodeIdentity {
  /** Made with the first use, which writes: not within a read. */
  keys(): Keys
  /** Remembered in the store, so that no process on it takes a message that another has taken. */
  readonly nonces: Nonces
  /** Machine time: meaning has no part in this. */
  now(): Instant
  /** Of a clock that nobody can set: what limits and rests go by. */
  machineTime(): MachineTime
}
