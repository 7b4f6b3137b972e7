/** Memberships that a federation of one node states for the node of a member. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { keysOf } from '../../../../../src/identity/keys.ts'
import { signStatement } from '../../../../../src/identity/messages.ts'
import { STATEMENTS } from '../../../../../src/lenses/beliefs/tables.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, read in expectations only
type Any = any

/** Where `lab` lives, and where its member `ann` does. */
let home: Engine
let away: Engine
let store: Store
let did: string
beforeEach(async () => {
  const clock = new SettableClock(Date.now())
  store = openMemoryStore()
  home = await openBeliefsEngine({ store: 'memory', clock })
  away = await openBeliefsEngine({ store, clock })
  const { agent } = (await there('agents.create', { id: 'ann' })) as Any
  did = agent.did
  await here('federations.create', { id: 'lab' })
  await here('federations.set_member', { federation: 'lab', agent: did })
})
afterEach(async () => {
  await home.close()
  await away.close()
})

const here = (name: string, input: unknown, by = 'owner'): Promise<Any> => callOperation(home, name, by, input)
const there = (name: string, input: unknown, by = 'owner'): Promise<Any> => callOperation(away, name, by, input)
const stated = (by = 'owner') => here('federations.statement', { federation: 'lab', agent: did }, by)
const members = async () => (await there('federations.list', {})).federations[0]?.members

/** Statements are dated to the millisecond. */
const later = () => new Promise(resolve => setTimeout(resolve, 3))

/** As the federation with this key would sign it. */
function forged(seed: number, change: object, original: Any) {
  const keys = keysOf(new Uint8Array(32).fill(seed))
  const statement = { ...original.statement, federation_did: keys.did, ...change }
  return { statement, signature: signStatement(keys, statement) }
}

describe('a federation states a membership', () => {
  it('which the node of the member takes, so that the member is active in it there', async () => {
    const answer = await stated()
    expect(answer.statement).toMatchObject({
      ...{ type: 'querent.membership.v1', federation: 'lab', agent: did },
      ...{ status: 'active', role: 'member', permissions: null },
    })
    expect(answer.statement.federation_did).toBe((await here('federations.list', {})).federations[0].did)
    expect(await there('federations.accept', answer)).toMatchObject({
      federation: { id: 'lab', did: answer.statement.federation_did },
      ...{ agent: 'ann', taken: true, expires_at: answer.statement.expires_at },
    })
    expect(await members()).toMatchObject([{ agent_id: 'ann', status: 'active', role: 'member' }])
  })

  it('whose figures the node of the member does not give: the error names the place', async () => {
    await there('federations.accept', await stated())
    const asked = there('federations.aggregate', { federation: 'lab', topic: 'foxes' }, 'ann')
    await expect(asked).rejects.toMatchObject({ details: { path: 'federation', reason: 'elsewhere' } })
  })

  it('to those who run it and to the member itself, to nobody else', async () => {
    expect(await stated(did)).toMatchObject({ statement: { agent: did } })
    await here('agents.create', { id: 'eve' })
    await expect(stated('eve')).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    const none = here('federations.statement', { federation: 'none', agent: 'eve' }, 'eve')
    await expect(none).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: {} })
  })

  it('of members only', async () => {
    await expect(here('federations.statement', { federation: 'lab', agent: 'nobody' })).rejects.toMatchObject({
      details: { path: 'agent', reason: 'not_found' },
    })
  })
})

