/** Uses that meet a busy store are counted later: with the next one, soon after, or when the engine closes. */
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { openTestEngine } from '../support/engines.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'

async function openBusy() {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = folder.file('store.db')
  const open = () => openTestEngine({ store: openSqliteStore({ file }) })
  const engine = await open()
  onTestFinished(() => engine.close())
  await engine.put({ entries: [{ id: 'fox', content: 'a quick fox' }] })
  const child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
  onTestFinished(async () => void (await child.kill()))
  await child.says('holding')
  const release = async () => {
    child.tell('release')
    await child.says('released')
  }
  return { engine, open, release }
}

const ask = async (engine: Engine, viewer = 'owner') =>
  expect((await engine.query({ text: 'fox', touch: true }, { viewer: { id: viewer } })).items).toHaveLength(1)
const used = async (engine: Engine) => (await engine.get({ id: 'fox', touch: false })).access?.count ?? 0

it('with the next one', async () => {
  const { engine, release } = await openBusy()
  for (let times = 0; times < 3; times++) await ask(engine)
  expect(await used(engine)).toBe(0)
  await release()
  await ask(engine)
  expect(await used(engine)).toBe(4)
  await ask(engine)
  expect(await used(engine)).toBe(5)
})

it('soon after, when nobody asks any more', async () => {
  const { engine, release } = await openBusy()
  await ask(engine)
  await release()
  await vi.waitFor(async () => expect(await used(engine)).toBe(1), 300_000)
})

it('when the engine closes', async () => {
  const { engine, open, release } = await openBusy()
  await ask(engine)
  await release()
  await engine.close()
  await using again = await open()
  expect(await used(again)).toBe(1)
})

it('not at all where an engine closes on a store that stays locked, which keeps it from nothing', async () => {
  const { engine, open } = await openBusy()
  await ask(engine)
  await engine.close()
  await using again = await open()
  expect(await used(again)).toBe(0)
})
