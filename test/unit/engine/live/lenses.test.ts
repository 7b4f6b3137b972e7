/**
 * Every lens of the pipeline can be watched: entries of its own come, change, go, and move out of sight and back; then the
 * subscriber has the ids of a fresh query.
 */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/base/canonical.ts'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { Context } from '../../../../src/lenses/context/context.ts'
import type { WatchInput } from '../../../../src/model/live-input.ts'
import { audience } from '../../../../src/model/partition.ts'
import { LOCAL_OWNER } from '../../../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../../../src/ops/catalog.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../../support/engines.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'
import { FAR, NEAR, TAGS } from '../../../support/open-chroma-world.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'

const ANN = { id: 'ann' }
const BOB = { id: 'bob' }
const WORDS = ['fox', 'fox fox', 'fox in the rain', 'vixen', 'a slow car', 'hen and fox', 'garden']

/** How bob keeps knowledge of a lens that all may read, by numbers that count from 0. */
interface Keeper {
  readonly input: Pick<WatchInput, 'text' | 'any'>
  /** The id under which a page shows it. */
  add(at: number): Promise<string>
  change(id: string, at: number): Promise<unknown>
  remove(id: string): Promise<unknown>
}

type Open = (engine: Engine, as: (operation: string, input: unknown) => Promise<JsonObject>) => Promise<Keeper>

const word = (at: number): string => WORDS[at % WORDS.length] as string

function entriesIn(collection: string): Open {
  return async engine => {
    const put = (id: string, at: number) =>
      engine.put({ entries: [{ id, collection, content: `${word(at)} ${at}`, visibility: 'public' }] }, { viewer: BOB })
    return {
      input: { text: 'fox rain', any: true },
      add: async at => {
        await put(`e${at}`, at)
        return `e${at}`
      },
      change: (id, at) => put(id, at),
      remove: id => engine.delete({ ids: [id] }, { viewer: BOB }),
    }
  }
}

const LENSES: Readonly<Record<string, Open>> = {
  default: entriesIn('notes'),
  collections: entriesIn('items'),
  context: async engine => {
    const context = new Context(engine.host('context'), BOB)
    const call = async (path: string, params: object) => (await context.call(path, params)).result as JsonObject
    await new Context(engine.host('context')).call('/mind/init')
    const numbers = new Map<string, unknown>()
    return {
      input: { text: 'fox rain', any: true },
      add: async at => {
        const before = new Set(await idsSeen(engine))
        const name = `${word(at)} ${at}`
        const { id } = await call('/mind/concepts/create', { name, type: 'Entity', visibility: 'public' })
        const shown = (await idsSeen(engine)).find(other => !before.has(other)) as string
        numbers.set(shown, id)
        return shown
      },
      change: (id, at) => call('/mind/concepts/update', { id: numbers.get(id), name: `${word(at)} ${at}` }),
      remove: id => call('/mind/concepts/delete', { id: numbers.get(id) }),
    }
  },
  chroma: async (engine, as) => {
    const hashtags = [...new Set([...TAGS, ...NEAR, ...FAR])]
    const zones: Readonly<Record<string, string>> = { c: 'Core', m: 'Mid', o: 'Outer' }
    const assignments = hashtags.map(hashtag => ({ hashtag, zone: zones[hashtag.charAt(1)] }))
    // The vocabulary is the owner's.
    const owner = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
    await callOperation(makeCatalog(engine), engine, 'chroma.assign', { assignments }, owner)
    const sets = [TAGS, NEAR, FAR]
    return {
      input: { text: TAGS.join(' ') },
      add: async at => {
        const node = { hashtags: sets[at % 3], label: word(at), content: word(at), visibility: 'public' }
        return String((await as('chroma.store', node))['entry_id'])
      },
      change: (id, at) => as('chroma.update', { entry_id: id, label: `${word(at)} ${at}` }),
      remove: id => as('chroma.delete', { entry_id: id }),
    }
  },
}

async function idsSeen(engine: Engine): Promise<readonly string[]> {
  return (await engine.list({ limit: 1000 }, { viewer: ANN })).items.map(({ id }) => id)
}

