/**
 * Histories of writes between the pages of one question of ann's, and what must come of them (BQ-143 to BQ-148): the pages
 * joined are the whole answer of the beginning, less what is hidden or replaced when its page is requested.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { RankedBelief } from '../../src/lenses/beliefs/model.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from './beliefs-engine.ts'
import { seededUniform } from './seeded.ts'
import { openToyEmbedder } from './toy-embedder.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const AGENTS = ['ann', 'bob', 'cyd', 'eve'] as const
const WORDS = ['fox', 'garden', 'honey', 'bees', 'moon', 'old', 'finance', 'sea']
export const EVERYWHERE = { local: true, federated: true, network: true }

interface Level {
  readonly visibility: string
  readonly federation_ids?: readonly string[]
}

export type PagingAct =
  | {
      readonly do: 'put'
      readonly by: number
      readonly words: readonly string[]
      readonly level: Level
      readonly days: number | null
      readonly wait: boolean
    }
  | {
      readonly do: 'change'
      readonly which: number
      readonly words: readonly string[] | null
      readonly level: Level | null
    }
  | { readonly do: 'delete'; readonly which: number }
  | { readonly do: 'member'; readonly agent: number; readonly federation: string; readonly status: string }
  | { readonly do: 'trust'; readonly by: number; readonly target: string; readonly level: number }
  | { readonly do: 'ask'; readonly by: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'restart' }

export interface PagingStory {
  readonly embedder: 'toy' | 'none'
  readonly before: readonly PagingAct[]
  readonly query: Json
  /** A page of so many, after these acts; the last size goes on to the end. */
  readonly pages: readonly { readonly size: number; readonly acts: readonly PagingAct[] }[]
}

function words(): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
}

function levels(): fc.Arbitrary<Level> {
  const shared = fc.constantFrom(['lab'], ['vault'], ['lab', 'vault'])
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ visibility: 'public' }) },
    { weight: 3, arbitrary: shared.map(federation_ids => ({ visibility: 'federated', federation_ids })) },
    { weight: 1, arbitrary: fc.constant({ visibility: 'private' }) },
  )
}

const agent = (): fc.Arbitrary<number> => fc.nat({ max: AGENTS.length - 1 })

function puts(): fc.Arbitrary<PagingAct> {
  const days = fc.option(fc.double({ min: 0.001, max: 3, noNaN: true }), { freq: 5 })
  return fc
    .record({
      by: agent(),
      words: words(),
      level: levels(),
      days,
      wait: fc.integer({ min: 0, max: 5 }).map(n => n > 0),
    })
    .map(given => ({ do: 'put', ...given }))
}

/** What counts for ann in these changes by time and by ann's own use alone. */
export function quietActs(): fc.Arbitrary<PagingAct> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({ do: 'ask' as const, by: 0 }) },
    { weight: 2, arbitrary: waits(29_000) },
    { weight: 1, arbitrary: puts().map(put => ({ ...put, by: 1, level: { visibility: 'private' } }) as PagingAct) },
    { weight: 3, arbitrary: fc.constant({ do: 'restart' as const }) },
  )
}

/** With restarts between them. */
export function broken(): fc.Arbitrary<PagingAct> {
  return fc.oneof({ weight: 1, arbitrary: acts() }, { weight: 1, arbitrary: quietActs() })
}

function waits(max: number): fc.Arbitrary<PagingAct> {
  return fc.integer({ min: 1, max }).map(ms => ({ do: 'wait', ms }))
}

function acts(): fc.Arbitrary<PagingAct> {
  const status = fc.constantFrom('active', 'suspended', 'departed')
  return fc.oneof(
    { weight: 6, arbitrary: puts() },
    {
      weight: 6,
      arbitrary: fc
        .record({ which: fc.nat(), words: fc.option(words()), level: fc.option(levels()) })
        .map(given => ({ do: 'change' as const, ...given })),
    },
    { weight: 4, arbitrary: fc.nat().map(which => ({ do: 'delete' as const, which })) },
    {
      weight: 3,
      arbitrary: fc
        .record({ agent: agent(), federation: fc.constantFrom('lab', 'vault'), status })
        .map(given => ({ do: 'member' as const, ...given })),
    },
    {
      weight: 3,
      arbitrary: fc
        .record({
          by: agent(),
          target: fc.constantFrom(...AGENTS, 'federation:vault'),
          level: fc.constantFrom(0, 0.3, 0.9),
        })
        .map(given => ({ do: 'trust' as const, ...given })),
    },
    { weight: 1, arbitrary: agent().map(by => ({ do: 'ask' as const, by })) },
    { weight: 2, arbitrary: waits(100_000) },
  )
}

