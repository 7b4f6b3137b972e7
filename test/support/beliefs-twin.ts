/** Plays one history to the lens and to the plain implementation, and holds what they say against each other. */
import { expect } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { pseudonymOf } from '../../src/lenses/beliefs/access/show.ts'
import type { RankedBelief } from '../../src/lenses/beliefs/model.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import { type Ago, type Asked, type BeliefsAct, type Draft, HOSTED, type Shown, written } from './beliefs-acts.ts'
import { callOperation, openBeliefsEngine } from './beliefs-engine.ts'
import {
  DAY_MS,
  EVERYWHERE,
  hashOf,
  normalDomain,
  type PlainBelief,
  PlainBeliefs,
  type PlainDraft,
} from './beliefs-plain.ts'
import { askPlain, type PlainAnswer, type PlainHit } from './beliefs-plain-ask.ts'
import { trustIn } from './beliefs-plain-trust.ts'
import { seededUniform } from './seeded.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const TOLERANCE = 1e-9
/** Scores that differ by less may stand in either order: the two add up in different orders. */
const ALIKE = 1e-12
/** What is returned to somebody keeps the edge fresh, once a minute. */
const TOUCH_MS = 60_000

/** What happened, so that a test can tell that it tested something. */
export interface BeliefsFigures {
  questions: number
  hits: number
  emptyAnswers: number
  /** Beliefs that stood for others with their id or content. */
  copies: number
  pages: number
  pseudonyms: number
  transitive: number
  penalties: number
  refused: number
  /** Places that two hits of all but equal score took in the other order. */
  swapped: number
}

export const NO_FIGURES: BeliefsFigures = {
  ...{ questions: 0, hits: 0, emptyAnswers: 0, copies: 0, pages: 0, pseudonyms: 0, transitive: 0, penalties: 0 },
  ...{ refused: 0, swapped: 0 },
}

type Json = Record<string, unknown>

export class BeliefsTwin {
  readonly figures: BeliefsFigures
  readonly #file: string | null
  readonly #plain = new PlainBeliefs()
  readonly #clock = new SettableClock(START)
  readonly #random: () => number
  /** Two engines on one file take turns; in memory there is one. */
  readonly #engines: Engine[] = []
  #turn = 0

  constructor(file: string | null, seed: number, figures: BeliefsFigures) {
    this.#file = file
    this.#random = seededUniform(seed)
    this.figures = figures
  }

  async play(acts: readonly BeliefsAct[]): Promise<void> {
    const file = this.#file
    const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(this.#random() * 256))
    const stores = file === null ? [openMemoryStore()] : [openSqliteStore({ file }), openSqliteStore({ file })]
    try {
      for (const store of stores) this.#engines.push(await openBeliefsEngine({ store, clock: this.#clock, random }))
      await this.#begin()
      for (const act of acts) await this.#act(act)
    } finally {
      for (const engine of this.#engines) await engine.close()
    }
  }

  async #begin(): Promise<void> {
    for (const id of HOSTED) {
      await this.#call('agents.create', 'owner', { id })
      this.#plain.agents.set(id, { overall: null, byDomain: {} })
    }
    const found = async (id: string, strict: boolean, reputation: number | null) => {
      const more = { anonymity: strict ? 'strict' : 'pseudonyms', reputation }
      await this.#call('federations.create', 'owner', { id, ...more })
      this.#plain.federations.set(id, { strict, reputation })
      this.#plain.setMember(id, 'owner', {})
    }
    await found('lab', false, null)
    await found('guild', false, 0.9)
    await found('vault', true, 0.8)
  }

  /** The lens's answer, or the code of its error. */
  async #call(operation: string, by: string, input: unknown): Promise<Json | string> {
    const engine = this.#engines[this.#turn++ % this.#engines.length] as Engine
    return callOperation(engine, operation, by, input).catch(error => {
      if (error instanceof QuerentError) return error.code
      throw error
    })
  }

