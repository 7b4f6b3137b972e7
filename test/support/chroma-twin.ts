/** Plays one history to the lens and to the plain implementation, and holds what they say against each other. */
import { expect } from 'vitest'
import type { QueryOptions, ResultRow } from '../../src/lenses/chroma/model.ts'
import { type OpenChroma, openChroma } from '../../src/openings/chroma.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { type AskedQuery, type ChromaAct, type ChromaStory, TAGS } from './chroma-acts.ts'
import { PlainChroma, type PlainHit, type PlainNode, type PlainQuery } from './plain-chroma.ts'
import { seededUniform } from './seeded.ts'

const START = 1_700_000_000
const TOLERANCE = 1e-9
/** Scores that differ by less may stand in either order: the two add up in different orders. */
const ALIKE = 1e-12

/** What happened, so that a test can tell that it tested something. */
export interface TwinFigures {
  hits: number
  emptyAnswers: number
  refused: number
  ascended: number
  rotten: number
  moved: number
  /** Places that two hits of all but equal score took in the other order. */
  swapped: number
}

export class ChromaTwin {
  readonly figures: TwinFigures
  readonly #file: string | null
  readonly #plain = new PlainChroma()
  readonly #random: () => number
  #sets: ChromaStory['sets'] = []
  /** Two engines on one file take turns; in memory there is one. */
  #engines: OpenChroma[] = []
  #turn = 0
  #now = START
  #imported = 0

  /** `file` null: in memory, where opening again changes nothing. */
  constructor(file: string | null, seed: number, figures: TwinFigures) {
    this.#file = file
    this.#random = seededUniform(seed)
    this.figures = figures
  }

  async play({ sets, acts }: ChromaStory): Promise<void> {
    this.#sets = sets
    await this.#open()
    try {
      for (const [tag, zone] of TAGS) await this.#assign(tag, zone)
      for (const act of acts) await this.#act(act)
      await this.#compareAll()
    } finally {
      for (const engine of this.#engines) await engine.close()
    }
  }

  get #lens(): OpenChroma {
    return this.#engines[this.#turn++ % this.#engines.length] as OpenChroma
  }

