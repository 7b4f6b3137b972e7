/** An engine over a file that another process writes too, and one who watches it, on clocks that are moved by hand. */
import type { JsonObject } from '../../../../src/base/canonical.ts'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { openEngine } from '../../../../src/engine/open.ts'
import type { EngineOptions } from '../../../../src/engine/options.ts'
import type { LiveEvent, Subscription, WatchInput } from '../../../../src/model/live.ts'
import type { Audience } from '../../../../src/model/partition.ts'
import type { Viewer } from '../../../../src/model/viewer.ts'
import { MEMBERSHIPS } from '../../../../src/store/core-tables.ts'
import { openSqliteStore } from '../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../../support/entries.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'

export const NOW: number = Date.UTC(2026, 0, 1, 12)
export const ANN: Viewer = { id: 'ann' }

export type Where = 'here' | 'elsewhere'

export interface Put {
  readonly id: string
  readonly content: string
  readonly audience: Audience
  /** Milliseconds after NOW, or null. */
  readonly from: number | null
  readonly until: number | null
}

export class EngineWorld {
  readonly clock: SettableClock = new SettableClock(NOW)
  readonly timers: ManualTimers = new ManualTimers()
  readonly #file: string
  readonly #options: EngineOptions
  readonly #elsewhere: Store
  #store: Store
  #ids = 0
  engine!: Engine

  private constructor(file: string, options: EngineOptions) {
    this.#file = file
    this.#options = options
    this.#store = openSqliteStore({ file })
    this.#elsewhere = openSqliteStore({ file })
  }

  static async open(file: string, options: EngineOptions = {}): Promise<EngineWorld> {
    const world = new EngineWorld(file, options)
    await world.#openEngine()
    world.engine.live.count()
    return world
  }

  async #openEngine(): Promise<void> {
    this.engine = await openEngine({
      store: this.#store,
      embedder: openToyEmbedder(),
      background: false,
      clock: this.clock,
      random: bytes => new Uint8Array(new Uint32Array(Math.ceil(bytes / 4)).fill(++this.#ids).buffer).slice(0, bytes),
      live: { timers: this.timers, pollMs: 500 },
      ...this.#options,
    })
  }

  async restart(): Promise<void> {
    await this.engine.close()
    this.#store = openSqliteStore({ file: this.#file })
    await this.#openEngine()
  }

  #in(where: Where): Store {
    return where === 'here' ? this.#store : this.#elsewhere
  }

  put({ id, content, audience, from, until }: Put, where: Where): void {
    const at = this.clock.now()
    const [validFrom, validUntil] = [from, until].map(bound => (bound === null ? null : NOW + bound)) as [null, null]
    const draft = draftOf({ id, content, audience, validFrom, validUntil, createdAt: at, updatedAt: at, knownAt: at })
    this.#in(where).write(at, writer => writer.put(draft, wholeChunk(draft)))
  }

  delete(id: string, holder: string, where: Where): void {
    this.#in(where).write(this.clock.now(), writer => {
      const all = writer.partitions().map(partition => partition.id)
      const key = writer.find(id, all).find(found => writer.entry(found)?.audience.holder === holder)
      if (key !== undefined) writer.delete(key)
    })
  }

  member(federation: string, agent: string, status: string, where: Where): void {
    const row = { federation, agent, status, updated_at: this.clock.now() }
    this.#in(where).write(this.clock.now(), writer => writer.table(MEMBERSHIPS).put(row))
  }

  touch(viewer: Viewer, where: Where): void {
    this.#in(where).write(this.clock.now(), writer =>
      writer.touch(viewer, writer.scanEntries(0, 5), this.clock.now(), 1),
    )
  }

  async close(): Promise<void> {
    await this.engine.close()
    this.#elsewhere.close()
  }
}

/** What decides whether an item as heard is the item as it is: not its place, nor how well it does, nor what is cut of it. */
export function versionOf(item: unknown): string {
  const { rank, score, components, excerpt, passages, why, ...rest } = item as JsonObject
  return JSON.stringify(rest)
}

/** One who watches, through whatever subscriptions. */
export class Watcher {
  readonly #world: EngineWorld
  readonly #input: WatchInput
  readonly events: LiveEvent[] = []
  known: Map<string, string> = new Map()
  readonly trail: { readonly token: string; readonly known: ReadonlyMap<string, string> }[] = []
  subscription!: Subscription

  constructor(world: EngineWorld, input: WatchInput) {
    this.#world = world
    this.#input = input
  }

  async begin(token?: string, known: ReadonlyMap<string, string> = new Map()): Promise<void> {
    this.subscription?.cancel()
    this.known = new Map(known)
    const input = token === undefined ? this.#input : { ...this.#input, resume_token: token }
    this.subscription = await this.#world.engine.subscribe(
      input,
      { onEvent: event => this.#hear(event) },
      { viewer: ANN },
    )
    if (this.subscription.began === 'anew') this.known.clear()
    await this.#world.timers.settle()
  }

  /** With the token of some event back, as one who heard nothing later. */
  async goOn(back: number): Promise<void> {
    const place = this.trail.at(-1 - back) ?? this.trail.at(-1)
    await this.begin(place?.token, place?.known)
  }

  #hear(event: LiveEvent): void {
    this.events.push(event)
    const { holder } = (event.item ?? {}) as { holder?: string }
    // Ids of this world are one holder's each.
    if (event.type === 'removed') this.known.delete(event.id)
    else this.known.set(event.id, versionOf(event.item))
    if (event.type !== 'removed' && holder === undefined) throw new Error('an item has a holder')
    this.trail.push({ token: event.resume_token, known: new Map(this.known) })
  }

  get heard(): readonly string[] {
    return [...this.known.values()].sort()
  }

  /** The same question, asked now. */
  async fresh(): Promise<readonly string[]> {
    const { debounce_ms, include_reranks, max_events_per_minute, ...query } = this.#input
    const { items } = await this.#world.engine.query({ ...query, touch: false }, { viewer: ANN })
    return items.map(versionOf).sort()
  }
}
