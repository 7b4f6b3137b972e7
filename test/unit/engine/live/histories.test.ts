/**
 * Random histories of live queries on time moved by hand: writes, losses, pauses, slow and failing handlers, restarts with
 * whatever token, late ones too. The long form, 5,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LiveEvent, LiveOptions } from '../../../../src/model/live.ts'
import { type Listener, OPTIONS, shownIn } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, Watch } from './scripted.ts'

const LETTERS = [...'abcdef']

type Step =
  | { readonly do: 'write'; readonly texts: readonly string[] }
  | { readonly do: 'hidden' }
  | { readonly do: 'hide' | 'show'; readonly keys: readonly string[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'jump'; readonly ms: number }
  | { readonly do: 'pause' | 'resume' | 'restart' | 'fail' | 'block' | 'free' }
  | { readonly do: 'goOn'; readonly back: number }

const texts = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...LETTERS), fc.constantFrom('', '1', '2')), {
    selector: ([key]) => key,
    maxLength: 5,
  })
  .map(items => items.map(([key, version]) => key + version))

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), texts }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('hidden' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('hide', 'show'), keys: fc.subarray(LETTERS, { maxLength: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 50, 130, 1000, 61_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.constantFrom(-5000, 1, 60_000, 700_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'restart', 'fail', 'block', 'free') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('goOn' as const), back: fc.nat({ max: 3 }) }) },
)

const options = fc.record({
  debounceMs: fc.constantFrom(0, 100, 1000),
  maxEventsPerMinute: fc.constantFrom(1, 3, 600),
  includeReranks: fc.boolean(),
})

/** One subscriber through all its subscriptions. What it knew after each event is what it goes back to with that token. */
class Subscriber {
  readonly #world: ScriptedWorld
  readonly #options: Partial<LiveOptions>
  readonly #trail: { readonly token: string; readonly known: ReadonlyMap<string, string>; readonly seq: number }[] = []
  #gate = Promise.resolve()
  #open = () => {}
  failing = false
  watch!: Watch
  #lastSeq = 0

  constructor(world: ScriptedWorld, given: Partial<LiveOptions>) {
    this.#world = world
    this.#options = given
  }

  async begin(resumeToken: string | null, known: ReadonlyMap<string, string> = new Map()): Promise<void> {
    this.watch?.subscription.cancel()
    const watch: Watch = new Watch(new ScriptedQuestion(this.#world), { onEvent: event => this.#heard(watch, event) })
    for (const [id, text] of known) watch.listener.known.set(id, text)
    this.watch = watch
    const all = { ...OPTIONS, ...this.#options, resumeToken }
    watch.subscription = await this.#world.live.subscribe(watch.question, all, watch.handlers)
    const { began } = watch.subscription
    if (began === 'anew') this.#lastSeq = 0
    await this.#world.timers.settle()
  }

  /** With the token of an earlier event, as one who has heard nothing later. */
  async goOn(back: number): Promise<void> {
    const place = this.#trail.at(-1 - back) ?? this.#trail.at(-1)
    if (place === undefined) return this.begin(null)
    this.#lastSeq = place.seq
    await this.begin(place.token, place.known)
  }

  block(): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    this.#open()
    this.#open = resolve
  }

  free(): void {
    this.#open()
    this.failing = false
  }

  async #heard(watch: Watch, event: LiveEvent): Promise<void> {
    expect(watch, 'no event after the end').toBe(this.watch)
    const isFirst = watch.events.length === 1
    if (isFirst && event.reason === 'resync') expect(event.seq).toBeGreaterThan(this.#lastSeq)
    else expect(event.seq).toBe(this.#lastSeq + 1)
    this.#lastSeq = event.seq
    expect(event.item === undefined).toBe(event.type === 'removed')
    const { known }: Listener = watch.listener
    this.#trail.push({ token: event.resume_token, known: new Map(known), seq: event.seq })
    await this.#gate
    if (this.failing) throw new Error('on purpose')
  }
}

it('after each drained window a subscriber knows the answer as it is, and hears of nothing it may not see', async () => {
  const runs = process.env['QUERENT_LONG'] === '1' ? 5000 : 100
  const history = fc.array(step, { maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(texts, history, options, async (first, steps, given) => {
      const world = new ScriptedWorld({ pollMs: 7000 })
      world.write(first)
      const subscriber = new Subscriber(world, given)
      await subscriber.begin(null)
      for (const act of steps) {
        const heard = subscriber.watch.events.length
        await take(act, world, subscriber)
        for (const { id, type } of subscriber.watch.events.slice(heard)) {
          if (act.do !== 'show' && type !== 'removed') expect(world.hidden.has(id), `${id} is hidden`).toBe(false)
        }
      }
      subscriber.free()
      subscriber.watch.subscription.resume()
      await world.timers.pass(20 * 60_000)
      expect(subscriber.watch.listener.texts).toEqual(shownIn(world.state))
      subscriber.watch.subscription.cancel()
      expect(world.timers.waiting).toBe(0)
    }),
    { numRuns: runs },
  )
})

async function take(act: Step, world: ScriptedWorld, subscriber: Subscriber): Promise<void> {
  switch (act.do) {
    case 'write':
      return world.write(act.texts)
    case 'hidden':
      return world.writeHidden()
    case 'hide':
      return world.hide(act.keys)
    case 'show':
      return world.show(act.keys)
    case 'pass':
      return world.timers.pass(act.ms)
    case 'jump':
      return world.clock.set(world.clock.now() + act.ms)
    case 'pause':
      return subscriber.watch.subscription.pause()
    case 'resume':
      return subscriber.watch.subscription.resume()
    case 'fail':
      subscriber.failing = true
      return
    case 'block':
      return subscriber.block()
    case 'free':
      return subscriber.free()
    case 'restart':
      world.restart()
      return subscriber.goOn(0)
    case 'goOn':
      return subscriber.goOn(act.back)
  }
}
