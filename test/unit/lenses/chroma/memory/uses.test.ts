import { describe, expect, it } from 'vitest'
import { lastUse, tellUses, usesSince } from '../../../../../src/lenses/chroma/memory/uses.ts'
import { USES } from '../../../../../src/lenses/chroma/tables.ts'
import { openMemoryStore } from '../../../../../src/store/memory-store.ts'

describe('the log of uses', () => {
  it('numbers without gaps, keeps the newest, and tells what is missing', () => {
    const store = openMemoryStore()
    store.write(0, writer => {
      expect([lastUse(writer, 'fox'), usesSince(writer, 'fox', 0)]).toEqual([0, { entries: [], last: 0 }])
      for (let i = 1; i <= 4200; i++) expect(tellUses(writer, 'fox', [i], i - 1)).toBe(i)
      expect(lastUse(writer, 'fox')).toBe(4200)
      expect(tellUses(writer, 'fox', [7, 8])).toBe(4201)
      expect(usesSince(writer, 'fox', 4199)).toEqual({ entries: [4200, 7, 8], last: 4201 })
      expect(usesSince(writer, 'fox', 4201)).toEqual({ entries: [], last: 4201 })
      expect(usesSince(writer, 'fox', 2)).toEqual({ entries: null, last: 4201 })
      expect(usesSince(writer, 'fox', 0)).toEqual({ entries: null, last: 4201 })
      expect(writer.table(USES).count()).toBe(4137)
      expect(usesSince(writer, 'dog', 0)).toEqual({ entries: [], last: 0 })
      tellUses(writer, 'fox', null)
      expect(usesSince(writer, 'fox', 4200)).toEqual({ entries: null, last: 4202 })
    })
  })
})
