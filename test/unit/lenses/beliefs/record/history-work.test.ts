/** Reading a past is work by its length alone (BQ-192): nobody makes it more by writing one belief again and again. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { countingStore, type Work } from '../../../../support/counting-store.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const VERSIONS = 40
const folder = tempFolder()
let engine: Engine
let work: Work

beforeAll(async () => {
  const counting = countingStore(openSqliteStore({ file: folder.file('store.db') }))
  work = counting.work
  const clock = new SettableClock(Date.UTC(2026, 5, 1))
  engine = await openBeliefsEngine({ store: counting.store, clock, embedder: 'none' })
  for (const id of ['ann', 'bob']) await callOperation(engine, 'agents.create', 'owner', { id })
  const put = (name: string, input: object) => callOperation(engine, name, 'bob', input)
  await put('beliefs.put', { id: 'v1', content: 'Foxes dig', visibility: 'public' })
  for (let at = 2; at <= VERSIONS; at++) {
    clock.set(clock.now() + 1_000)
    await put('beliefs.supersede', { belief_id: `v${at - 1}`, id: `v${at}`, content: `Foxes dig ${at}` })
  }
})
afterAll(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

/** Versions of the past that were read for it. */
async function readFor(by: string): Promise<{ readonly rows: number; readonly history: readonly Json[] }> {
  work.calls.length = 0
  const input = { belief_id: `v${VERSIONS}`, include_superseded: true }
  const { history } = await callOperation(engine, 'beliefs.get', by, input)
  const sizes = work.calls.flatMap(call => /^beliefs_versions\.scan (\d+)$/.exec(call)?.[1] ?? [])
  return { rows: sizes.reduce((sum, size) => sum + Number(size), 0), history: history as Json[] }
}

it.each(['ann', 'bob'])('is shown to %s newest first, each with its number, and read a few times', async by => {
  const { rows, history } = await readFor(by)
  expect(history.map(({ id, version }) => `${id} ${version}`)).toEqual(
    Array.from({ length: VERSIONS }, (_, at) => `v${VERSIONS - at} ${VERSIONS - at}`),
  )
  // Once for the number of the newest, once for the past itself.
  expect(rows).toBeLessThanOrEqual(3 * VERSIONS)
})