class World {
  readonly timers = new ManualTimers()
  readonly clock = new SettableClock(TEST_NOW)
  readonly known = new Map<string, string>()
  readonly heard: string[] = []
  #engine!: Engine
  keeper!: Keeper
  #input!: WatchInput

  static async open(lens: string, input: Partial<WatchInput>): Promise<World> {
    const world = new World()
    const { timers, clock } = world
    const engine = await openTestEngine({ embedder: openToyEmbedder(), clock, live: { timers } })
    world.#engine = engine
    const catalog = makeCatalog(engine)
    const context = { viewer: BOB, signal: new AbortController().signal }
    const as = async (name: string, given: unknown) =>
      (await callOperation(catalog, engine, name, given, context)) as JsonObject
    world.keeper = await (LENSES[lens] as Open)(engine, as)
    world.#input = { ...world.keeper.input, lens, limit: 100, memory: false, ...input }
    return world
  }

  async watch(): Promise<void> {
    await this.#engine.subscribe(
      { ...this.#input, debounce_ms: 0, max_events_per_minute: 600 },
      {
        onEvent: ({ type, id, reason, item }) => {
          this.heard.push(`${type} ${id} ${reason}`)
          if (type === 'removed') this.known.delete(id)
          else this.known.set(id, String(item?.['title']))
        },
      },
      { viewer: ANN },
    )
    await this.timers.pass(0)
  }

  /** Where the entry stands from now on, the rest as it was. */
  move(id: string, kind: 'public' | 'private'): void {
    const { store } = this.#engine.host('default')
    this.clock.set(this.clock.now() + 1)
    store.write(this.clock.now(), writer => {
      const all = writer.partitions().map(partition => partition.id)
      const [key] = writer.find(id, all)
      const entry = key === undefined ? undefined : writer.entry(key)
      if (key === undefined || entry === undefined) return
      writer.put({ ...entry, audience: audience(kind, BOB.id) }, writer.chunksOf(key))
    })
  }

  /** What was told since this was last called, after all of it is told. */
  async news(): Promise<readonly string[]> {
    await this.timers.pass(1000)
    return this.heard.splice(0)
  }

  async expectOfNow(): Promise<void> {
    await this.timers.pass(1000)
    const { debounce_ms: _, ...query } = this.#input
    const page = await this.#engine.query({ ...query, touch: false }, { viewer: ANN })
    expect([...this.known].sort()).toEqual(page.items.map(({ id, title }) => [id, String(title)]).sort())
    expect([...this.known.keys()].sort()).toEqual(idsOf(page).toSorted())
  }

  tick(): void {
    this.clock.set(this.clock.now() + 1)
  }

  close(): Promise<void> {
    return this.#engine.close()
  }
}

describe.each(Object.keys(LENSES))('the lens %s', lens => {
  it('tells of an entry of its own that comes, changes, goes out of accessScope, comes back and goes', async () => {
    const world = await World.open(lens, {})
    const { keeper } = world
    const first = await keeper.add(0)
    await world.watch()
    expect(await world.news()).toEqual([`added ${first} initial`])
    world.tick()
    const second = await keeper.add(3)
    // What it means is known when it is embedded.
    const come = await world.news()
    expect(come).toEqual([`added ${second} new_match`])
    await keeper.change(second, 9)
    expect(await world.news()).toEqual([`updated ${second} content_changed`])
    world.move(second, 'private')
    expect(await world.news()).toEqual([`removed ${second} unavailable`])
    await keeper.change(second, 15)
    world.tick()
    expect((await world.news()).filter(line => !line.startsWith('added'))).toEqual([])
    world.move(second, 'public')
    await world.expectOfNow()
    expect([...world.known.keys()].sort()).toEqual([first, second].sort())
    world.heard.length = 0
    await keeper.remove(second)
    expect(await world.news()).toEqual([`removed ${second} unavailable`])
    await keeper.remove(first)
    await world.expectOfNow()
    expect([...world.known]).toEqual([])
    await world.close()
  })
})
