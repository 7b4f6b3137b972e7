import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeptVectors } from '../../../src/index/vectors/settle.ts'
import { cosine } from '../../../src/math/vector.ts'

const DIMENSIONS = 4
const QUESTION = Float32Array.of(0.5, -0.5, 0.5, 0.5)
/** What one block of 256 vectors takes, and the least that is ever kept. */
const BLOCK_BYTES = 256 * DIMENSIONS * 4

const vectorOf = (seed: number) => Float32Array.from({ length: DIMENSIONS }, (_, i) => Math.sin(seed * 7 + i) / 2)

describe('vectors kept of those read last', () => {
  it('have the cosine of the vector that was kept last under their chunk, or are not there', () => {
    const acts = fc.array(fc.tuple(fc.constantFrom('set', 'set', 'set', 'delete', 'ask'), fc.nat(699), fc.nat(9)), {
      minLength: 900,
      maxLength: 1500,
      size: 'max',
    })
    fc.assert(
      fc.property(acts, steps => {
        const kept = new KeptVectors(DIMENSIONS, 2 * BLOCK_BYTES)
        const known = new Map<number, Float32Array>()
        for (const [act, chunk, seed] of steps) {
          if (act === 'set') {
            const vector = vectorOf(10 * chunk + seed)
            kept.set(chunk, vector)
            known.set(chunk, vector)
            expect(kept.cosine(QUESTION, chunk)).toBe(cosine(QUESTION, vector))
          } else if (act === 'delete') {
            kept.delete(chunk)
            known.delete(chunk)
          }
          const found = kept.cosine(QUESTION, chunk)
          const vector = known.get(chunk)
          expect(found === null || (vector !== undefined && found === cosine(QUESTION, vector))).toBe(true)
        }
        expect(kept.byteLength).toBeLessThanOrEqual(2 * BLOCK_BYTES)
      }),
      { numRuns: 20 },
    )
  })

  it('are all there until there is no more room, and then those that are in use stay', () => {
    const kept = new KeptVectors(DIMENSIONS, BLOCK_BYTES)
    for (let chunk = 0; chunk < 256; chunk++) kept.set(chunk, vectorOf(chunk))
    for (let chunk = 0; chunk < 256; chunk++) expect(kept.cosine(QUESTION, chunk)).not.toBeNull()
    kept.set(256, vectorOf(256))
    for (let chunk = 257; chunk < 1000; chunk++) {
      expect(kept.cosine(QUESTION, 256)).toBe(cosine(QUESTION, vectorOf(256)))
      kept.set(chunk, vectorOf(chunk))
    }
    expect(kept.cosine(QUESTION, 0)).toBeNull()
    expect(kept.byteLength).toBe(BLOCK_BYTES)
  })

  it('keep one block where less room is given, and take none before the first', () => {
    const kept = new KeptVectors(DIMENSIONS, 0)
    expect(kept.byteLength).toBe(0)
    kept.set(1, vectorOf(1))
    expect(kept.byteLength).toBe(BLOCK_BYTES)
  })
})
