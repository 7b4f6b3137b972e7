/** What every store must do, in examples. Random histories and filters stand in `store-agreement.ts`. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { damageIn } from '../support/damage-in.ts'
import { draftOf, wholeChunk } from '../support/entries.ts'
import { NOW, shortForms } from '../support/store-short-forms.ts'
import { changeSuite } from './store-change-suite.ts'
import { entrySuite } from './store-entry-suite.ts'
import { findSuite } from './store-find-suite.ts'
import { tableSuite } from './store-table-suite.ts'
import { transactionSuite } from './store-transaction-suite.ts'

/** `open` gives an empty store; it is closed after each test. */
export function storeSuite(name: string, open: () => Store): void {
  describe(`${name}: the store contract`, () => {
    let store: Store
    beforeEach(() => {
      store = open()
    })
    afterEach(() => store.close())

    const opened = () => store
    entrySuite(opened)
    changeSuite(opened)
    findSuite(opened)
    tableSuite(opened)
    transactionSuite(opened)

    const { put } = shortForms(opened)

    it('keeps texts of its own', () => {
      expect(store.meta('a')).toBeUndefined()
      store.write(NOW, writer => writer.setMeta('a', ''))
      expect(store.meta('a')).toBe('')
    })

    it('is sound', async () => {
      put(draftOf({ id: 'a' }))
      store.write(NOW, writer => writer.put(draftOf({ id: 'b' }), wholeChunk(draftOf({ id: 'b' }))))
      expect(await damageIn(store)).toEqual([])
    })
  })
}
