/**
 * A reference means what it meant to its writer when it was written (BQ-090, BQ-097, BQ-111): nobody finds out by storing a
 * belief under a guessed id that a hidden one is named somewhere.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { openTestEngine, TEST_NOW } from '../../../../support/engines.ts'

type Json = Readonly<Record<string, unknown>>

let engine: Engine
const clock = new SettableClock(TEST_NOW)

beforeEach(async () => {
  engine = await openTestEngine({ clock })
  for (const id of ['lab', 'guild']) await call('owner', 'federations.create', { id })
  for (const agent of ['ann', 'bob']) await call('owner', 'federations.set_member', { federation: 'lab', agent })
  for (const agent of ['bob', 'cyd']) await call('owner', 'federations.set_member', { federation: 'guild', agent })
})
afterEach(() => engine.close())

function call(viewer: string, name: string, input: Json): Promise<unknown> {
  clock.set(clock.now() + 1000)
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

function put(viewer: string, id: string, sources: readonly string[] = [], more: Json = {}): Promise<unknown> {
  const derivation = { type: 'inference', sources: sources.map(belief_id => ({ belief_id })) }
  return call(viewer, 'beliefs.put', { id, content: `I am ${id}`, derivation, ...more })
}

async function sourcesOf(viewer: string, id: string): Promise<readonly unknown[]> {
  const reported = (await call(viewer, 'beliefs.get', { belief_id: id })) as {
    belief: { derivation: { sources: Json[] } }
  }
  return reported.belief.derivation.sources.map(source => source['belief_id'])
}

/** All that answers contain of a visible belief and what it rests on, but for scores, which beliefs of one's own move too. */
async function allReportedOn(viewer: string, belief_id: string): Promise<readonly unknown[]> {
  const scope = { local: true, federated: true, network: true }
  const asking = (max_derivation_depth: number) => ({
    semantic: belief_id,
    filters: { max_derivation_depth, exclude_holders: [viewer] },
    options: { scope, include_derivation: true },
  })
  const asked = async (depth: number) => {
    const { beliefs } = (await call(viewer, 'beliefs.query', asking(depth))) as { beliefs: readonly Json[] }
    return beliefs.map(({ belief, derivation_chain }) => [belief, derivation_chain])
  }
  const context = { ...asking(9), purpose: 'answer', max_tokens: 500 }
  const merged = (await call(viewer, 'beliefs.context_query', context)) as Json
  return [
    await call(viewer, 'beliefs.get', { belief_id, include_superseded: true }),
    await call(viewer, 'beliefs.derivation', { belief_id }),
    [await asked(0), await asked(1), merged['expandable']],
  ]
}

const PUBLIC = { visibility: 'public' }
const IN_LAB = { visibility: 'federated', federation_ids: ['lab'] }
const IN_GUILD = { visibility: 'federated', federation_ids: ['guild'] }

describe('who guesses the id of a hidden source learns nothing', () => {
  const guesses = [{}, PUBLIC, IN_LAB]

  it.each(guesses)('by storing a belief under it, %j', async level => {
    await put('bob', 'secret')
    await put('cyd', 'hidden', [], IN_GUILD)
    await put('bob', 'gone', [], PUBLIC)
    await put('bob', 'open', ['secret', 'hidden', 'gone', 'never'], PUBLIC)
    await put('bob', 'shared', ['secret', 'hidden', 'gone', 'never'], IN_LAB)
    await call('bob', 'beliefs.supersede', { belief_id: 'gone', id: 'gone-2', visibility: 'private' })
    const before = [await allReportedOn('ann', 'open'), await allReportedOn('ann', 'shared')]
    for (const id of ['secret', 'hidden', 'gone', 'never', 'other']) await put('ann', id, [], level)
    expect([await allReportedOn('ann', 'open'), await allReportedOn('ann', 'shared')]).toEqual(before)
    expect(await sourcesOf('ann', 'open')).toEqual([])
    expect(await sourcesOf('bob', 'open')).toEqual(['secret', 'hidden', 'gone'])
  })

  it.each(guesses)('by having stored a belief under it before it was named, %j', async level => {
    await put('bob', 'secret')
    await put('cyd', 'hidden', [], IN_GUILD)
    for (const id of ['secret', 'hidden']) await put('ann', id, [], level)
    await put('bob', 'open', ['secret', 'hidden'], PUBLIC)
    expect(await sourcesOf('ann', 'open')).toEqual([])
    expect(await call('ann', 'beliefs.derivation', { belief_id: 'open' })).toMatchObject({ depth: 0 })
  })

  it('by naming it himself: what is hidden and what is nowhere read alike', async () => {
    await put('bob', 'secret', [], IN_GUILD)
    await put('bob', 'past')
    await call('bob', 'beliefs.delete', { belief_id: 'past' })
    const found = []
    for (const id of ['secret', 'past', 'nowhere']) {
      const { belief } = (await put('ann', `rests-${id}`, [id], { content: 'I rest' })) as { belief: Json }
      found.push({ ...belief, id: '', created_at: '', valid_from: '' })
    }
    expect(found).toEqual([found[2], found[2], found[2]])
  })

  it('by a condition on what the lens keeps of it', async () => {
    await put('bob', 'old')
    await call('bob', 'beliefs.supersede', { belief_id: 'old', id: 'open', ...PUBLIC })
    await put('bob', 'secret')
    await put('bob', 'rests', ['secret'], PUBLIC)
    // What is no condition is text: with `any` no visible content decides either.
    const conditions = ['derivation:~', 'chain:', 'supersedes:', 'version:>', 'derivation:*', 'version:']
    for (const condition of conditions) {
      const counts = []
      for (const value of ['secret', 'old', '1', '2', 'nobody']) {
        const text = `i am belief.${condition}${condition.endsWith('*') ? '' : value}`
        const { items } = (await call('ann', 'query', { text, lens: 'beliefs', any: true })) as {
          items: readonly unknown[]
        }
        counts.push(items.length)
      }
      expect(new Set(counts).size, condition).toBe(1)
    }
  })
})

