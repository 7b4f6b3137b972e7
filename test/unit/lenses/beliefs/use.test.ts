/** Who is returned has been used (BQ-072), and what that tells (BQ-104). */
import { expect, it, onTestFinished } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { seededBytes } from '../../../support/seeded.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const HOUR = 3_600_000

async function edgesAfterQuery(
  anonymity: string,
  level: Json,
  more: Json = {},
): Promise<Readonly<Record<string, boolean>>> {
  const random = seededBytes(1)
  const clock = new SettableClock(NOW)
  const engine = await openBeliefsEngine({ store: openMemoryStore(), clock, random })
  onTestFinished(() => engine.close())
  const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  for (const id of ['ann', 'bob', 'cyd']) await call('agents.create', 'owner', { id })
  await call('federations.create', 'owner', { id: 'lab', anonymity })
  for (const agent of ['ann', 'bob', 'cyd']) await call('federations.set_member', 'owner', { federation: 'lab', agent })
  for (const target of ['bob', 'cyd', 'federation:lab']) await call('trust.set', 'ann', { target, trust_level: 0.8 })
  await call('beliefs.put', 'bob', { content: 'A fox.', ...level })
  clock.set(NOW + HOUR)
  await call('beliefs.query', 'ann', {
    semantic: 'fox',
    options: { scope: { federated: true, network: true }, ...more },
  })
  const { edges } = (await call('trust.list', 'ann', {})) as { edges: readonly Json[] }
  const isUsed = (edge: Json) => Date.parse(edge['last_used'] as string) === NOW + HOUR
  return Object.fromEntries(edges.map(edge => [edge['target'] as string, isUsed(edge)]))
}

const PUBLIC = { visibility: 'public' }
const SHARED = { visibility: 'federated', federation_ids: ['lab'] }

it('refreshes the edge to the holder of what was returned, and no other', async () => {
  expect(await edgesAfterQuery('strict', PUBLIC)).toEqual({ bob: true, cyd: false, 'federation:lab': false })
})

it('changes nothing on a dry run', async () => {
  const nothing = { bob: false, cyd: false, 'federation:lab': false }
  expect(await edgesAfterQuery('pseudonyms', SHARED, { dry_run: true })).toEqual(nothing)
})

it.each(['strict', 'pseudonyms'])('refreshes the edge to a federation that a belief came through: %s', async mode => {
  expect(await edgesAfterQuery(mode, SHARED)).toEqual({ bob: false, cyd: false, 'federation:lab': true })
})