describe('a statement is not taken', () => {
  it.each([
    ['status', 'departed'],
    ['role', 'admin'],
    ['permissions', ['query_beliefs']],
    ['expires_at', '2099-01-01T00:00:00.000Z'],
  ])('when its %s was changed', async (name, value) => {
    const answer = await stated()
    const changed = { ...answer, statement: { ...answer.statement, [name]: value } }
    await expect(there('federations.accept', changed)).rejects.toMatchObject({ details: { path: 'signature' } })
  })

  it('when something was added to it', async () => {
    const answer = await stated()
    const more = { ...answer, statement: { ...answer.statement, more: 1 } }
    await expect(there('federations.accept', more)).rejects.toMatchObject({ details: { path: 'statement.more' } })
  })

  it('when it is of nobody here', async () => {
    await here('agents.create', { id: 'ben' })
    await here('federations.set_member', { federation: 'lab', agent: 'ben' })
    const answer = await here('federations.statement', { federation: 'lab', agent: 'ben' })
    await expect(there('federations.accept', answer)).rejects.toMatchObject({ details: { path: 'statement.agent' } })
  })

  it.each([
    ['issued_at', { issued_at: '2099-01-01T00:00:00.000Z', expires_at: '2099-01-02T00:00:00.000Z' }],
    ['expires_at', { issued_at: '2020-01-01T00:00:00.000Z', expires_at: '2020-01-02T00:00:00.000Z' }],
    ['expires_at', { expires_at: '2099-01-01T00:00:00.000Z' }],
  ])('when %s does not fit the clock here', async (name, change) => {
    await expect(there('federations.accept', forged(7, change, await stated()))).rejects.toMatchObject({
      details: { path: `statement.${name}` },
    })
  })

  it('when another federation of this name is known, by its key', async () => {
    const answer = await stated()
    await there('federations.accept', answer)
    await expect(there('federations.accept', forged(7, {}, answer))).rejects.toMatchObject({
      details: { path: 'statement.federation_did', reason: 'mismatch' },
    })
  })

  it('when a federation of this name lives here', async () => {
    await there('federations.create', { id: 'lab' })
    await expect(there('federations.accept', await stated())).rejects.toMatchObject({
      details: { path: 'statement.federation', reason: 'taken' },
    })
  })

  it('by an agent, unless the owner named the federation beside a peer, and it is not told why', async () => {
    const answer = await stated()
    await expect(there('federations.accept', answer, 'ann')).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      details: {},
    })
    const peer = { id: 'p', address: 'http://127.0.0.1:9', did: keysOf(new Uint8Array(32).fill(9)).did }
    await there('peers.add', { ...peer, federations: ['lab'] })
    expect(await there('federations.accept', answer, 'ann')).toMatchObject({ taken: true })
    await there('agents.create', { id: 'eve' })
    await expect(there('federations.accept', answer, 'eve')).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      details: {},
    })
    await expect(there('federations.accept', forged(7, {}, answer), 'ann')).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      details: {},
    })
  })
})

describe('a membership from elsewhere', () => {
  it('follows the newest statement, whichever comes last', async () => {
    const first = await stated()
    await later()
    await here('federations.set_member', { federation: 'lab', agent: did, status: 'suspended' })
    const second = await stated()
    expect(await there('federations.accept', second)).toMatchObject({ taken: true })
    expect(await there('federations.accept', first)).toMatchObject({ taken: false })
    expect(await members()).toMatchObject([{ status: 'suspended' }])
    expect(await there('federations.accept', second)).toMatchObject({ taken: false })
  })

  it('is changed on its own node only', async () => {
    await there('federations.accept', await stated())
    const change = there('federations.set_member', { federation: 'lab', agent: 'ann', role: 'admin' })
    await expect(change).rejects.toMatchObject({ details: { path: 'federation', reason: 'elsewhere' } })
  })

  it('ends when its statement does, before the next question', async () => {
    await there('federations.accept', await stated())
    await there('agents.create', { id: 'ben' })
    const [statement] = store.table(STATEMENTS).scan()
    store.write(Date.now(), writer => writer.table(STATEMENTS).put({ ...statement, expires_at: Date.now() - 1 }))
    expect(await members()).toMatchObject([{ status: 'active' }])
    await there('beliefs.query', { semantic: 'anything' }, 'ann')
    expect(await members()).toMatchObject([{ status: 'departed' }])
  })
})

describe('a federation that was founded again, with another key', () => {
  it('is not followed, unless the local owner takes the key by hand', async () => {
    await there('federations.accept', await stated())
    await later()
    const after = forged(7, {}, await stated())
    await expect(there('federations.accept', after)).rejects.toMatchObject({
      details: { path: 'statement.federation_did', reason: 'mismatch' },
    })
    await expect(there('federations.accept', { ...after, repin: true }, 'ann')).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    })
    expect(await there('federations.accept', { ...after, repin: true })).toMatchObject({
      taken: true,
      federation: { did: after.statement.federation_did },
    })
  })
})