  /** What both must agree on; null: it went well. */
  async #must(refusal: string | null, operation: string, by: string, input: unknown): Promise<Json> {
    const answer = await this.#call(operation, by, input)
    if (refusal === null && typeof answer !== 'string') return answer
    expect([operation, answer]).toEqual([operation, refusal])
    this.figures.refused++
    return {}
  }

  async #act(act: BeliefsAct): Promise<void> {
    switch (act.do) {
      case 'wait':
        this.#clock.set(this.#now + Math.round(act.days * DAY_MS))
        return
      case 'put':
        return this.#put(act)
      case 'supersede':
        return this.#supersede(act)
      case 'delete':
        return this.#delete(act)
      case 'member': {
        const { federation, agent, status, mayQuery } = act
        const permissions = mayQuery ? ['query_beliefs', 'share_beliefs'] : ['view_aggregates']
        await this.#must(null, 'federations.set_member', 'owner', { federation, agent, status, permissions })
        this.#plain.setMember(federation, agent, { status, mayQuery })
        return
      }
      case 'leave': {
        const isIn = this.#plain.isActive(act.federation, act.by)
        await this.#must(isIn ? null : 'UNAUTHORIZED', 'federations.leave', act.by, { federation: act.federation })
        if (isIn) this.#plain.setMember(act.federation, act.by, { status: 'departed' })
        return
      }
      case 'trust':
        return this.#trust(act)
      case 'untrust': {
        const removed = this.#plain.edges.get(act.by)?.delete(act.target) ?? false
        expect(await this.#must(null, 'trust.remove', act.by, { target: act.target })).toEqual({ removed })
        return
      }
      case 'reputation': {
        const { agent: id, overall: reputation, byDomain: reputation_by_domain } = act
        await this.#must(null, 'agents.update', 'owner', { id, reputation, reputation_by_domain })
        this.#plain.agents.set(id, { overall: reputation, byDomain: reputation_by_domain as Record<string, number> })
        return
      }
      case 'ask':
        return this.#ask(act.by, act.asked)
      case 'read':
        return this.#read(act)
      case 'compute': {
        const { target, context } = act
        const reported = await this.#must(null, 'trust.compute', act.by, { target, context })
        const expected = trustIn(this.#plain, act.by, target, trustQuestion(context), this.#now)
        expect(reported['kind']).toBe(expected.kind)
        near('trust', reported['trust'], expected.value)
      }
    }
  }

  get #now(): number {
    return this.#clock.now()
  }

  async #put({ by, id, draft, wait }: Extract<BeliefsAct, { do: 'put' }>): Promise<void> {
    const isTaken = this.#plain.isTaken(by, id)
    const input = { id, ...this.#wire(draft), wait }
    await this.#must(isTaken ? 'INVALID_QUERY' : null, 'beliefs.put', by, input)
    if (!isTaken) this.#plain.put(by, id, this.#plainDraft(draft), this.#now)
    if (wait && !isTaken) this.#plain.embed()
  }

  async #supersede({ by, nth, id, draft }: Extract<BeliefsAct, { do: 'supersede' }>): Promise<void> {
    const own = this.#plain.current.filter(one => one.holder === by)
    const old = own[nth % Math.max(1, own.length)]
    if (old === undefined) return
    const next = `${id}+${this.#plain.versions.length}`
    const validUntil = this.#plainDraft(draft).validUntil
    const isWrong = validUntil === undefined && old.validUntil !== null && old.validUntil <= old.validFrom
    const input = { belief_id: old.id, id: next, ...this.#wire(draft) }
    await this.#must(isWrong ? 'INVALID_QUERY' : null, 'beliefs.supersede', by, input)
    if (isWrong) return
    this.#plain.supersede(old, next, this.#plainDraft(draft), this.#now)
    this.#plain.embed()
  }

  async #delete({ by, nth }: Extract<BeliefsAct, { do: 'delete' }>): Promise<void> {
    const own = this.#plain.current.filter(one => one.holder === by)
    const old = own[nth % Math.max(1, own.length)]
    if (old === undefined) return
    const received = await this.#must(null, 'beliefs.delete', by, { belief_id: old.id })
    this.#plain.remove(old, received['tombstone_id'] as string, this.#now)
  }

  async #trust({ by, target, edge }: Extract<BeliefsAct, { do: 'trust' }>): Promise<void> {
    await this.#must(null, 'trust.set', by, { target, ...edge })
    const of = this.#plain.edges.get(by) ?? new Map()
    this.#plain.edges.set(by, of)
    const entries = Object.entries(edge['domain_trust'] as Record<string, number>)
    of.set(target, {
      level: edge['trust_level'],
      domains: Object.fromEntries(entries.map(([domain, level]) => [normalDomain(domain), level])),
      manual: (edge['basis'] as readonly unknown[]).length > 0,
      persistent: edge['persistent'],
      exposed: edge['exposure'] === 'exposed',
      lastUsed: this.#now,
    })
  }

  async #read({ by, id, past }: Extract<BeliefsAct, { do: 'read' }>): Promise<void> {
    const found = this.#plain.find(by, id, past)
    const input = { belief_id: id, include_superseded: past }
    const answer = await this.#must(found === undefined ? 'INVALID_QUERY' : null, 'beliefs.get', by, input)
    if (found === undefined) return
    this.#compareBelief(by, answer['belief'] as Json, found)
    if (!past) return
    const history = this.#plain.history(by, found.holder, found.chain)
    const ids = (answer['history'] as readonly Json[]).map(one => one['id'])
    expect(ids).toEqual(history.map(one => one.id))
    for (const [at, one] of history.entries())
      this.#compareBelief(by, (answer['history'] as readonly Json[])[at] as Json, one)
  }

  async #ask(by: string, asked: Asked): Promise<void> {
    const wire = this.#wireQuery(by, asked)
    const { limit } = asked.options as { limit: number }
    for (let offset = 0, total = 1; offset < total && offset <= 2 * limit; offset += limit) {
      // Again for each page: what the one before returned has been used since.
      const world = { world: this.#plain, viewer: by, now: this.#now, pseudonym: this.#pseudonym(by) }
      const expected = askPlain(world, { ...wire, words: asked.words })
      const options = { ...wire.options, offset }
      const input = { semantic: written(asked.words), filters: wire.filters, context: wire.context, options }
      const answer = await this.#must(null, 'beliefs.query', by, input)
      this.#compare(by, answer, expected, { ...wire, isText: asked.words.length > 0 }, offset)
      if (asked.options['dry_run'] !== true) this.#use(by, answer)
      if (offset === 0) await this.#count(by, input, expected)
      this.figures.pages++
      total = expected.all.length
    }
  }

  async #count(by: string, input: Json, { total, byScope, copies }: PlainAnswer): Promise<void> {
    const counted = await this.#must(null, 'beliefs.count', by, input)
    expect([counted['total'], counted['by_scope']]).toEqual([total, byScope])
    this.figures.questions++
    this.figures.copies += copies
  }

  #compare(
    by: string,
    answer: Json,
    expected: PlainAnswer,
    asked: { readonly options: Json; readonly isText: boolean },
    offset: number,
  ): void {
    const { all, total, weights } = expected
    const rows = answer['beliefs'] as readonly RankedBelief[]
    const page = all.slice(offset, offset + (asked.options['limit'] as number))
    expect(answer['total_count']).toBe(total)
    expect(rows.length, 'rows').toBe(page.length)
    const verdict = answer['verdict']
    if (asked.isText) expect(verdict === 'nothing_relevant').toBe(total === 0)
    else expect(verdict).toBeUndefined()
    const closest = (answer['nearest'] ?? []) as readonly RankedBelief[]
    expect(closest.length, 'nearest').toBe(expected.nearest.length)
    for (const [at, { score }] of closest.entries()) {
      near('nearest', score.components.semantic_similarity, ((expected.nearest[at] as number) + 1) / 2)
    }
    const echoed = answer['effective_weights'] as Json
    for (const name of ['semantic', 'confidence', 'trust', 'recency'] as const) near(name, echoed[name], weights[name])
    const warned = (answer['warnings'] as readonly Json[]).some(({ code }) => code === 'vectors_pending')
    expect(warned, 'vectors pending').toBe(expected.pending > 0)
    for (const [at, row] of rows.entries()) {
      const here = all.find(({ belief }) => belief.id === row.belief.id)
      const there = page[at] as PlainHit
      if (here === undefined) throw new Error(`${row.belief.id} is not among what matches`)
      if (here !== there) {
        if (Math.abs(here.final - there.final) > ALIKE || here.final === there.final)
          expect(rows.map(one => one.belief.id)).toEqual(page.map(({ belief }) => belief.id))
        this.figures.swapped++
      }
      expect(row.rank).toBe(offset + at + 1)
      this.#compareRow(by, row, here, asked.options)
    }
    this.figures.hits += rows.length
    if (total === 0) this.figures.emptyAnswers++
  }

  #compareRow(by: string, row: RankedBelief, hit: PlainHit, options: Json): void {
    const { components, final } = row.score
    near('final', final, hit.final)
    if (hit.semantic === null) expect(components.semantic_similarity).toBeNull()
    else near('semantic', components.semantic_similarity, hit.semantic)
    near('confidence', components.confidence_score, hit.confidence)
    near('trust', components.trust_score, hit.trust)
    near('recency', components.recency_score, hit.recency)
    near('penalty', components.diversity_penalty, hit.penalty)
    expect(row.source).toEqual(hit.source)
    const federation = hit.source.kind === 'federated' ? (hit.source.id as string) : undefined
    expect([row.federation_id, row.member_count]).toEqual(
      federation === undefined ? [undefined, undefined] : [federation, this.#plain.memberCount(federation, hit.belief)],
    )
    if (federation !== undefined) this.figures.pseudonyms++
    if (hit.penalty < 0) this.figures.penalties++
    if (hit.kind === 'transitive') this.figures.transitive++
    this.#compareBelief(by, row.belief as unknown as Json, hit.belief, hit.holder)
    if (options['include_derivation'] !== true) return
    const chain = this.#plain.chain(by, hit.belief, (options['max_derivation_depth'] as number | undefined) ?? 5)
    expect(row.derivation_chain?.chain.map(link => [link.belief_id, link.depth])).toEqual(chain)
    expect(row.derivation_chain?.depth).toBe(chain.at(-1)?.[1])
  }

  #compareBelief(by: string, shown: Json, belief: PlainBelief, holder = this.#shownHolder(by, belief)): void {
    const isOwn = belief.holder === by
    const before = this.#plain.versions.find(one => one.holder === belief.holder && one.id === belief.supersedes)
    const isReported = before !== undefined && (isOwn || this.#plain.isShownAlike(by, before, belief))
    const sources = belief.sources.filter(source => this.#plain.named(by, source) !== undefined)
    const { id, content, confidence, visibility, domains } = belief
    // Counted over what the requester may read (BQ-112).
    const readable = this.#plain.history(by, belief.holder, belief.chain)
    const version = readable.length - readable.indexOf(belief)
    expect(shown).toMatchObject({
      ...{ id, version, content, confidence, visibility, domains },
      content_hash: hashOf(content),
      holder_id: holder,
      federation_ids: isOwn ? belief.federations : this.#plain.through(by, belief),
      supersedes: isReported ? belief.supersedes : null,
      superseded_by: belief.supersededBy,
      created_at: new Date(belief.created).toISOString(),
      valid_from: new Date(belief.validFrom).toISOString(),
    })
    const derivation = shown['derivation'] as { readonly sources: readonly Json[] }
    expect(derivation.sources.map(source => source['belief_id'])).toEqual(sources.map(source => source.belief_id))
  }

  #shownHolder(by: string, belief: PlainBelief): string | null {
    const source = this.#plain.sourceOf(by, belief, EVERYWHERE)
    if (source?.kind !== 'federated') return belief.holder
    const id = source.id as string
    return this.#plain.federations.get(id)?.strict ? null : this.#pseudonym(by)(id, belief.holder)
  }

  /** BQ-072: who was returned is in use, and of what came through a federation that. */
  #use(by: string, answer: Json): void {
    const now = this.#now
    for (const { belief, source } of answer['beliefs'] as readonly RankedBelief[]) {
      const used = source.kind === 'federated' ? `federation:${source.id}` : belief.holder_id
      const edge = used === null ? undefined : this.#plain.edges.get(by)?.get(used)
      if (edge === undefined || now - edge.lastUsed < TOUCH_MS) continue
      edge.usedBefore = edge.lastUsed
      edge.lastUsed = now
    }
  }

  #pseudonym(by: string): (federation: string, holder: string) => string {
    const secret = this.#engines[0]?.host('beliefs').store.meta('beliefs.secret')
    // Before the first answer there is none, and then nobody has been shown one.
    return (federation, holder) =>
      secret === undefined ? `unmade ${federation} ${holder}` : pseudonymOf(secret, federation, by, holder)
  }

  #wire({ validDays, type, sources, federations, ...draft }: Draft): Json {
    const derivation =
      type === undefined && sources === undefined
        ? {}
        : { derivation: { type: type ?? 'assumption', sources: sources ?? [] } }
    const until = typeof validDays === 'number' ? this.#iso(-validDays) : validDays
    return {
      ...draft,
      ...derivation,
      ...(federations === undefined ? {} : { federation_ids: federations }),
      ...(validDays === undefined ? {} : { valid_until: until }),
    }
  }

  #plainDraft({ validDays, type, sources, domains, federations, ...draft }: Draft): PlainDraft {
    const derivation =
      type === undefined && sources === undefined ? {} : { type: type ?? 'assumption', sources: sources ?? [] }
    const until = typeof validDays === 'number' ? this.#now + validDays * DAY_MS : validDays
    return {
      ...(draft as PlainDraft),
      ...derivation,
      ...(domains === undefined ? {} : { domains: [...new Set(domains.map(normalDomain))] }),
      ...(federations === undefined ? {} : { federations: [...federations].sort() }),
      ...(until === undefined ? {} : { validUntil: until }),
    }
  }

  /** Holders as they are shown to the requester, times as they are written. */
  #wireQuery(by: string, { filters, context, options }: Asked): Omit<Asked, 'words'> {
    const pseudonym = this.#pseudonym(by)
    const holders = (some: readonly Shown[]) =>
      some.map(({ holder, via }) => (via === null ? holder : pseudonym(via, holder)))
    const member = (name: string, value: unknown): unknown => {
      if (value === null) return value
      if (name === 'holder_ids' || name === 'exclude_holders') return holders(value as readonly Shown[])
      const isTime = typeof value === 'object' && 'daysAgo' in value
      return isTime ? this.#iso((value as unknown as Ago).daysAgo) : value
    }
    const parts = filters.map(part =>
      typeof part === 'string'
        ? part
        : Object.fromEntries(Object.entries(part).map(([name, value]) => [name, member(name, value)])),
    )
    return { filters: parts, context, options }
  }

  #iso(daysAgo: number): string {
    return new Date(this.#now - daysAgo * DAY_MS).toISOString()
  }
}

function trustQuestion(context: Json) {
  const clamp = (value: unknown, usual: number, least: number, most: number) =>
    Math.min(most, Math.max(least, (value as number | undefined) ?? usual))
  return {
    domains: [...new Set(((context['query_domains'] ?? []) as readonly string[]).map(normalDomain))],
    domainTrustWeight: (context['domain_trust_weight'] as number | undefined) ?? 0.5,
    maxHops: clamp(context['max_trust_hops'], 3, 1, 5),
    damping: clamp(context['transitive_damping'], 0.7, 0.1, 0.9),
  }
}

function near(what: string, answer: unknown, expected: number): void {
  if (typeof answer === 'number' && Math.abs(answer - expected) <= TOLERANCE) return
  expect([what, answer]).toEqual([what, expected])
}
