/**
 * Subscribers through random histories: whatever is written, here and by a second process, whoever comes to see or trust
 * whom, however the clock jumps and however often they come back with a token, in the end they know what a fresh query
 * answers (BQ-158, BQ-160, BQ-164, BQ-165). The long form, 1,000 histories: QUERENT_LONG=1.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type { BeliefEvent, BeliefSubscription } from '../../../../../src/lenses/beliefs/live/subscriptions.ts'
import type { BeliefQuery } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { AGENTS, type BeliefsAct, beliefsStories, questions } from '../../../../support/beliefs-acts.ts'
import { LiveWorld } from '../../../../support/beliefs-live.ts'
import { ManualTimers } from '../../../../support/manual-timers.ts'
import { assertUntil } from '../../../../support/until-met.ts'

vi.mock('../../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 1000 : 4
/** Acts before anybody subscribes. */
const BEFORE = 12

type Step = { readonly do: 'pause' | 'resume' | 'restart' | 'pass' | 'back' | 'lose' }
const steps = fc.constantFrom<Step['do']>('pass', 'pass', 'pass', 'pause', 'resume', 'restart', 'back', 'lose')
const watched = fc.record({
  by: fc.constantFrom(...AGENTS),
  asked: questions(),
  limit: fc.constantFrom(1, 2, 3, 20),
  debounce_ms: fc.constantFrom(0, 1000),
  max_events_per_minute: fc.constantFrom(1, 600),
})
type Watched = typeof watched extends fc.Arbitrary<infer T> ? T : never

interface Figures {
  events: number
  compared: number
  restarts: number
  filled: number
}

