/** How inputs of one sort are made, changed, made smaller, and kept in a file. */
import type { Json } from '../../../src/base/canonical.ts'
import type { Chance } from './chance.ts'

export interface Kind<Input> {
  /** A new one, where the corpus is empty or something else is wanted. */
  make(chance: Chance): Input
  /** One near to `input`; `other` is another of the corpus, to take parts from. */
  change(input: Input, chance: Chance, other: Input): Input
  /** Smaller ones, the smallest first, to find what of a failing input matters. */
  smaller(input: Input): Iterable<Input>
  /** As JSON, and back. */
  write(input: Input): Json
  read(written: Json): Input
}
