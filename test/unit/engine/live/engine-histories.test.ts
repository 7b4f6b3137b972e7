/**
 * Live queries of the default lens over random histories of a real store: another process writes, audiences and memberships
 * change, clocks jump, the engine restarts. The long form, 1,000 histories: QUERENT_LONG=1.
 */
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { LiveEvent, WatchInput } from '../../../../src/model/live.ts'
import type { Audience } from '../../../../src/model/partition.ts'
import { DEFAULT_LENS_STAGES } from '../../../../src/pipeline/default-stages.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { assertUntil } from '../../../support/until-met.ts'
import { ANN, EngineWorld, NOW, type Put, Watcher, type Where } from './engine-world.ts'

const IS_LONG = process.env['QUERENT_LONG'] === '1'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let files = 0
const newFile = () => join(folder.path, `${++files}.db`)

const of = (kind: Audience['kind'], holder: string, federations: readonly string[] = []): Audience =>
  kind === 'shared' ? { kind, holder, federations } : { kind, holder }

/** Where bob's entries may stand, as ann sees them: always, while both are in the guild, never. */
const BOBS = [of('public', 'bob'), of('shared', 'bob', ['guild']), of('private', 'bob')]
const HIDDEN = [of('private', 'bob'), of('private', 'cyd'), of('shared', 'dan', ['moon'])]

type Step =
  | { readonly do: 'put'; readonly put: Put; readonly where: Where }
  | { readonly do: 'delete'; readonly id: string; readonly holder: string; readonly where: Where }
  | { readonly do: 'member'; readonly agent: string; readonly status: string; readonly where: Where }
  | { readonly do: 'embed' | 'touch' | 'pause' | 'resume' | 'restart' | 'ask' }
  | { readonly do: 'goOn'; readonly back: number }
  | { readonly do: 'pass' | 'jump'; readonly ms: number }

const where = fc.constantFrom<Where>('here', 'elsewhere')
const content = fc.array(fc.constantFrom('fox', 'quick', 'vixen', 'car', 'slow', 'hen', 'fast'), {
  minLength: 1,
  maxLength: 6,
})
const bound = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.integer({ min: -5, max: 60 }) },
)

function puts(ids: readonly string[], audiences: readonly Audience[]): fc.Arbitrary<Step> {
  return fc.record({
    do: fc.constant('put' as const),
    where,
    put: fc.record({
      id: fc.constantFrom(...ids),
      content: content.map(words => words.join(' ')),
      audience: fc.constantFrom(...audiences),
      from: bound.map(minutes => minutes && minutes * 60_000),
      until: bound.map(minutes => minutes && minutes * 60_000),
    }),
  })
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: puts(['a1', 'a2', 'a3', 'a4'], [of('private', 'ann'), of('public', 'ann')]) },
  { weight: 7, arbitrary: puts(['b1', 'b2', 'b3', 'b4'], BOBS) },
  { weight: 2, arbitrary: puts(['h1', 'h2'], HIDDEN.slice(1)) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        do: fc.constant('delete' as const),
        id: fc.constantFrom('a1', 'a2', 'b1', 'b2', 'b3'),
        where,
      })
      .map(({ id, ...rest }) => ({ ...rest, id, holder: id.startsWith('a') ? 'ann' : 'bob' })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('member' as const),
      agent: fc.constantFrom('ann', 'bob'),
      status: fc.constantFrom('active', 'active', 'suspended'),
      where,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('embed', 'touch', 'pause', 'resume', 'restart', 'ask') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('goOn' as const), back: fc.nat({ max: 4 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 300, 1000, 2000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      ms: fc.constantFrom(-120_000, 1, 61_000, 400_000, 3_600_000),
    }),
  },
)

const question: fc.Arbitrary<WatchInput> = fc.record({
  ...{ debounce_ms: fc.constantFrom(0, 250, 1000), include_reranks: fc.boolean() },
  max_events_per_minute: fc.constant(600),
  memory: fc.constant(false),
  text: fc.constantFrom('fox', 'quick car', '+fox hen', 'fox updated:30m', 'collection:notes'),
  limit: fc.constantFrom(2, 4, 20),
  mode: fc.constantFrom('hybrid', 'words'),
})

async function take(act: Step, world: EngineWorld, watcher: Watcher): Promise<unknown> {
  switch (act.do) {
    case 'put':
      return world.put(act.put, act.where)
    case 'delete':
      return world.delete(act.id, act.holder, act.where)
    case 'member':
      return world.member('guild', act.agent, act.status, act.where)
    case 'embed':
      return world.engine.embedded()
    case 'touch':
      return world.touch(ANN, 'elsewhere')
    case 'ask':
      return world.engine.query({ text: 'fox' }, { viewer: ANN })
    case 'pause':
      return watcher.subscription.pause()
    case 'resume':
      return watcher.subscription.resume()
    case 'restart':
      await world.restart()
      return watcher.goOn(0)
    case 'goOn':
      return watcher.goOn(act.back)
    case 'jump':
      return world.clock.set(world.clock.now() + act.ms)
    case 'pass':
      return world.timers.pass(act.ms)
  }
}

