/** One item of a delivered state as a resume token carries it: short, for a token must fit into a header line. */
import { z } from 'zod'
import type { Told } from './difference.ts'

/** Key, id (a number: the rest of the key from there), version, standing, score, rank, and of a passage its position. */
export const tokenRow: z.ZodTuple<
  [
    z.ZodString,
    z.ZodUnion<[z.ZodString, z.ZodNumber]>,
    z.ZodString,
    z.ZodString,
    z.ZodNumber,
    z.ZodNumber,
    z.ZodOptional<z.ZodInt>,
  ]
> = z.tuple([
  z.string(),
  z.union([z.string(), z.number()]),
  z.string(),
  z.string(),
  z.number(),
  z.number(),
  z.int().optional(),
])

export type TokenRow = z.output<typeof tokenRow>

export function asRow({ key, id, passage, version, standing, score, rank }: Told): TokenRow {
  const told = key.endsWith(id) ? key.length - id.length : id
  const row: TokenRow = [key, told, version, standing, Number(score.toPrecision(9)), rank]
  return passage === undefined ? row : [...row, passage]
}

export function fromRow([key, told, version, standing, score, rank, passage]: TokenRow): Told {
  const id = typeof told === 'number' ? key.slice(told) : told
  return { key, id, passage, version, standing, score, rank, fields: null }
}

/** Bytes of it in a list. */
export function rowLength(item: Told): number {
  return Buffer.byteLength(JSON.stringify(asRow(item))) + 1
}
