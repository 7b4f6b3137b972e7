import { afterAll } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { storeSuite } from './store-suite.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

let made = 0
storeSuite('SQLite', () => openSqliteStore({ file: folder.file(`${++made}.db`) }))