export function pagingStories(between: fc.Arbitrary<PagingAct> = acts()): fc.Arbitrary<PagingStory> {
  const diversity = fc.option(
    fc.record(
      {
        enabled: fc.constant(true),
        max_per_holder: fc.integer({ min: 1, max: 8 }),
        min_semantic_distance: fc.constantFrom(0, 0.1),
        lambda: fc.constantFrom(0.3, 0.7, 1),
      },
      { requiredKeys: ['enabled'] },
    ),
    { freq: 2 },
  )
  const filters = fc.constantFrom<unknown>(
    [],
    [],
    { exclude_holders: ['eve'] },
    { min_confidence: { overall: 0.3 } },
    'recent',
  )
  const query = fc
    .record({
      semantic: fc.oneof(
        words().map(some => some.join(' ')),
        fc.constant(''),
      ),
      filters,
      diversity,
    })
    .map(({ semantic, filters: asked, diversity: spread }) => ({
      semantic,
      filters: semantic === '' ? { min_confidence: { overall: 0.001 } } : asked,
      options: { scope: EVERYWHERE, ...(spread !== null && { diversity: spread }) },
    }))
  const page = fc.record({ size: fc.integer({ min: 1, max: 6 }), acts: fc.array(between, { maxLength: 5 }) })
  return fc.record({
    embedder: fc.constantFrom('toy' as const, 'toy' as const, 'toy' as const, 'none' as const),
    before: fc.array(fc.oneof({ weight: 9, arbitrary: puts() }, { weight: 2, arbitrary: acts() }), {
      minLength: 12,
      maxLength: 30,
      size: 'max',
    }),
    query,
    pages: fc.array(page, { minLength: 2, maxLength: 6, size: 'max' }),
  })
}

interface Known {
  readonly holder: string
  readonly id: string
  level: Level
  isCurrent: boolean
}

export interface PagingFigures {
  stories: number
  pages: number
  results: number
  /** Results that later pages left out. */
  gone: number
  expired: number
  goneOnAfterRestart: number
}

export class PagingWorld {
  readonly clock = new SettableClock(START)
  readonly #file: string | null
  readonly #embedder: PagingStory['embedder']
  readonly #uniform: () => number
  readonly #memory = openMemoryStore()
  readonly #known: Known[] = []
  readonly #members = new Map<string, string>()
  readonly #figures: PagingFigures
  #engine: Engine | null = null
  #restarted = false

  constructor(file: string | null, embedder: PagingStory['embedder'], seed: number, figures: PagingFigures) {
    this.#file = file
    this.#embedder = embedder
    this.#uniform = seededUniform(seed)
    this.#figures = figures
  }

  async play({ before, query, pages }: PagingStory, isQuiet: boolean): Promise<void> {
    try {
      await this.#begin()
      for (const act of before) await this.#act(act)
      this.#advance(1)
      // A vector that is made later counts as a change.
      if (isQuiet) await this.#open.host('beliefs').embedded?.(new AbortController().signal)
      await this.#read(query, pages, isQuiet)
      this.#figures.stories++
    } finally {
      await this.#engine?.close()
    }
  }