describe('live queries of the default lens', () => {
  it('after each drained window the subscriber has the ids and versions of a fresh query', async () => {
    let windows = 0
    const numRuns = IS_LONG ? 1000 : 20
    await assertUntil(
      fc.asyncProperty(question, fc.array(step, { maxLength: 30 }), async (input, steps) => {
        const world = await EngineWorld.open(newFile())
        try {
          for (const agent of ['ann', 'bob']) world.member('guild', agent, 'active', 'here')
          const watcher = new Watcher(world, input)
          await watcher.begin()
          for (const act of [...steps, { do: 'resume' } as const, { do: 'pass', ms: 2000 } as const]) {
            await take(act, world, watcher)
            const isDrained = act.do === 'pass' && act.ms === 2000 && watcher.subscription.status === 'active'
            if (!isDrained) continue
            windows += 1
            expect(watcher.heard).toEqual(await watcher.fresh())
          }
          expect(watcher.subscription.handlerErrors).toBe(0)
        } finally {
          await world.close()
        }
      }),
      { numRuns },
      () => expect(windows).toBeGreaterThan(numRuns),
    )
  }, 1_200_000)

  it('what is hidden changes no event, no token, no time of an event, and is asked for by nobody (BQ-169)', async () => {
    const visible = fc.array(
      step.filter(act => act.do !== 'restart' && act.do !== 'jump' && act.do !== 'goOn'),
      {
        maxLength: 15,
      },
    )
    const hidden = fc.array(fc.record({ at: fc.nat({ max: 20 }), act: puts(['h1', 'h2', 'h3'], HIDDEN) }), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(question, visible, hidden, async (input, steps, secrets) => {
        const without = await replay(input, steps, [])
        const withSecrets = await replay(input, steps, secrets)
        expect(withSecrets).toEqual(without)
      }),
      { numRuns: IS_LONG ? 500 : 8 },
    )
  }, 1_200_000)
})

interface Story {
  readonly events: readonly LiveEvent[]
  readonly hours: readonly number[]
  readonly asked: number
}

async function replay(
  input: WatchInput,
  steps: readonly Step[],
  secrets: readonly { readonly at: number; readonly act: Step }[],
): Promise<Story> {
  let asked = 0
  const stages = {
    ...DEFAULT_LENS_STAGES,
    retrieve: (...given: Parameters<typeof DEFAULT_LENS_STAGES.retrieve>) => {
      asked += 1
      return DEFAULT_LENS_STAGES.retrieve(...given)
    },
  }
  const lens = { name: 'counting', summary: 'The default lens, counting', stages }
  const world = await EngineWorld.open(newFile(), { lenses: [lens] })
  try {
    // Partitions get their numbers in the same order, whatever comes later.
    for (const [at, audience] of [...BOBS, ...HIDDEN].entries()) {
      world.put({ id: `first ${at}`, content: 'hen', audience, from: null, until: null }, 'here')
    }
    for (const agent of ['ann', 'bob']) world.member('guild', agent, 'active', 'here')
    await world.engine.embedded()
    const watcher = new Watcher(world, { ...input, lens: 'counting' })
    await watcher.begin()
    const hours: number[] = []
    for (const [at, act] of [...steps, { do: 'pass', ms: 2000 } as const].entries()) {
      for (const secret of secrets) if (secret.at % (steps.length + 1) === at) await take(secret.act, world, watcher)
      await take(act, world, watcher)
      while (hours.length < watcher.events.length) hours.push(at)
    }
    return { events: watcher.events, hours, asked }
  } finally {
    await world.close()
  }
}

it('tells of a loss at once, of a bound when the clock crosses it, and of what another process writes', async () => {
  const world = await EngineWorld.open(newFile())
  const watcher = new Watcher(world, { text: 'fox', memory: false, debounce_ms: 60_000 })
  try {
    for (const agent of ['ann', 'bob']) world.member('guild', agent, 'active', 'here')
    const shared = of('shared', 'bob', ['guild'])
    world.put({ id: 'b1', content: 'fox', audience: shared, from: null, until: null }, 'here')
    world.put({ id: 'a1', content: 'fox fox', audience: of('private', 'ann'), from: 60_000, until: 120_000 }, 'here')
    await watcher.begin()
    const news = () => watcher.events.splice(0).map(({ type, id, reason }) => `${type} ${id} ${reason}`)
    expect(news()).toEqual(['added b1 initial'])
    world.member('guild', 'bob', 'suspended', 'elsewhere')
    await world.timers.pass(500)
    expect(news()).toEqual(['removed b1 unavailable'])
    world.put({ id: 'b1', content: 'fox again', audience: shared, from: null, until: null }, 'elsewhere')
    await world.timers.pass(120_000)
    expect(news()).toEqual([])
    world.clock.set(NOW + 60_000)
    await world.timers.pass(61_000)
    expect(news()).toEqual(['added a1 now_matches'])
    world.clock.set(NOW + 120_000)
    world.member('guild', 'bob', 'active', 'here')
    await world.timers.pass(61_000)
    expect(news()).toEqual(['removed a1 no_match', 'added b1 now_matches'])
  } finally {
    await world.close()
  }
})