describe('a reference means', () => {
  it('the writer’s own, else the oldest that the writer sees, when it is written', async () => {
    await put('cyd', 'x', [], PUBLIC)
    await put('bob', 'first', ['x'], PUBLIC)
    await put('bob', 'x', ['first'], PUBLIC)
    await put('bob', 'second', ['x'], PUBLIC)
    const chainOf = async (belief_id: string) => {
      const { chain } = (await call('ann', 'beliefs.derivation', { belief_id })) as { chain: readonly Json[] }
      return chain.map(link => `${link['depth']} ${link['belief_id']}`)
    }
    expect(await chainOf('first')).toEqual(['0 first', '1 x'])
    expect(await chainOf('second')).toEqual(['0 second', '1 x', '2 first', '3 x'])
  })

  it('nothing where it is written before what it names, for ever', async () => {
    await put('bob', 'early', ['late'], PUBLIC)
    await put('bob', 'late', [], PUBLIC)
    for (const viewer of ['ann', 'bob']) expect(await sourcesOf(viewer, 'early')).toEqual([])
    await call('bob', 'beliefs.supersede', { belief_id: 'early', id: 'early-2', content: 'still' })
    expect(await sourcesOf('bob', 'early-2')).toEqual([])
    const derivation = { type: 'inference', sources: [{ belief_id: 'late' }] }
    await call('bob', 'beliefs.supersede', { belief_id: 'early-2', id: 'early-3', derivation })
    expect(await sourcesOf('ann', 'early-3')).toEqual(['late'])
  })

  it('itself, and in a list put at once what comes later', async () => {
    const naming = (...ids: readonly string[]) => ({
      ...PUBLIC,
      derivation: { type: 'inference', sources: ids.map(belief_id => ({ belief_id })) },
    })
    await put('bob', 'late', [], PUBLIC)
    const beliefs = [
      { id: 'a', content: 'a', ...naming('a', 'late', 'b') },
      { id: 'late', content: 'mine', ...naming('a') },
      { id: 'b', content: 'b', ...naming() },
    ]
    await call('cyd', 'beliefs.put', { beliefs })
    expect(await sourcesOf('ann', 'a')).toEqual(['a', 'late', 'b'])
    const received = (await call('ann', 'beliefs.derivation', { belief_id: 'a' })) as { chain: readonly Json[] }
    expect(received.chain.map(link => link['content_preview'])).toEqual(['a', 'mine', 'b'])
  })

  it('the same after its target was replaced, without its holder', async () => {
    await put('cyd', 'x', [], IN_GUILD)
    await put('bob', 'rests', ['x'], IN_GUILD)
    await call('cyd', 'beliefs.supersede', { belief_id: 'x', id: 'x-2', content: 'new' })
    await put('bob', 'x', [], PUBLIC)
    const shown = JSON.stringify(await call('cyd', 'beliefs.get', { belief_id: 'rests' }))
    expect(await sourcesOf('bob', 'rests')).toEqual(['x'])
    expect(shown).not.toContain('"cyd"')
    expect(shown).not.toContain('holder"')
  })
})
