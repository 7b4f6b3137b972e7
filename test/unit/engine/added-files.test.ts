import { mkdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { AddedFiles } from '../../../src/engine/added-files.ts'
import { INDEXED_TREES } from '../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { tempFolder } from '../../support/temp-folder.ts'

it('code that cannot be read is not tried again at every look (QE-012)', async () => {
  using folder = tempFolder()
  const path = folder.file('src')
  mkdirSync(path)
  const store = openMemoryStore()
  const url = pathToFileURL(path).href
  store.write(0, writer =>
    writer.table(INDEXED_TREES).put({ holder: 'owner', lens: 'broken', url, folder: url, mark: 'another' }),
  )
  let runs = 0
  const readCode = async () => {
    runs++
    throw new Error('no room')
  }
  const parts = {
    store,
    clock: systemClock,
    registry: { must: () => ({ readCode }) },
    indexes: { keepUp: () => [].values() },
  }
  const files = new AddedFiles(parts as never, true)
  files.lendHosts(() => ({}) as never)
  const { signal } = new AbortController()
  for (let look = 0; look < 3; look++) await files.job().run(0, signal, () => {}, (() => {}) as never)
  expect(runs).toBe(1)
  expect(files.statesOf(await files.look({ signal }))).toMatchObject([{ path, lens: 'broken', error: 'no room' }])
  expect(await files.sync({}, { signal })).toMatchObject({ report: { errors: [{ path, message: 'no room' }] } })
  expect(runs).toBe(2)
})
