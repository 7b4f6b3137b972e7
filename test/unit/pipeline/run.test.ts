import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { audience } from '../../../src/model/partition.ts'
import type { QueryContext } from '../../../src/pipeline/context.ts'
import { DEFAULT_STAGES } from '../../../src/pipeline/default-stages.ts'
import { runQuery } from '../../../src/pipeline/run.ts'
import { type AskWorld, WORLD_NOW } from '../../support/ask-world.ts'
import { openWorld } from './world.ts'

async function foxWorld(): Promise<AskWorld> {
  const world = openWorld()
  for (const id of ['a', 'b', 'c']) world.put({ id, content: `fox ${id}`, audience: audience('public') })
  await world.embedAll()
  return world
}

/** Over as soon as the stage of that name begins. */
function lateAt(stage: keyof typeof DEFAULT_STAGES, options: { stop: boolean }) {
  const controller = new AbortController()
  let over = false
  const deadline = new Deadline(Number.POSITIVE_INFINITY, controller.signal)
  Object.defineProperty(deadline, 'over', { get: () => over || controller.signal.aborted })
  const original = DEFAULT_STAGES[stage] as (...given: unknown[]) => unknown
  const stages = {
    ...DEFAULT_STAGES,
    [stage]: (...given: unknown[]) => {
      over = true
      if (options.stop) controller.abort()
      return original(...given)
    },
  }
  return { stages, deadline }
}

describe('the driver', () => {
  it('names the entries of the items, in their order', async () => {
    const world = await foxWorld()
    const { page, entries } = await world.ask({ text: 'fox b' })
    expect(entries.map(entry => entry.id)).toEqual(page.items.map(item => item.id))
  })

  it('asks deeper, four times as deep each time, until the page is full', async () => {
    const depths: number[] = []
    const stages = {
      ...DEFAULT_STAGES,
      retrieve: async (...[plan, depth, context]: Parameters<typeof DEFAULT_STAGES.retrieve>) => {
        depths.push(depth)
        const found = await DEFAULT_STAGES.retrieve(plan, depth, context)
        return depth < 1000 ? { ...found, candidates: [], exhausted: false } : found
      },
    }
    const { page } = await (await foxWorld()).ask({ text: 'fox', any: true }, { stages })
    // The first a second time: all that it brings, not just what could reach the page.
    expect(depths).toEqual([100, 100, 400, 1600])
    expect(page.items.length).toBe(3)
  })
})

describe('a deadline', () => {
  it('that is over before anything was retrieved is an error', async () => {
    const world = await foxWorld()
    const error = { code: 'deadline_exceeded', details: { timeout_ms: 5000 } }
    await expect(world.ask({ text: 'fox' }, { deadline: new Deadline(0) })).rejects.toMatchObject(error)
    await expect(world.ask({ text: 'fox' }, lateAt('parse', { stop: false }))).rejects.toMatchObject(error)
  })

  it('that is over in retrieval gives what there is, and says so', async () => {
    const world = await foxWorld()
    const { page } = await world.ask({ text: 'fox b' }, lateAt('retrieve', { stop: false }))
    expect(page.coverage.complete).toBe(false)
    expect(page.items.map(item => item.id)).toEqual(['b', 'a', 'c'])
    expect(page.items[0]?.components['meaning']).toBe(0)
  })

  it('that is over while the question is embedded leaves it to the words', async () => {
    const world = await foxWorld()
    const never = () => new Promise<never>(() => {})
    const twist = (context: ReturnType<AskWorld['context']>) => ({ ...context, embed: never })
    const answer = await world.ask({ text: 'fox b' }, { twist, deadline: new Deadline(30) })
    expect(answer.page).toMatchObject({
      mode: 'words',
      coverage: { complete: false },
      notes: [{ code: 'meaning_late' }],
    })
    expect(answer.page.items[0]?.id).toBe('b')
    const meaning = world.ask({ text: 'fox b', mode: 'meaning' }, { twist, deadline: new Deadline(30) })
    await expect(meaning).rejects.toMatchObject({ code: 'deadline_exceeded' })
  })

  it('that was brought about by the caller is an error at every stage', async () => {
    const world = await foxWorld()
    for (const stage of ['parse', 'enrich'] as const) {
      await expect(world.ask({ text: 'fox' }, lateAt(stage, { stop: true }))).rejects.toMatchObject({
        code: 'cancelled',
      })
    }
    const controller = new AbortController()
    const asked = world.ask(
      { text: 'fox' },
      {
        deadline: new Deadline(Number.POSITIVE_INFINITY, controller.signal),
        twist: context => ({ ...context, embed: () => new Promise<never>(() => {}) }),
      },
    )
    controller.abort()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  })
})

describe('the second check', () => {
  const ann = { viewer: { id: 'ann' } }

  it('drops what was hidden, moved or deleted since it was retrieved, without a gap in the ranks', async () => {
    const world = await foxWorld()
    const { store } = world.parts
    const stages = {
      ...DEFAULT_STAGES,
      diversify: (...given: Parameters<typeof DEFAULT_STAGES.diversify>) => {
        world.put({ id: 'a', content: 'fox secret', audience: audience('private', 'bob') })
        world.put({ id: 'c', content: 'fox secret', audience: audience('private') })
        const [hidden] = store.find('c', [1, 2, 3, 4, 5])
        store.write(WORLD_NOW, writer => writer.delete(store.find('b', [1])[0] ?? (hidden as number)))
        return DEFAULT_STAGES.diversify(...given)
      },
    }
    const { page } = await world.ask({ text: 'fox' }, { ...ann, stages })
    expect(JSON.stringify(page)).not.toContain('secret')
    expect(page.items.map(item => item.rank)).toEqual(page.items.map((_, at) => at + 1))
  })

  it('looks at memberships as they are now', async () => {
    const world = openWorld()
    world.join('lab', 'ann')
    world.join('lab', 'bob')
    world.put({ id: 'shared', content: 'fox', audience: audience('shared', 'bob', ['lab']) })
    world.put({ id: 'public', content: 'fox', audience: audience('public') })
    await world.embedAll()
    const context = world.context({ text: 'fox' }, ann)
    const ids = async () => (await runQuery(DEFAULT_STAGES, context)).page.items.map(item => [item.rank, item.id])
    expect(await ids()).toEqual([
      [1, 'public'],
      [2, 'shared'],
    ])
    world.join('lab', 'bob', 'suspended')
    expect(await ids()).toEqual([[1, 'public']])
  })
})

/** Looking at the vector index may load tens of megabytes. */
function withoutVectors(context: QueryContext): QueryContext {
  return Object.defineProperty({ ...context }, 'vectors', {
    get: () => {
      throw new Error('looked at the vector index')
    },
  })
}

it('a question by words does not look at the vector index, and tells all the same how much is embedded', async () => {
  const world = openWorld()
  for (const id of ['a', 'b']) world.put({ id, content: `fox ${id}`, audience: audience('public') })
  await world.embedAll()
  world.put({ id: 'c', content: 'fox c', audience: audience('public') })
  world.put({ id: 'd', content: 'fox d', audience: audience('private', 'ann') })
  const options = { twist: withoutVectors, viewer: { id: 'bob' } }
  const { page } = await world.ask({ text: 'fox', mode: 'words' }, options)
  expect(page.items).toHaveLength(3)
  expect(page.coverage.embedded).toBeCloseTo(2 / 3)
  expect((await world.ask({ text: '', filter: { kinds: ['note'] } }, options)).page.items).toHaveLength(3)
  await expect(world.ask({ text: 'fox' }, options)).rejects.toThrow('looked at the vector index')
})
