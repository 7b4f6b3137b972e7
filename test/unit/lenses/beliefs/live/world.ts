/** Beliefs of several agents, and those who watch them: time is moved by hand. */
import { onTestFinished } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type {
  BeliefEvent,
  BeliefSubscription,
  SubscribeOptions,
} from '../../../../../src/lenses/beliefs/live/subscriptions.ts'
import { type Beliefs, beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { ManualTimers } from '../../../../support/manual-timers.ts'
import { seededBytes } from '../../../../support/seeded.ts'

export const START: number = Date.parse('2026-03-01T12:00:00Z')
export const DAY = 86_400_000
export const ALL = { local: true, federated: true, network: true } as const
export const PUBLIC = { visibility: 'public' } as const

export interface World {
  readonly engine: Engine
  readonly timers: ManualTimers
  readonly clock: SettableClock
  readonly store: Store
  as(id: string): Beliefs
}

/** Closed when the test ends. */
export async function begin(
  store: Store = openMemoryStore(),
  clock = new SettableClock(START),
  seed = 1,
): Promise<World> {
  const timers = new ManualTimers()
  const random = seededBytes(seed)
  const engine = await openBeliefsEngine({ store, clock, random, live: { timers } })
  onTestFinished(() => engine.close())
  return { engine, timers, clock, store, as: id => beliefsOf(engine, { id }) }
}

export async function beginWithPeople(): Promise<World> {
  const world = await begin()
  const owner = world.as('owner')
  for (const id of ['ann', 'bob', 'cyd']) await owner.agents.create({ id })
  await owner.federations.create({ id: 'lab' })
  for (const agent of ['ann', 'bob', 'cyd'])
    await owner.federations.setMember({ federation: 'lab', agent, status: 'active' })
  return world
}

export interface Watching {
  readonly events: BeliefEvent[]
  readonly subscription: BeliefSubscription
  /** What came since this was last called, in short. */
  heard(): string[]
}

export async function watch(
  world: World,
  by: string,
  options: SubscribeOptions = {},
  query: { filters?: object; limit?: number; semantic?: string } = {},
): Promise<Watching> {
  const events: BeliefEvent[] = []
  const asked = {
    semantic: query.semantic ?? 'fox',
    ...(query.filters && { filters: query.filters }),
    options: { scope: ALL, limit: query.limit ?? 10 },
  }
  const callback = (event: BeliefEvent) => void events.push(event)
  const subscription = await world.as(by).subscribe(asked, callback, { debounce_ms: 0, ...options })
  await world.timers.pass(0)
  let read = 0
  const heard = () => {
    const news = events.slice(read).map(({ type, id, reason }) => `${type} ${id} ${reason}`)
    read = events.length
    return news
  }
  return { events, subscription, heard }
}

export function pass(world: World, ms = 100): Promise<void> {
  return world.timers.pass(ms)
}
