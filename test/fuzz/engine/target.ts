/** Something to be fuzzed: what it takes, and what must hold when it is given that. */
import type { Kind } from './kind.ts'

export interface Target<Input> {
  /** lower-case, as in `npm run fuzz -- 5 <name>`. */
  readonly name: string
  readonly kind: Kind<Input>
  /** Good inputs to begin with. */
  readonly seeds: readonly Input[]
  /** After how many inputs it is opened again, where one input can change what the next one meets. Default: never. */
  readonly lifetime?: number
  /** How often it may be opened to make a finding smaller. Default 200. */
  readonly tries?: number
  open(): Promise<Opened<Input>>
}

export interface Opened<Input> {
  /** Throws what is wrong; an error of the code under test that it should not throw counts as that too. */
  try(input: Input): void | Promise<void>
  close?(): void | Promise<void>
}

/** A broken promise of the code under test. */
export class Broken extends Error {
  override readonly name: string = 'Broken'
}