it(`leaves subscribers with what a fresh query answers (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, async () => {
  const figures: Figures = { events: 0, compared: 0, restarts: 0, filled: 0 }
  const property = fc.asyncProperty(
    beliefsStories(),
    fc.array(watched, { minLength: 4, maxLength: 4 }),
    fc.array(steps, { minLength: 40, maxLength: 40 }),
    fc.boolean(),
    fc.nat(),
    async (acts, asked, between, isShared, seed) => {
      const folder = isShared ? mkdtempSync(join(tmpdir(), 'querent-live-')) : null
      const openAnother = (): Store => openSqliteStore({ file: join(folder as string, 'store.db') })
      const first = folder === null ? openMemoryStore() : openAnother()
      const timers = new ManualTimers()
      const world = await LiveWorld.open([first], seed, { live: { timers } })
      // Another process writes too.
      if (folder !== null) await world.openEngine(openAnother())
      try {
        await new History(world, timers, folder === null ? null : openAnother, figures).play(acts, asked, between)
      } finally {
        await world.close()
        if (folder !== null) rmSync(folder, { recursive: true })
      }
    },
  )
  await assertUntil(property, { numRuns: RUNS, endOnFailure: true }, () => {
    expect(figures.filled).toBeGreaterThan(figures.compared / 5)
    expect(figures.restarts).toBeGreaterThan(0)
  })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
}, 7_200_000)

class Subscriber {
  readonly #options: Pick<Watched, 'debounce_ms' | 'max_events_per_minute'>
  readonly by: string
  readonly query: BeliefQuery
  /** Id and content, oldest first: for a moment two may have one id, as one holder's belief comes for another's. */
  known: (readonly [string, string])[] = []
  subscription: BeliefSubscription | null = null
  /** After each event: what brings back to it, and what was known then. The newest is the last. */
  readonly #trail: { readonly token: string; readonly seq: number; readonly known: Subscriber['known'] }[] = []
  #seq = 0
  #times = 0
  events = 0

  constructor({ by, limit, debounce_ms, max_events_per_minute }: Watched, wire: object) {
    this.by = by
    this.#options = { debounce_ms, max_events_per_minute }
    const query = wire as BeliefQuery
    this.query = { ...query, options: { ...query.options, limit, offset: 0 } }
  }

  /** With the token of so many events back, as one who has heard nothing since. */
  async begin(engine: Engine, back = 0): Promise<void> {
    const place = this.#trail.at(-1 - back) ?? this.#trail.at(0)
    const time = ++this.#times
    if (place === undefined) this.subscription?.cancel()
    const resume = place === undefined ? {} : { resume_token: place.token }
    this.known = [...(place?.known ?? [])]
    this.#seq = place?.seq ?? 0
    let isSynced = false
    let began: BeliefSubscription['began'] | null = null
    /** Before the first event: some may be, of a token that came too late. Whether it did is known when the subscription is there. */
    let missing = 0
    let count = 0
    const heard = (event: BeliefEvent) => {
      // Of a connection that is lost nothing is heard, whatever it is sent.
      if (time !== this.#times) return
      // From the beginning again: what was known is forgotten, and the whole answer comes. Losses may come before that.
      const isResync = event.reason === 'resync' && !isSynced
      if (isResync) this.known = []
      isSynced ||= isResync
      this.events++
      if (count++ === 0) missing = event.seq - this.#seq - 1
      else expect(event.seq, 'no gap').toBe(this.#seq + 1)
      if (began === 'resync') expect(missing, 'rising').toBeGreaterThanOrEqual(0)
      else if (began !== null) expect(missing, 'no gap').toBe(0)
      this.#seq = event.seq
      const before = event.type === 'added' ? null : (event.details['previous_id'] ?? event.id)
      const at = this.known.findIndex(([id]) => id === before)
      if (at !== -1) this.known.splice(at, 1)
      if (event.type !== 'removed') this.known.push([event.id, event.belief?.content_hash as string])
      this.#trail.push({ token: event.resume_token, seq: event.seq, known: [...this.known] })
    }
    const viewer = { id: this.by }
    const beliefs = beliefsOf(engine, viewer)
    this.subscription = await beliefs.subscribe(this.query, heard, { ...this.#options, ...resume })
    began = this.subscription.began
    if (began !== 'resync') expect(missing, 'no gap').toBe(0)
    else if (!isSynced) this.known = []
    isSynced = true
  }
}

class History {
  readonly #world: LiveWorld
  readonly #timers: ManualTimers
  readonly #openAnother: (() => Store) | null
  readonly #figures: Figures
  readonly #subscribers: Subscriber[] = []
  #engine: Engine
  #askedAt = 0

  constructor(world: LiveWorld, timers: ManualTimers, openAnother: (() => Store) | null, figures: Figures) {
    this.#world = world
    this.#timers = timers
    this.#openAnother = openAnother
    this.#figures = figures
    this.#engine = world.engines[0] as Engine
  }

  async play(acts: readonly BeliefsAct[], asked: readonly Watched[], between: readonly Step['do'][]): Promise<void> {
    for (const [at, act] of acts.entries()) {
      if (at === BEFORE) await this.#subscribe(asked)
      await this.#world.act(act)
      if (at < BEFORE) continue
      await this.#step(between[at % between.length] as Step['do'], at)
    }
    for (const { subscription } of this.#subscribers) subscription?.resume()
    await this.#drain()
    for (const subscriber of this.#subscribers) await this.#compare(subscriber)
    for (const { subscription } of this.#subscribers) subscription?.cancel()
  }

  async #subscribe(asked: readonly Watched[]): Promise<void> {
    for (const one of asked) {
      const subscriber = new Subscriber(one, this.#world.queryOf(one.by, one.asked))
      this.#subscribers.push(subscriber)
      await subscriber.begin(this.#engine)
    }
    await this.#drain()
    for (const subscriber of this.#subscribers) await this.#compare(subscriber)
  }

  async #step(step: Step['do'], at: number): Promise<void> {
    const one = this.#subscribers[at % this.#subscribers.length] as Subscriber
    switch (step) {
      case 'pause':
        one.subscription?.pause()
        return
      case 'resume':
        one.subscription?.resume()
        return
      case 'back':
        this.#world.clock.set(this.#world.now - 60_000)
        return
      case 'pass':
        await this.#drain()
        for (const subscriber of this.#subscribers) {
          if (subscriber.subscription?.status === 'active') await this.#compare(subscriber)
        }
        return
      case 'lose':
        // The connection goes, and what was on its way with it; sometimes nobody notices.
        if (at % 2 === 0) one.subscription?.cancel()
        return one.begin(this.#engine, at % 4)
      case 'restart':
        return this.#restart(at % 3)
    }
  }

  /** All of them come back to an engine that knows nothing of them. */
  async #restart(back: number): Promise<void> {
    if (this.#openAnother === null) return
    for (const { subscription } of this.#subscribers) subscription?.cancel()
    await this.#timers.pass(0)
    const { engines } = this.#world
    await this.#engine.close()
    engines.splice(engines.indexOf(this.#engine), 1)
    this.#engine = await this.#world.openEngine(this.#openAnother(), { live: { timers: this.#timers } })
    for (const subscriber of this.#subscribers) await subscriber.begin(this.#engine, back)
    this.#figures.restarts++
  }

  /** Long enough for all that the cap has held back. */
  async #drain(): Promise<void> {
    // What overtakes by ageing alone is reported with the next change: where time has passed, all ask at its end.
    if (this.#world.now !== this.#askedAt) {
      await this.#timers.pass(60_000)
      for (const { subscription } of this.#subscribers) {
        if (subscription?.status !== 'active') continue
        subscription.pause()
        subscription.resume()
      }
    }
    this.#askedAt = this.#world.now
    for (let round = 0; round < 25; round++) {
      const before = this.#subscribers.reduce((sum, { events }) => sum + events, 0)
      await this.#timers.pass(60_000)
      if (round > 0 && before === this.#subscribers.reduce((sum, { events }) => sum + events, 0)) return
    }
  }

  async #compare(subscriber: Subscriber): Promise<void> {
    const { by, query, known } = subscriber
    const asked = { ...query, options: { ...query.options, dry_run: true } }
    const answer = await beliefsOf(this.#engine, { id: by }).query(asked)
    const fresh = answer.beliefs.map(({ belief }) => [belief.id, belief.content_hash])
    const reported = [...known]
    this.#figures.compared++
    this.#figures.events = this.#subscribers.reduce((sum, { events }) => sum + events, 0)
    if (fresh.length > 0) this.#figures.filled++
    expect(reported.sort(), JSON.stringify(asked)).toEqual(fresh.sort())
  }
}
