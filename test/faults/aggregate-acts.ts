/** A federation of aggregates on a store that several processes use. */
import { randomBytes } from 'node:crypto'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from '../support/beliefs-engine.ts'

export const MEMBERS = 20

export function openAt(file: string): Promise<Engine> {
  const clock = new SettableClock(Date.parse('2026-06-01T12:00:00Z'))
  return openBeliefsEngine({ store: openSqliteStore({ file }), clock, random: length => randomBytes(length) })
}

/** Members m0, m1, … who each hold a belief on foxes. */
export async function foundCensus(engine: Engine): Promise<void> {
  await callOperation(engine, 'federations.create', 'owner', { id: 'census', results: 'aggregate' })
  for (let at = 0; at < MEMBERS; at++) {
    const id = `m${at}`
    await callOperation(engine, 'agents.create', 'owner', { id })
    await callOperation(engine, 'federations.set_member', 'owner', { federation: 'census', agent: id })
    const shared = { visibility: 'federated', federation_ids: ['census'] }
    await callOperation(engine, 'beliefs.put', id, { content: `foxes number ${at}`, ...shared })
  }
}

/** `told <topic> <aggregate>`, or `refused <topic> <code>`. */
export async function tellOf(engine: Engine, member: string, topic: string): Promise<string> {
  try {
    const { aggregate } = await callOperation(engine, 'federations.aggregate', member, { federation: 'census', topic })
    return `told ${topic} ${JSON.stringify(aggregate)}`
  } catch (error) {
    return `refused ${topic} ${(error as { code: string }).code}`
  }
}
