/** A small world for pages and streams: ann asks, bob and cyd are trusted, all are in the lab. */
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type { Conflict, RankedBelief } from '../../../../../src/lenses/beliefs/model.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { seededBytes } from '../../../../support/seeded.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

/** A question without a text: every belief of which anything is known. */
export const LIST = { semantic: '', filters: { min_confidence: { overall: 0.001 } } }
export const MINUTE = 60_000

export const START: number = Date.parse('2026-03-01T12:00:00Z')

export interface Asked {
  readonly beliefs: readonly RankedBelief[]
  readonly total_count: number
  readonly count_exact: boolean
  readonly as_of: string
  readonly next_cursor?: string
  readonly conflicts: readonly Conflict[]
}

export class World {
  readonly engine: Engine
  readonly clock: SettableClock

  constructor(engine: Engine, clock: SettableClock) {
    this.engine = engine
    this.clock = clock
  }

  static async open(
    store: Store = openMemoryStore(),
    {
      clock = new SettableClock(START),
      isNew = true,
      settings = {},
    }: { readonly clock?: SettableClock; readonly isNew?: boolean; readonly settings?: Json } = {},
  ): Promise<World> {
    const random = seededBytes(7)
    const engine = await openBeliefsEngine({ store, clock, random, embedder: openToyEmbedder() }, settings)
    const world = new World(engine, clock)
    if (!isNew) return world
    for (const id of ['ann', 'bob', 'cyd', 'dan']) await world.call('agents.create', 'owner', { id })
    await world.call('federations.create', 'owner', { id: 'lab' })
    for (const agent of ['ann', 'bob', 'cyd']) await world.member(agent, 'active')
    await world.call('trust.set', 'ann', { target: 'bob', trust_level: 0.9 })
    await world.call('trust.set', 'bob', { target: 'cyd', trust_level: 0.8 })
    return world
  }

  call(operation: string, by: string, input: Json): Promise<Json> {
    return callOperation(this.engine, operation, by, input)
  }

  member(agent: string, status: string): Promise<Json> {
    return this.call('federations.set_member', 'owner', { federation: 'lab', agent, status })
  }

  /** Ids are b0, b1, …; held by bob and cyd in turn, some public and some in the lab. */
  async fill(count: number): Promise<void> {
    const words = ['fox', 'garden', 'honey', 'bees', 'moon']
    for (const [at, by] of ['bob', 'cyd'].entries()) {
      const beliefs = Array.from({ length: count }, (_, n) => n)
        .filter(n => n % 2 === at)
        .map(n => ({
          id: `b${n}`,
          content: `${words[n % 5]} ${words[(n >> 2) % 5]} ${n}`,
          ...(n % 3 === 0 ? { visibility: 'federated', federation_ids: ['lab'] } : { visibility: 'public' }),
        }))
      if (beliefs.length > 0) await this.call('beliefs.put', by, { beliefs })
    }
    this.wait(1000)
  }

  async ask(options: Json = {}, query: Json = { semantic: 'fox honey' }, by = 'ann'): Promise<Asked> {
    const answer = await this.call('beliefs.query', by, { ...query, options: { scope: EVERYWHERE, ...options } })
    return answer as unknown as Asked
  }

  /** The details of what asking is refused with. */
  async refused(options: Json, query?: Json, by?: string): Promise<Json & { readonly message: string }> {
    return this.ask(options, query, by).then(
      () => {
        throw new Error('it was answered')
      },
      error => ({ ...error.details, message: error.message, code: error.code }),
    )
  }

  /** All pages, the first asked for with these options. */
  async pages(size: number, options: Json = {}, query?: Json): Promise<readonly Asked[]> {
    const pages = [await this.ask({ ...options, limit: size }, query)]
    for (let cursor = pages[0]?.next_cursor; cursor !== undefined; cursor = pages.at(-1)?.next_cursor) {
      pages.push(await this.ask({ ...options, limit: size, cursor }, query))
    }
    return pages
  }

  wait(ms: number): void {
    this.clock.set(this.clock.now() + ms)
  }
}

export function ids({ beliefs }: Pick<Asked, 'beliefs'>): readonly string[] {
  return beliefs.map(({ belief }) => belief.id)
}
