import { afterAll } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { storeSuite } from '../../src/testing/store-suite.ts'
import { tempFolder } from '../../src/testing/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

let made = 0
storeSuite('SQLite', () => openSqliteStore({ file: folder.file(`${++made}.db`) }))
