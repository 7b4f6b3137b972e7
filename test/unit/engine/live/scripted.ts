/** A world of one answer that tests write by hand, and live queries to it that count what they are asked. */
import { SettableClock } from '../../../../src/base/clock.ts'
import { LocalLiveQueries } from '../../../../src/engine/live/live-queries.ts'
import type { LiveSettings } from '../../../../src/engine/options.ts'
import type {
  LiveEvent,
  LiveHandlers,
  LiveItem,
  LiveOptions,
  LiveQuery,
  LiveState,
  Subscription,
} from '../../../../src/model/live.ts'
import type { StoreReader } from '../../../../src/store/store.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'
import { Listener, OPTIONS, stateOf } from './items.ts'

export const START = Date.UTC(2026, 2, 1)

export class ScriptedWorld {
  readonly clock: SettableClock = new SettableClock(START)
  readonly timers: ManualTimers = new ManualTimers()
  #texts: readonly string[] = []
  #version = 1
  /** Moves with what the viewers can see. */
  visible = 0
  readonly hidden: Set<string> = new Set()
  live: LocalLiveQueries
  readonly #settings: LiveSettings
  #ids = 0

  constructor(settings: LiveSettings = {}) {
    this.#settings = settings
    this.live = this.#open()
  }

  #open(): LocalLiveQueries {
    const store = {
      version: () => this.#version,
      read: <T>(body: (reader: StoreReader) => T) => body({} as StoreReader),
    }
    const random = (bytes: number) => new Uint8Array(new Uint32Array(bytes / 4).fill(++this.#ids).buffer)
    const parts = { store, clock: this.clock, random, secret: () => 'a secret of the store' }
    return new LocalLiveQueries(parts, { timers: this.timers, ...this.#settings })
  }

  /** Another process takes over; what the first remembers is gone. */
  restart(): void {
    this.live.close()
    this.live = this.#open()
  }

  get state(): LiveState {
    return stateOf(
      this.#texts.filter(text => !this.hidden.has(text.slice(0, 1))),
      { asOf: this.clock.now() },
    )
  }

  /** Something that viewers can see is written. */
  write(texts: readonly string[]): void {
    this.#texts = texts
    this.visible += 1
    this.#version += 1
  }

  writeHidden(): void {
    this.#version += 1
  }

  hide(keys: readonly string[]): void {
    for (const key of keys) this.hidden.add(key)
    this.visible += 1
    this.#version += 1
  }

  show(keys: readonly string[]): void {
    for (const key of keys) this.hidden.delete(key)
    this.visible += 1
    this.#version += 1
  }

  async watch(options: Partial<LiveOptions> = {}, handlers: Partial<LiveHandlers> = {}): Promise<Watch> {
    const watch = new Watch(new ScriptedQuestion(this), handlers)
    watch.subscription = await this.live.subscribe(watch.question, { ...OPTIONS, ...options }, watch.handlers)
    await this.timers.settle()
    return watch
  }
}

export class ScriptedQuestion implements LiveQuery {
  readonly viewer: { id: string }
  readonly binding: string
  readonly query = { text: 'letters' }
  readonly timeoutMs: number = 5_000
  readonly #world: ScriptedWorld
  #seen: number
  asked = 0
  checked = 0
  fails: unknown = null
  mayAsk = true
  until = Number.POSITIVE_INFINITY

  constructor(world: ScriptedWorld, viewer = 'ann', binding = 'letters') {
    this.#world = world
    this.#seen = world.visible
    this.viewer = { id: viewer }
    this.binding = binding
  }

  async ask(): Promise<LiveState> {
    this.asked += 1
    this.#seen = this.#world.visible
    if (this.fails !== null) throw this.fails
    return { ...this.#world.state, until: this.until }
  }

  concerned(): boolean {
    this.checked += 1
    const isNew = this.#seen !== this.#world.visible
    this.#seen = this.#world.visible
    return isNew
  }

  lost(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] {
    return items.filter(({ id }) => this.#world.hidden.has(id)).map(({ key }) => key)
  }

  allowed(): boolean {
    return this.mayAsk
  }
}

export class Watch {
  readonly question: ScriptedQuestion
  readonly events: LiveEvent[] = []
  readonly errors: unknown[] = []
  readonly ends: string[] = []
  readonly listener: Listener = new Listener()
  readonly handlers: LiveHandlers
  subscription!: Subscription

  constructor(question: ScriptedQuestion, given: Partial<LiveHandlers> = {}) {
    this.question = question
    this.handlers = {
      ...(given.wanted && { wanted: () => given.wanted?.() ?? null }),
      ...(given.onToken && { onToken: token => given.onToken?.(token) }),
      onEvent: event => {
        this.events.push(event)
        this.listener.hear(event)
        return given.onEvent?.(event)
      },
      onError: error => {
        this.errors.push(error)
        given.onError?.(error)
      },
      onEnd: why => {
        this.ends.push(why)
        given.onEnd?.(why)
      },
    }
  }

  /** What was heard since this was last called. */
  news(): readonly string[] {
    return this.events.splice(0).map(({ type, id, reason }) => `${type} ${id} ${reason}`)
  }
}
