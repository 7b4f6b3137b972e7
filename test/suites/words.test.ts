import { openWordIndex } from '../../src/index/words.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { openReferenceWordIndex } from '../support/reference-words.ts'
import { wordSuite } from './word-suite.ts'

const common = { openStore: openMemoryStore, openReference: openReferenceWordIndex }

const isLong = process.env['QUERENT_LONG'] === '1'

wordSuite(isLong ? 'segments, QUERENT_LONG' : 'segments', {
  ...common,
  openIndex: () => openWordIndex(),
  runs: isLong ? 10_000 : 60,
})
// Against itself: what the suite says of single cases holds for the reference too.
wordSuite('brute force', { ...common, openIndex: openReferenceWordIndex, runs: 10 })
