import { openMemoryStore } from '../../src/store/memory-store.ts'
import { storeSuite } from '../../src/testing/store-suite.ts'

storeSuite('memory', () => openMemoryStore())