  async #open(memoryEnabled = true, decayEnabled = true): Promise<void> {
    const stores = this.#file === null ? ['memory' as const] : [0, 1].map(() => ({ file: this.#file as string }))
    this.#engines = []
    for (const store of stores) {
      this.#engines.push(
        await openChroma({
          store: store === 'memory' ? store : openSqliteStore(store),
          background: false,
          now: () => this.#now,
          random: bytes => Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256)),
          memoryConfig: { enabled: memoryEnabled, decayEnabled },
        }),
      )
    }
    this.#plain.memoryEnabled = memoryEnabled
    this.#plain.decayEnabled = decayEnabled
  }

  async #act(act: ChromaAct): Promise<void> {
    const plain = this.#plain
    switch (act.do) {
      case 'wait':
        this.#now += act.seconds
        return
      case 'reopen':
        if (this.#file === null) return
        for (const engine of this.#engines) await engine.close()
        return this.#open(act.memoryEnabled, act.decayEnabled)
      case 'store':
        return this.#store(act)
      case 'import':
        return this.#import(act)
      case 'query':
        return this.#query(act.asked)
      case 'nearest':
        return this.#nearest(act.asked)
      case 'batch':
        return this.#batch(act.asked)
      case 'assign':
        return this.#assign(nameOf(act.tag), act.zone)
      case 'migrate':
        return this.#migrate(nameOf(act.tag), { zone: act.zone })
      case 'move':
        return this.#migrate(nameOf(act.tag), { anchorId: act.anchor })
      case 'unassign':
        return this.#unassign(nameOf(act.tag))
      case 'cycle':
        expect(await this.#lens.runDecayCycle()).toMatchObject({ ...plain.decay(this.#now), errors: 0 })
        return
      case 'check':
        expect(await this.#lens.runLifecycleCheck()).toMatchObject({ ...plain.lifecycle(this.#now), errors: 0 })
        return
      case 'statistics':
        assertAgrees(await this.#lens.getStatistics(), statisticsOf(plain.nodes))
        return
      default:
        return this.#change(act)
    }
  }

  /** Of single nodes; of one that is not there when there is none. */
  async #change(act: Extract<ChromaAct, { node: number }>): Promise<void> {
    const { nodes } = this.#plain
    const node = nodes.length === 0 ? undefined : nodes[act.node % nodes.length]
    const id = node?.id ?? 'nowhere'
    const isThere = node !== undefined
    switch (act.do) {
      case 'update': {
        const done = isThere && Object.keys(act.fields).length > 0
        expect(await this.#lens.updateNode(id, act.fields)).toBe(done)
        if (done) Object.assign(node, act.fields, { version: node.version + 1 })
        return
      }
      case 'delete':
        expect(await this.#lens.deleteNode(id)).toBe(isThere)
        this.#plain.nodes = nodes.filter(one => one !== node)
        return
      case 'rot': {
        const rots = isThere && !node.ascended
        expect(await this.#lens.markRotten(id)).toBe(rots)
        if (rots && !node.rotten) Object.assign(node, { rotten: true, version: node.version + 1 })
        return
      }
      case 'mode':
        expect(await this.#lens.setNodeMode(id, act.mode)).toBe(isThere)
        if (isThere) Object.assign(node, { mode: act.mode, version: node.version + 1 })
        return
      case 'decays':
        expect(await this.#lens.setNodeDecay(id, act.enabled)).toBe(isThere)
        if (isThere) Object.assign(node, { decays: act.enabled, version: node.version + 1 })
    }
  }

  /** Null when the rules refuse the set, in both. */
  async #valid<T>(tags: readonly string[] | null, ask: () => Promise<T>): Promise<T | null> {
    if (tags === null || this.#plain.isValid(tags)) return ask()
    const isKnown = tags.every(tag => this.#plain.anchorOf.has(tag))
    const code = isKnown ? 'invalid_hashtags' : 'unknown_hashtag'
    await expect(ask()).rejects.toMatchObject({ code })
    this.figures.refused++
    return null
  }

  async #store({ tags: set, fields }: Extract<ChromaAct, { do: 'store' }>): Promise<void> {
    const tags = this.#tags(set)
    const { mode, ...rest } = fields
    const id = await this.#valid(tags, () => this.#lens.store({ ...rest, hashtags: tags, modeName: mode }))
    if (id !== null) this.#plain.store({ id, tags: [...tags], ...fields }, this.#now)
  }

  async #import({ tags: set, fields, state }: Extract<ChromaAct, { do: 'import' }>): Promise<void> {
    const tags = this.#tags(set)
    const { mode: mode_name, ...rest } = fields
    const id = `imported ${this.#imported++}`
    const rotten = state.rotten && !state.ascended
    const signals = { created_at: this.#now - state.created, last_accessed: this.#now - state.accessed }
    const flags = { ascension: state.ascended, rotten, decay_health: 1, strength_raw: state.strength }
    const node = { entry_id: id, hashtags: tags, mode_name, access_count: state.count, ...rest, ...signals, ...flags }
    const document = { version: 1, exported_at: this.#now, nodes: [node] }
    if ((await this.#valid(tags, () => this.#lens.importNodes(document as never))) === null) return
    this.#plain.store({ id, tags: [...tags], ...fields }, signals.created_at)
    const { strength, ascended, count } = state
    Object.assign(this.#plain.node(id) ?? {}, { strength, ascended, count, rotten, last: signals.last_accessed })
  }

  async #query(asked: AskedQuery): Promise<void> {
    const tags = this.#tags(asked.tags)
    const { plain, options } = this.#asked(asked)
    const answer = await this.#valid(tags, () => this.#lens.queryDetailed(tags, options))
    if (answer === null) return
    const all = this.#plain.rank(tags, { ...plain, k: this.#plain.nodes.length }, this.#now)
    this.#compare(answer.results, all, asked.k, hit => hit.score)
    if (all.length === 0) this.#compareWarning(answer.warnings, tags, plain)
    if (asked.updateAccess) for (const row of answer.results) this.#plain.hit(row.entry_id, this.#now)
  }

  async #nearest({ tags: set, k, maxDistance, includeRotten, updateAccess }: AskedQuery): Promise<void> {
    const tags = this.#tags(set)
    const options = { k, maxDistance, includeRotten, updateAccess }
    const rows = await this.#valid(tags, () => this.#lens.queryKnn(tags, options))
    if (rows === null) return
    const all = this.#plain.nearest(tags, { ...options, k: this.#plain.nodes.length }, this.#now)
    this.#compare(rows, all, k, hit => -hit.distance)
    if (updateAccess) for (const row of rows) this.#plain.hit(row.entry_id, this.#now)
  }

  /** All against one state, then all accesses in order. */
  async #batch(asked: readonly AskedQuery[]): Promise<void> {
    const items = asked.map(one => ({ hashtags: this.#tags(one.tags), ...this.#asked(one).options }))
    const wrong = items.find(({ hashtags }) => !this.#plain.isValid(hashtags))
    const answers = await this.#valid(wrong?.hashtags ?? null, () => this.#lens.batchQuery(items))
    if (answers === null) return
    for (const [at, one] of asked.entries()) {
      const plain = { ...this.#asked(one).plain, k: this.#plain.nodes.length }
      const all = this.#plain.rank(this.#tags(one.tags), plain, this.#now)
      this.#compare(answers[at] ?? [], all, one.k, hit => hit.score)
    }
    for (const [at, rows] of answers.entries()) {
      if (asked[at]?.updateAccess) for (const row of rows) this.#plain.hit(row.entry_id, this.#now)
    }
  }

  async #assign(tag: string, zone: string): Promise<void> {
    const held = this.#plain.anchorOf.get(tag)
    const assigned = this.#lens.assignHashtag(tag, { zone })
    if (held === undefined) expect((await assigned).anchor_id).toBe(this.#plain.assign(tag, zone))
    else if (this.#lens.listHashtags(zone).some(one => one.hashtag === tag))
      expect((await assigned).anchor_id).toBe(held)
    else await expect(assigned).rejects.toMatchObject({ code: 'hashtag_assigned' })
  }

  async #unassign(tag: string): Promise<void> {
    const unassigned = this.#lens.unassignHashtag(tag)
    if (!this.#plain.anchorOf.has(tag)) await expect(unassigned).rejects.toMatchObject({ code: 'unknown_hashtag' })
    else if (this.#plain.unassign(tag)) await unassigned
    else await expect(unassigned).rejects.toMatchObject({ code: 'hashtag_in_use' })
  }

  async #migrate(tag: string, target: { zone: string } | { anchorId: number }): Promise<void> {
    const migrated = this.#lens.migrateHashtag(tag, target)
    if (!this.#plain.anchorOf.has(tag)) {
      await expect(migrated).rejects.toMatchObject({ code: 'unknown_hashtag' })
      return
    }
    const others = [...this.#plain.anchorOf].filter(([other]) => other !== tag)
    if ('anchorId' in target && others.some(([, anchor]) => anchor === target.anchorId)) {
      await expect(migrated).rejects.toMatchObject({ code: 'anchor_occupied' })
      return
    }
    const done = this.#plain.migrate(tag, target)
    if (done === null) {
      await expect(migrated).rejects.toMatchObject({ code: 'migration_invalid' })
      this.figures.refused++
    } else {
      const { nodes_updated, to_anchor_id } = await migrated
      expect([nodes_updated, to_anchor_id]).toEqual([done.moved, this.#plain.anchorOf.get(tag)])
      this.figures.moved += done.moved
    }
  }

  /** Ids in order, and every field of every row as it was before the access. */
  #compare(rows: readonly ResultRow[], all: readonly PlainHit[], k: number, worth: (hit: PlainHit) => number): void {
    const byId = new Map(all.map(hit => [hit.id, hit]))
    expect(rows.length).toBe(Math.min(k, all.length))
    expect(new Set(rows.map(row => row.entry_id)).size).toBe(rows.length)
    for (const [at, row] of rows.entries()) {
      const [here, there] = [byId.get(row.entry_id), all[at] as PlainHit]
      if (here === undefined) throw new Error(`${row.entry_id} is not among what passes`)
      if (here !== there) {
        const gap = Math.abs(worth(here) - worth(there))
        if (gap === 0 || gap > ALIKE) expect(rows.map(one => one.entry_id)).toEqual(all.map(hit => hit.id).slice(0, k))
        this.figures.swapped++
      }
      const { id: _, ...computed } = here
      for (const name of ['distance', 'relevance', 'recency', 'strength_norm', 'score'] as const) {
        if (!(Math.abs(row[name] - computed[name]) <= TOLERANCE))
          expect([name, row[name]]).toEqual([name, computed[name]])
      }
      this.#compareNode(row, this.#plain.node(row.entry_id) as PlainNode)
    }
    this.figures.hits += rows.length
    if (rows.length === 0) this.figures.emptyAnswers++
  }

  #compareNode(row: Readonly<Record<string, unknown>>, node: PlainNode): void {
    const [color_L, color_a, color_b] = node.color
    const expected = {
      ...{ color_L, color_a, color_b, hashtags: node.tags, label: node.label, content: node.content },
      ...{ metadata: node.metadata, created_at: node.created, last_accessed: node.last, strength_raw: node.strength },
      ...{ decay_health: node.health, ascension: node.ascended, rotten: node.rotten, mode_name: node.mode },
      ...{ access_count: node.count, decay_enabled: node.decays },
    }
    const shown = Object.fromEntries(Object.keys(expected).map(name => [name, row[name]]))
    assertAgrees(shown, expected)
  }

  /** Where the distance alone left nothing, how far the nearest is; else no warning. */
  #compareWarning(
    warnings: readonly { code: string; details?: unknown }[],
    tags: readonly string[],
    query: PlainQuery,
  ): void {
    const unlimited = { ...query, k: 1, maxDistance: null }
    const nearest = query.maxDistance === null ? undefined : this.#plain.nearest(tags, unlimited, this.#now)[0]
    expect(warnings.map(({ code }) => code)).toEqual(nearest === undefined ? [] : ['no_results_within_distance'])
    if (nearest === undefined) return
    const { nearest_distance } = (warnings[0] as { details: object }).details as { nearest_distance: number }
    expect(Math.abs(nearest_distance - nearest.distance)).toBeLessThan(TOLERANCE)
  }

  /** By export, on every engine, as the last thing: all that is stored. */
  async #compareAll(): Promise<void> {
    const nodes = [...this.#plain.nodes].sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const engine of this.#engines) {
      const document = await engine.exportNodes()
      expect(document.nodes.map(node => node.entry_id)).toEqual(nodes.map(({ id }) => id))
      for (const [at, exported] of document.nodes.entries()) {
        const [color_L, color_a, color_b] = exported.color
        this.#compareNode({ ...exported, color_L, color_a, color_b }, nodes[at] as PlainNode)
        expect(exported.version).toBe(nodes[at]?.version)
      }
      assertAgrees(await engine.getStatistics(), statisticsOf(nodes))
    }
    this.figures.ascended += nodes.filter(node => node.ascended).length
    this.figures.rotten += nodes.filter(node => node.rotten).length
  }

  #tags(set: number): readonly string[] {
    return this.#sets[set % this.#sets.length] as readonly string[]
  }

  #asked({ k, maxDistance, range, filters, includeRotten, weights, updateAccess }: AskedQuery): {
    readonly plain: PlainQuery
    readonly options: QueryOptions
  } {
    const temporalRange = range && ([this.#now + range[0], this.#now + range[1]] as const)
    const options = { k, maxDistance, temporalRange, includeRotten, scoreWeights: weights, updateAccess }
    return {
      plain: { ...options, metadataFilters: filters },
      options: { ...options, metadataFilters: filters },
    }
  }
}

function nameOf(tag: number): string {
  return TAGS[tag % TAGS.length]?.[0] as string
}

function statisticsOf(nodes: readonly PlainNode[]): unknown {
  const count = (test: (node: PlainNode) => boolean) => nodes.filter(test).length
  const modes = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic']
  const spread = (values: readonly number[]) => ({
    average: values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length,
    min: values.length === 0 ? null : Math.min(...values),
    max: values.length === 0 ? null : Math.max(...values),
  })
  const { max: _, ...health } = spread(nodes.map(node => node.health))
  return {
    total_nodes: nodes.length,
    permanent_nodes: count(node => node.ascended),
    rotten_nodes: count(node => node.rotten),
    decay_disabled: count(node => !node.decays),
    mode_distribution: Object.fromEntries(
      modes.map(mode => [mode, count(node => node.mode === mode)]).filter(([, found]) => found !== 0),
    ),
    strength: spread(nodes.map(node => node.strength)),
    health,
  }
}

/** Numbers to within the tolerance, all else exactly; the whole is shown where something differs. */
function assertAgrees(actual: unknown, expected: unknown): void {
  if (!agrees(actual, expected)) expect(actual).toEqual(expected)
}

function agrees(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= TOLERANCE
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return one === other
  const [names, others] = [Object.keys(one), Object.keys(other)]
  if (Array.isArray(one) !== Array.isArray(other) || names.length !== others.length) return false
  return names.every(name => Object.hasOwn(other, name) && agrees((one as Named)[name], (other as Named)[name]))
}

type Named = Readonly<Record<string, unknown>>
