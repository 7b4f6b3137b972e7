/** Histories of the lens `beliefs` played to engines that share one store, with nobody to check them: what is refused is refused. */
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { pseudonymOf } from '../../src/lenses/beliefs/access/show.ts'
import { QuerentError } from '../../src/model/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { type Ago, type Asked, type BeliefsAct, type Draft, HOSTED, type Shown, written } from './beliefs-acts.ts'
import { callOperation, openBeliefsEngine } from './beliefs-engine.ts'
import { DAY_MS } from './beliefs-plain.ts'
import { seededUniform } from './seeded.ts'

const START = Date.parse('2026-03-01T12:00:00Z')

type Json = Record<string, unknown>

export class LiveWorld {
  readonly clock: SettableClock = new SettableClock(START)
  readonly engines: Engine[] = []
  readonly #random: () => number
  /** Own current ids, by holder. */
  readonly #held = new Map<string, string[]>()
  #written = 0
  #turn = 0

  private constructor(seed: number) {
    this.#random = seededUniform(seed)
  }

  /** One engine a store; acts are done by them in turn. */
  static async open(stores: readonly Store[], seed: number, options: EngineOptions = {}): Promise<LiveWorld> {
    const world = new LiveWorld(seed)
    for (const store of stores) await world.openEngine(store, options)
    for (const id of HOSTED) await world.call('agents.create', 'owner', { id })
    const found = (id: string, anonymity: string, reputation: number | null) =>
      world.call('federations.create', 'owner', { id, anonymity, reputation })
    await found('lab', 'pseudonyms', null)
    await found('guild', 'pseudonyms', 0.9)
    await found('vault', 'strict', 0.8)
    return world
  }

  async openEngine(store: Store, options: EngineOptions = {}): Promise<Engine> {
    const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(this.#random() * 256))
    const engine = await openBeliefsEngine({ store, clock: this.clock, random, ...options })
    this.engines.push(engine)
    return engine
  }

  get now(): number {
    return this.clock.now()
  }

  /** The answer; null when it was refused. */
  async call(operation: string, by: string, input: unknown): Promise<Json | null> {
    const engine = this.engines[this.#turn++ % this.engines.length] as Engine
    try {
      return await callOperation(engine, operation, by, input)
    } catch (error) {
      if (error instanceof QuerentError) return null
      throw error
    }
  }

  async act(act: BeliefsAct): Promise<void> {
    switch (act.do) {
      case 'wait':
        this.clock.set(this.now + Math.round(act.days * DAY_MS))
        return
      case 'put': {
        const reported = await this.call('beliefs.put', act.by, {
          id: act.id,
          ...this.#wire(act.draft),
          wait: act.wait,
        })
        if (reported !== null) this.#own(act.by).push(act.id)
        return
      }
      case 'supersede': {
        const own = this.#own(act.by)
        const at = act.nth % Math.max(1, own.length)
        if (own[at] === undefined) return
        const id = `${act.id}+${++this.#written}`
        const input = { belief_id: own[at], id, ...this.#wire(act.draft) }
        if ((await this.call('beliefs.supersede', act.by, input)) !== null) own[at] = id
        return
      }
      case 'delete': {
        const own = this.#own(act.by)
        const at = act.nth % Math.max(1, own.length)
        if (own[at] === undefined) return
        if ((await this.call('beliefs.delete', act.by, { belief_id: own[at] })) !== null) own.splice(at, 1)
        return
      }
      case 'member': {
        const { federation, agent, status, mayQuery } = act
        const permissions = mayQuery ? ['query_beliefs', 'share_beliefs'] : ['view_aggregates']
        await this.call('federations.set_member', 'owner', { federation, agent, status, permissions })
        return
      }
      case 'leave':
        await this.call('federations.leave', act.by, { federation: act.federation })
        return
      case 'trust':
        await this.call('trust.set', act.by, { target: act.target, ...act.edge })
        return
      case 'untrust':
        await this.call('trust.remove', act.by, { target: act.target })
        return
      case 'reputation': {
        const { agent: id, overall: reputation, byDomain: reputation_by_domain } = act
        await this.call('agents.update', 'owner', { id, reputation, reputation_by_domain })
        return
      }
      case 'ask':
        await this.call('beliefs.query', act.by, this.queryOf(act.by, act.asked))
        return
      case 'read':
      case 'compute':
    }
  }

  /** As it goes over the wire now. */
  queryOf(by: string, { words, filters, context, options }: Asked): Json {
    const member = (name: string, value: unknown): unknown => {
      if (value === null) return value
      if (name === 'holder_ids' || name === 'exclude_holders') {
        return (value as readonly Shown[]).map(({ holder, via }) => this.#shownAs(by, holder, via))
      }
      const isTime = typeof value === 'object' && 'daysAgo' in value
      return isTime ? this.#iso((value as unknown as Ago).daysAgo) : value
    }
    const parts = filters.map(part =>
      typeof part === 'string'
        ? part
        : Object.fromEntries(Object.entries(part).map(([name, value]) => [name, member(name, value)])),
    )
    return { semantic: written(words), filters: parts, context, options }
  }

  async close(): Promise<void> {
    for (const engine of this.engines) await engine.close()
  }

  #own(holder: string): string[] {
    const own = this.#held.get(holder) ?? []
    this.#held.set(holder, own)
    return own
  }

  #shownAs(by: string, holder: string, via: string | null): string {
    const secret = this.engines[0]?.host('beliefs').store.meta('beliefs.secret')
    return via === null || secret === undefined ? holder : pseudonymOf(secret, via, by, holder)
  }

  #wire({ validDays, type, sources, federations, ...draft }: Draft): Json {
    const until = typeof validDays === 'number' ? this.#iso(-validDays) : validDays
    const isDerived = type !== undefined || sources !== undefined
    return {
      ...draft,
      ...(isDerived ? { derivation: { type: type ?? 'assumption', sources: sources ?? [] } } : {}),
      ...(federations === undefined ? {} : { federation_ids: federations }),
      ...(validDays === undefined ? {} : { valid_until: until }),
    }
  }

  #iso(daysAgo: number): string {
    return new Date(this.now - daysAgo * DAY_MS).toISOString()
  }
}
