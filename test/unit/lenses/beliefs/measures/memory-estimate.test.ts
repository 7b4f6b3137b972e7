import { describe, expect, it } from 'vitest'
import { estimateMemory } from '../../../../../bench/lib/memory-estimate.ts'

// BQ-181
describe('the estimate of memory', () => {
  it('holds 4 KB a belief against 384 and 1,536 components', () => {
    const large = estimateMemory({ dimensions: 1536, bytesPerComponent: 4, count: 1e9 })
    expect(large.vectorBytes).toBe(6144)
    expect(large.totalBytes).toBeGreaterThan(4e12)
    const small = estimateMemory({ dimensions: 384, bytesPerComponent: 4, links: 64, payload: 1024, count: 1e9 })
    expect(small).toMatchObject({ vectorBytes: 1536, linkBytes: 256, bytesPerBelief: 2816 })
    expect(small.totalBytes).toBeLessThan(4e12)
  })

  it('refuses what is no number', () => {
    expect(() => estimateMemory({ dimensions: Number.NaN, bytesPerComponent: 4, count: 1 })).toThrow('dimensions')
  })
})
