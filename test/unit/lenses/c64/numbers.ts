/** Numbers as the lens c64 takes them from a question. */
import { C64_NUMBERS } from '../../../../src/lenses/c64/domain.ts'
import type { ParsedNumber } from '../../../../src/lenses/c64/enrichment/numbers.ts'
import { extractNumbers } from '../../../../src/lenses/c64/enrichment/numbers.ts'

export function numbers(query: string): readonly ParsedNumber[] {
  return extractNumbers(query, C64_NUMBERS)
}

export function values(query: string): readonly number[] {
  return numbers(query).map(({ value }) => value)
}
