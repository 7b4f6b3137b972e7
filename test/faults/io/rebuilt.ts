/** Holds an engine against one that reads the whole store again: the same answers, whatever the indexes have been through. */

import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { callOperation } from '../../support/beliefs-engine.ts'
import { damageIn } from '../../support/damage-in.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import type { Contents } from './deeds.ts'
import { NODE_TAGS, NOW } from './life.ts'

const QUESTIONS = ['quick fox', 'automobile rain', 'tulip', 'after the fault']
/** The machine may be busy with other things; what is late is not wrong. */
const PATIENT = { timeout_ms: 120_000 } as const

/** Which answers differ, and what `check` of the store says. The engine must be on the store of this file, at this time. */
export async function differences(engine: Engine, file: string, now: number = NOW): Promise<readonly string[]> {
  // Without a home, so without snapshots.
  const store = openSqliteStore({ file })
  await using again = await openEngine({
    ...{ store, embedder: openToyEmbedder(), background: false, clock: new SettableClock(now) },
  })
  const wrong = [...(await damageIn(store))]
  for (const text of QUESTIONS) {
    for (const mode of ['hybrid', 'words', 'meaning'] as const) {
      const ask = (one: Engine) =>
        one.query({ text, mode, any: true, touch: false, explain: true, limit: 20, ...PATIENT })
      if (!(await isSame(ask, engine, again))) wrong.push(`"${text}" by ${mode}: not what a rebuild answers`)
    }
  }
  const { hashtags } = await callOperation(again, 'chroma.hashtags', 'owner', {})
  if ((hashtags as unknown[]).length === 0) return wrong
  const near = (one: Engine) =>
    callOperation(one, 'chroma.query', 'owner', { hashtags: NODE_TAGS, k: 10, update_access: false })
  if (!(await isSame(near, engine, again))) wrong.push('chroma.query: not what a rebuild answers')
  const believed = async (one: Engine) => {
    const asked = { semantic: '', filters: { holder_ids: ['owner'] } }
    return (await callOperation(one, 'beliefs.query', 'owner', asked))['beliefs']
  }
  if (!(await isSame(believed, engine, again))) wrong.push('beliefs.query: not what a rebuild answers')
  return wrong
}

async function isSame(ask: (engine: Engine) => Promise<unknown>, mine: Engine, again: Engine): Promise<boolean> {
  const [one, other] = await Promise.all([ask(mine), ask(again)])
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Contents of all entries by id. */
export async function contentsOf(engine: Engine): Promise<Contents> {
  const { items } = await engine.list({ limit: 1000, order: 'id' })
  return new Map(await Promise.all(items.map(async ({ id }) => [id, (await engine.get({ id })).content] as const)))
}
