import { openMemoryStore } from '../../src/store/memory-store.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('memory', () => openMemoryStore())