  /** Page after page, each held against what is left of the whole. */
  async #read(query: Json, pages: PagingStory['pages'], isQuiet: boolean): Promise<void> {
    const whole = (await this.#ask(query, { limit: 1000, dry_run: true }))['beliefs'] as readonly RankedBelief[]
    let left = whole.map(row => ({ row, known: this.#knownOf(row) }))
    let cursor: string | null = null
    let passed = 0
    for (let at = 0; ; at++) {
      const page = pages[Math.min(at, pages.length - 1)] as PagingStory['pages'][number]
      if (at > 0 && at < pages.length) for (const act of page.acts) await this.#act(act)
      const visible = left.filter(({ known }) => this.#isSeen(known))
      this.#figures.gone += left.length - visible.length
      const expected = visible.slice(0, page.size)
      const answer = await this.#ask(query, { limit: page.size, ...(cursor !== null && { cursor }) }).catch(error => {
        expect(error.details).toMatchObject({ reason: 'cursor_expired' })
        return null
      })
      if (answer === null) {
        expect([isQuiet, this.#restarted]).toEqual([false, true])
        this.#figures.expired++
        return
      }
      const shown = answer['beliefs'] as readonly RankedBelief[]
      expect(shown.map(({ belief }) => belief.id)).toEqual(expected.map(({ row }) => row.belief.id))
      expect(shown.map(({ score }) => score)).toEqual(expected.map(({ row }) => row.score))
      expect(shown.map(({ rank }) => rank)).toEqual(expected.map((_, place) => passed + place + 1))
      this.#figures.pages++
      this.#figures.results += shown.length
      if (this.#restarted && at > 0) this.#figures.goneOnAfterRestart++
      passed += shown.length
      const last = expected.at(-1)
      left = last === undefined ? [] : left.slice(left.indexOf(last) + 1)
      const isMore = left.some(({ known }) => this.#isSeen(known))
      expect('next_cursor' in answer).toBe(isMore)
      if (!isMore) return
      cursor = answer['next_cursor'] as string
    }
  }

  #ask(query: Json, options: Json): Promise<Json> {
    const all = { ...query, options: { ...(query['options'] as Json), ...options } }
    return callOperation(this.#open, 'beliefs.query', 'ann', all)
  }

  get #open(): Engine {
    if (this.#engine === null) throw new Error('no engine')
    return this.#engine
  }

  /** Of one id ann holds one, or one other. */
  #knownOf({ belief, source }: RankedBelief): Known {
    const found = this.#known.filter(known => known.id === belief.id && known.isCurrent)
    const one = found.find(({ holder }) => (source.kind === 'local') === (holder === 'ann'))
    if (one === undefined) throw new Error(`${belief.id} was never written`)
    return one
  }

  #isSeen({ holder, level, isCurrent }: Known): boolean {
    if (!isCurrent) return false
    if (holder === 'ann' || level.visibility === 'public') return true
    return (level.federation_ids ?? []).some(federation =>
      [holder, 'ann'].every(one => this.#members.get(`${federation} ${one}`) === 'active'),
    )
  }

  async #start(): Promise<void> {
    const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * this.#uniform()))
    const store = this.#file === null ? this.#memory : openSqliteStore({ file: this.#file })
    const embedder = this.#embedder === 'toy' ? openToyEmbedder() : ('none' as const)
    this.#engine = await openBeliefsEngine({ store, clock: this.clock, random, embedder })
  }

  async #begin(): Promise<void> {
    await this.#start()
    for (const id of AGENTS) await this.#owner('agents.create', { id })
    for (const [id, anonymity] of [
      ['lab', 'pseudonyms'],
      ['vault', 'strict'],
    ] as const) {
      await this.#owner('federations.create', { id, anonymity })
      for (const one of AGENTS) await this.#member(id, one, 'active')
    }
    await this.#trust('ann', 'bob', 0.9)
    await this.#trust('bob', 'cyd', 0.8)
    this.#advance(3 * 86_400_000)
  }

  #owner(operation: string, input: Json): Promise<Json> {
    return callOperation(this.#open, operation, 'owner', input)
  }

  async #member(federation: string, one: string, status: string): Promise<void> {
    await this.#owner('federations.set_member', { federation, agent: one, status })
    this.#members.set(`${federation} ${one}`, status)
  }

  async #trust(by: string, target: string, trust_level: number): Promise<void> {
    if (by !== target) await callOperation(this.#open, 'trust.set', by, { target, trust_level })
  }

  async #act(act: PagingAct): Promise<void> {
    switch (act.do) {
      case 'put': {
        const holder = AGENTS[act.by] as string
        const others = this.#known.length
        // Now and then ann stores what others have under its very id.
        const copied = holder === 'ann' ? this.#known.findLast(known => known.holder !== 'ann') : undefined
        const isCopied =
          copied !== undefined &&
          others % 3 === 0 &&
          !this.#known.some(one => one.holder === 'ann' && one.id === copied.id)
        const id = isCopied ? copied.id : `b${others}`
        const until = act.days === null ? null : new Date(this.clock.now() + act.days * 86_400_000).toISOString()
        const more = { valid_until: until, wait: act.wait, ...act.level }
        await callOperation(this.#open, 'beliefs.put', holder, { id, content: act.words.join(' '), ...more })
        this.#known.push({ holder, id, level: act.level, isCurrent: true })
        return
      }
      case 'change': {
        const known = this.#pick(act.which)
        if (known === undefined) return
        const id = `${known.id}+${this.#known.length}`
        const content = act.words === null ? {} : { content: act.words.join(' ') }
        await callOperation(this.#open, 'beliefs.supersede', known.holder, {
          belief_id: known.id,
          id,
          ...content,
          ...act.level,
        })
        known.isCurrent = false
        this.#known.push({ holder: known.holder, id, level: act.level ?? known.level, isCurrent: true })
        return
      }
      case 'delete': {
        const known = this.#pick(act.which)
        if (known === undefined) return
        await callOperation(this.#open, 'beliefs.delete', known.holder, { belief_id: known.id })
        known.isCurrent = false
        return
      }
      case 'member':
        return this.#member(act.federation, AGENTS[act.agent] as string, act.status)
      case 'trust':
        return this.#trust(AGENTS[act.by] as string, act.target, act.level)
      case 'ask': {
        const asked = { semantic: 'fox honey', options: { scope: EVERYWHERE, limit: 3 } }
        await callOperation(this.#open, 'beliefs.query', AGENTS[act.by] as string, asked)
        return
      }
      case 'wait':
        this.#advance(act.ms)
        return
      case 'restart':
        if (this.#file === null) return
        await this.#engine?.close()
        this.#restarted = true
        return this.#start()
    }
  }

  #advance(ms: number): void {
    this.clock.set(this.clock.now() + ms)
  }

  #pick(which: number): Known | undefined {
    const current = this.#known.filter(({ isCurrent }) => isCurrent)
    return current[which % Math.max(1, current.length)]
  }
}
