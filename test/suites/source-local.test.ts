import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/clock.ts'
import { localSourceOf, ownerScope, putRecord, storeOfSuite } from '../support/source-store.ts'
import { SUITE_RECORDS, type SuiteRecord, sourceSuite } from './source-suite.ts'

sourceSuite('local', async () => {
  const store = storeOfSuite()
  return {
    source: localSourceOf(store),
    accessScope: ownerScope(store),
    collections: async () => store.facet(ownerScope(store), 'collection', 100).map(({ value }) => value),
    close: async () => store.close(),
  }
})

describe('the local source', () => {
  it('gives the same answer whatever is hidden from the requester', async () => {
    const [first, ...others] = SUITE_RECORDS.items as readonly [SuiteRecord, ...SuiteRecord[]]
    const ask = async (hidden: readonly SuiteRecord[]): Promise<unknown> => {
      const store = storeOfSuite()
      const accessScope = ownerScope(store)
      for (const record of hidden) putRecord(store, 'items', record, { kind: 'private', holder: 'ann' })
      const { vector } = first
      const deadline = new Deadline(5_000)
      const question = {
        accessScope,
        collections: ['items'],
        text: '',
        vector,
        limit: 3,
        where: [],
        anyTags: [],
        deadline,
      }
      const { collections } = await localSourceOf(store).ask(question)
      return collections
    }
    expect(await ask([first, ...others])).toEqual(await ask([]))
  })
})
