/**
 * One whole answer, as people can read it in test/fixtures/beliefs/small-world.yaml. After a change that was meant,
 * UPDATE_SMALL_WORLD=1 writes the answer again: read what has changed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Document, parse, parseDocument } from 'yaml'
import { SettableClock } from '../../../../src/base/clock.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { seededBytes } from '../../../support/seeded.ts'

const FILE = new URL('../../../fixtures/beliefs/small-world.yaml', import.meta.url)
/** Written before, so that there is some age to see. */
const DAYS_BEFORE = 10
const DAY_MS = 86_400_000

interface SmallWorld {
  readonly now: string
  readonly agents: readonly string[]
  readonly federations: Readonly<Record<string, readonly string[]>>
  readonly trust: readonly Json[]
  readonly beliefs: readonly Json[]
  readonly ask: { readonly by: string; readonly query: Json }
  readonly answer: Json
}

it('answers a small world as it is written down', async () => {
  const text = readFileSync(FILE, 'utf8')
  const world = parse(text) as SmallWorld
  const answer = await answerOf(world)
  if (process.env['UPDATE_SMALL_WORLD'] === '1') {
    const document = parseDocument(text)
    document.set('answer', new Document(answer).contents)
    writeFileSync(FILE, document.toString({ lineWidth: 120, flowCollectionPadding: false }))
    return
  }
  expect(answer).toEqual(world.answer)
})

async function answerOf({ now, agents, federations, trust, beliefs, ask }: SmallWorld): Promise<Json> {
  const clock = new SettableClock(Date.parse(now) - DAYS_BEFORE * DAY_MS)
  const random = seededBytes(1)
  await using engine = await openBeliefsEngine({ store: openMemoryStore(), clock, random })
  const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  for (const id of agents) await call('agents.create', 'owner', { id })
  for (const [id, members] of Object.entries(federations)) {
    await call('federations.create', 'owner', { id, anonymity: 'pseudonyms' })
    for (const agent of members) await call('federations.set_member', 'owner', { federation: id, agent })
  }
  for (const { by, ...edge } of trust) await call('trust.set', by as string, edge)
  for (const { by, ...draft } of beliefs) await call('beliefs.put', by as string, draft)
  clock.set(Date.parse(now))
  const answer = await call('beliefs.query', ask.by, ask.query)
  return rounded({ ...answer, query_time_ms: 0 }) as Json
}

/** To nine decimals, as people can compare them. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toFixed(9))
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]))
}
