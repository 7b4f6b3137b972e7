/**
 * The trust edges of all agents hosted on this node, in memory. They are read once; afterwards the store's log of changed edges is
 * followed, whichever process made the changes. Invalid edges are ignored, and reported by the command `doctor` (BQ-068).
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Row } from '../../../model/table.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import type { EdgeView, edgesAnswer, trustAnswer, trustListInput } from '../schema/agents.ts'
import type { Value } from '../schema/values.ts'
import { TRUST } from '../tables.ts'
import { type AgentFacts, agentFacts, didOfAgent, type EdgeName, edgesSince, revision } from './agent-facts.ts'
import {
  CountedEdges,
  countedEdge,
  edgeOf,
  edgeStatement,
  type Span,
  type TrustEdge,
  type TrustQuestion,
  type TrustRules,
  trustBand,
} from './edge.ts'
import { EdgeChecker, edgeRows, TOUCH_EVERY_MS, touchEdges } from './edges.ts'
import { HolderTrust } from './holders.ts'
import { isWithin, type Routes, searchRoutes, spanAfter, type TrustAsked } from './routes.ts'

/**
 * If more edges than this have changed at once, all cached routes are dropped, because searching again is faster than comparing each change
 * with each cached result.
 */
const MIN_TO_CLEAR = 256
/** Estimated bytes in memory for one trust edge or one agent. */
const BYTES_EACH = 150
/** Maximum bytes of all cached routes together, and estimated bytes of one cached result in addition to its arrays. */
const MAX_BYTES = 64 * 2 ** 20
const ROUTES_BYTES = 500
const NO_ROUTES: Routes = {
  firsts: [],
  begins: new Int32Array(1),
  hops: new Int32Array(0),
  levels: new Float64Array(0),
  expanded: new Bitset(0),
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  byteLength: 0,
}

/** Number of edges that are checked and loaded between two pauses in which other work can run: some milliseconds of work. */
const LOADED_AT_ONCE = 250

/** Progress of loading all trust edges from the store. */
interface Loading {
  readonly rows: Iterator<Row>
  readonly checker: EdgeChecker
  /**
   * Number of the last entry in the log of changed edges, and the counter of changed agents, before the first row was read. Later changes
   * are applied after loading.
   */
  readonly last: number
  readonly agentsRevision: number
}

/** Numbers by which changes of trust are recognised, one for each of the three kinds of data on which trust depends. */
export interface TrustMark {
  /**
   * A number that becomes another when edges of other agents change in a way that affects the viewer's trust; NaN: unknown. It has no other
   * meaning.
   */
  readonly routes: number
  /** Number of changes of the viewer's own edges. */
  readonly own: number
  /** Number of times that agents and their reputations were read; they are read again when they have changed. */
  readonly agents: number
}

interface Kept {
  /**
   * The input with which the routes were computed. When an edge changes, its old and new level, each rounded to tenths, are compared for
   * the time in this input; if they are equal, the routes stay valid.
   */
  readonly asked: TrustAsked
  readonly routes: Routes
  /** Period during which a new search would find equal routes; it becomes shorter when edges change. */
  span: Span
  /**
   * Number by which callers notice that the routes have changed. If routes are searched again only because time has passed, the new ones
   * get the same number.
   */
  readonly mark: number
}

export class TrustGraph {
  readonly #store: Store
  readonly #rules: TrustRules
  /**
   * Facts about agents, and trust edges. Both objects are replaced, not changed, when everything is read again, so that results computed
   * earlier stay consistent.
   */
  #agents: ReadonlyMap<string, AgentFacts> = new Map()
  #edges = new CountedEdges()
  /**
   * Cached routes by viewer and question. They stay valid while the level, rounded to tenths, of every edge that the search followed stays
   * the same. Most uses of an edge change its level too little to invalidate them.
   */
  readonly #kept = new Recent<string, Kept>(Number.POSITIVE_INFINITY, { max: MAX_BYTES, of: bytesOf })
  #marks = 0
  #searches = 0
  /** By name of the owner: number of changes of the owner's edges. */
  readonly #ownChanges = new Map<string, number>()
  /** Number of the last entry that was read from the log of changed edges; -1: the edges were not loaded yet. */
  #seen = -1
  #agentReads = 0
  #agentsRevision = -1
  /** Progress of loading all edges; null: they are not being loaded at the moment. */
  #loading: Loading | null = null
  #version: number | null = null

  constructor(store: Store, rules: TrustRules) {
    this.#store = store
    this.#rules = rules
  }

  /**
   * The viewer's trust in all agents for a question. `asOf` may be any time, past or future. `look` is called during the search for routes,
   * and may throw to stop it.
   */
  trustOf(viewer: string, question: TrustQuestion, asOf: Instant, look?: () => void): HolderTrust {
    const asked = this.#asked(viewer, question, asOf, look)
    return new HolderTrust(asked, this.#routesOf(asked))
  }

  /**
   * Like `trustOf`, but includes uses of the viewer's own edges within the millisecond `asOf`, which otherwise count from the next one on.
   * The routes are those of `asOf`, so that the two do not take two searches.
   */
  trustAfter(viewer: string, question: TrustQuestion, asOf: Instant): HolderTrust {
    const asked = this.#asked(viewer, question, asOf)
    return new HolderTrust({ ...asked, asOf: asOf + 1 }, this.#routesOf(asked))
  }

  #asked(viewer: string, question: TrustQuestion, asOf: Instant, look?: () => void): TrustAsked {
    this.refresh()
    const [agents, edges, rules] = [this.#agents, this.#edges, this.#rules]
    return { agents, edges, rules, viewer, question: inOrder(question), asOf, look }
  }

  #routesOf(asked: TrustAsked): Routes {
    const { look: _, ...kept } = asked
    // For viewers without trust edges nothing is cached: anybody may ask, and the cache would fill with useless entries.
    if (asked.edges.of(asked.viewer).size === 0) return NO_ROUTES
    const key = keyOf(asked)
    const known = this.#kept.find(key)
    if (known !== undefined && isWithin(known.span, asked.asOf)) return known.routes
    // When an edge changes, each cached result is checked as of the time for which it was computed. So routes for a time before that of the
    // newest result are cached under a key of their own and never replace the newest result.
    const isEarlier = known !== undefined && asked.asOf < known.asked.asOf
    const earlier = isEarlier ? this.#kept.find(`${key} earlier`) : undefined
    if (earlier !== undefined && isWithin(earlier.span, asked.asOf)) return earlier.routes
    this.#searches++
    const routes = searchRoutes(asked)
    const mark = known?.mark ?? ++this.#marks
    this.#kept.set(isEarlier ? `${key} earlier` : key, { asked: kept, routes, span: routes, mark })
    return routes
  }

  /**
   * Numbers that change when the viewer's trust in an agent may have changed for another reason than the passing of time: results with
   * equal numbers differ only by fading. NaN, which equals nothing, means that it is unknown. The numbers have no other meaning.
   */
  mark(viewer: string, question: TrustQuestion): TrustMark {
    this.refresh()
    const kept = this.#kept.find(keyOf({ viewer, question: inOrder(question) }))
    // For routes that were dropped from the cache it is unknown whether they have changed, so the number is NaN.
    const routes = this.#edges.of(viewer).size === 0 ? 0 : (kept?.mark ?? Number.NaN)
    return { routes, own: this.#ownChanges.get(viewer) ?? 0, agents: this.#agentReads }
  }

  /** The targets, each once, to which the viewer has a trust edge whose last recorded use is at least a minute ago. */
  unused(viewer: string, targets: readonly string[], now: Instant): readonly string[] {
    this.refresh()
    const own = this.#edges.of(viewer)
    return [...new Set(targets)].filter(target => {
      const lastUsed = own.get(target)?.edge.lastUsed
      return lastUsed !== undefined && lastUsed <= now - TOUCH_EVERY_MS
    })
  }

  /** Number of valid trust edges in memory. */
  get size(): number {
    return this.#edges.size
  }

  /** Estimated bytes of edges, agents and cached routes in memory. */
  get byteLength(): number {
    const kept = this.#kept.entries().reduce((sum, [, each]) => sum + bytesOf(each), 0)
    return (this.size + this.#agents.size) * BYTES_EACH + kept
  }

  /** Number of searches for routes since this object was made, for tests and benchmarks. */
  get searches(): number {
    return this.#searches
  }

  /** Applies all changes committed since the last call. If there are none, this takes a microsecond. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => this.#follow(reader))
    this.#version = version
  }

  /**
   * Brings edges and agents up to date with all committed changes; if all edges must be loaded, it pauses so that other work can run.
   * Concurrent calls share the work, each loading the next edges, and a call of `refresh` in the meantime loads the rest at once. Not
   * allowed within a write.
   */
  *refreshInSteps(): Steps<void> {
    if (this.#store.version() === this.#version) return
    while (this.#seen < 0 && this.#store.read(reader => this.#loadSome(reader))) yield
    this.refresh()
  }

  #follow(reader: StoreReader): void {
    if (this.#seen < 0) while (this.#loadSome(reader));
    const { edges, last } = edgesSince(reader, this.#seen)
    const agentsRevision = agentsRevisionOf(reader)
    if (edges === null) {
      this.#seen = -1
      while (this.#loadSome(reader));
      return
    }
    const changed = agentsRevision === this.#agentsRevision ? [] : this.#readAgents(reader)
    if (edges.length + changed.length > 0) this.#take(reader, [...changed, ...edges])
    this.#seen = last
    this.#agentsRevision = agentsRevision
  }

  /** Loads some more edges. False: all edges are loaded, in the state of the first call or a later one. */
  #loadSome(reader: StoreReader): boolean {
    this.#loading ??= this.#beginLoading(reader)
    const { rows, checker, last, agentsRevision } = this.#loading
    try {
      for (let taken = 0; taken < LOADED_AT_ONCE; taken++) {
        const next = rows.next()
        if (next.done === true) {
          this.#seen = last
          this.#agentsRevision = agentsRevision
          this.#loading = null
          return false
        }
        const checked = checker.check(next.value)
        if ('edge' in checked) this.#edges.put(checked.edge.owner, checked.edge.target, countedEdge(checked.edge))
      }
      return true
    } catch (error) {
      this.#loading = null
      throw error
    }
  }

  #beginLoading(reader: StoreReader): Loading {
    this.#edges = new CountedEdges()
    this.#kept.clear()
    this.#agents = agentFacts(reader)
    this.#agentReads++
    const last = revision(reader, 'trust')
    // The edges are read through the store, not through the given reader, because they are read in several transactions.
    const [rows, checker] = [edgeRows(this.#store), new EdgeChecker(this.#store)]
    return { rows, checker, last, agentsRevision: agentsRevisionOf(reader) }
  }

  /**
   * Reads the facts about agents again. Returns the edges whose signatures must be checked again because their owner was added, removed, or
   * given another key.
   */
  #readAgents(reader: StoreReader): readonly EdgeName[] {
    this.#agentReads++
    const before = this.#agents
    this.#agents = agentFacts(reader)
    this.#edges.links = []
    const owners = [...new Set([...before.keys(), ...this.#agents.keys()])].filter(
      id => before.get(id)?.did !== this.#agents.get(id)?.did,
    )
    // Cached routes over edges of these agents are dropped, because the edges appear or disappear with the agents. If new agents count
    // less, all routes are dropped, because ages may have changed.
    const numbers = owners.map(owner => this.#edges.numberOf(owner))
    this.#kept.forget((_, { routes }) => this.#rules.newAgentCap || numbers.some(each => routes.expanded.has(each)))
    return owners.flatMap(owner =>
      reader
        .table(TRUST)
        .scan({ owner }, { columns: ['owner', 'target'] })
        .map(row => ({ owner, target: row['target'] as string })),
    )
  }

  #take(reader: StoreReader, changed: readonly EdgeName[]): void {
    const checker = new EdgeChecker(reader)
    if (changed.length > MIN_TO_CLEAR) this.#kept.clear()
    const kept = this.#kept.entries()
    for (const { owner, target } of changed) {
      const row = reader.table(TRUST).get({ owner, target })
      const checked = row === undefined ? null : checker.check(row)
      this.#ownChanges.set(owner, (this.#ownChanges.get(owner) ?? 0) + 1)
      const before = this.#edges.of(owner).get(target)
      if (checked !== null && 'edge' in checked) this.#edges.put(owner, target, countedEdge(checked.edge))
      else this.#edges.remove(owner, target)
      const after = this.#edges.of(owner).get(target)
      for (const [key, each] of kept) {
        const span = spanAfter(each.asked, each.routes, each.span, owner, before, after)
        if (span === null) this.#kept.delete(key)
        else each.span = span
      }
    }
  }
}

function keyOf({ viewer, question }: Pick<TrustAsked, 'viewer' | 'question'>): string {
  const { domains, domainTrustWeight, maxHops, damping } = question
  return JSON.stringify([viewer, domains, domainTrustWeight, maxHops, damping])
}

function bytesOf({ routes }: Kept): number {
  return ROUTES_BYTES + routes.byteLength
}

/** Sorts the domains of a question and removes duplicates, so that equal questions have equal keys and equally rounded sums. */
function inOrder(question: TrustQuestion): TrustQuestion {
  return { ...question, domains: [...new Set(question.domains)].sort() }
}

function agentsRevisionOf(reader: StoreReader): number {
  return revision(reader, 'agents') + revision(reader, 'members')
}

// Computes answers of the operations on trust, and records the use of trust edges after an answer. Both concern only the trust graph of the
// requester.

/**
 * `TOUCH_WAIT_MS`: milliseconds to wait for another process's write before the use of trust edges is recorded; 0, because recording must
 * not delay the answer. `MAX_LISTED`: maximum number of trust edges in one answer.
 */
const TOUCH_WAIT_MS = 0
const MAX_LISTED = 1000

export function listTrust(
  reader: StoreReader,
  owner: string,
  { after = null, limit = MAX_LISTED }: Value<typeof trustListInput> = {},
): Value<typeof edgesAnswer> {
  const page = {
    limit: Math.min(limit, MAX_LISTED) + 1,
    ...(after === null ? {} : { after: { owner, target: after } }),
  }
  const rows = reader.table(TRUST).scan({ owner }, page)
  const more = rows.length === page.limit
  const edges = (more ? rows.slice(0, -1) : rows).flatMap(row => edgeOf(row) ?? [])
  return {
    edges: edges.map(shownEdge),
    after: more ? (edges.at(-1)?.target ?? null) : null,
    did: didOfAgent(reader, owner),
  }
}

/**
 * One agent's trust in another as shown to the first: exact numbers for its own trust edge, only a band (low, medium or high) for trust by
 * edges of other agents (BQ-107).
 */
export function computeTrust(
  graph: TrustGraph,
  viewer: string,
  target: string,
  question: TrustQuestion,
  asOf: Instant,
  look?: () => void,
): Value<typeof trustAnswer> {
  const found = graph.trustOf(viewer, question, asOf, look)
  const { value, kind, direct, transitive, reputation, distrusted } = found.of(target)
  return {
    target,
    trust: value,
    kind,
    distrusted,
    direct: direct && {
      trust_level: direct.level,
      entries: direct.entries,
      base: direct.base,
      days_unused: direct.days,
      daily_rate: direct.rate,
      decayed: direct.decayed,
    },
    transitive: transitive && {
      band: trustBand(transitive.level),
      sources: transitive.sources > 1 ? 'several' : 'one',
      capped: transitive.capped,
    },
    reputation,
    as_of: new Date(asOf).toISOString(),
  }
}

/**
 * Records that an answer to the viewer contained beliefs of these agents, as a use of the viewer's trust edges (BQ-072). It never makes the
 * answer fail or wait: if the store is busy or read-only, nothing is recorded. Returns the number of edges whose use was recorded.
 */
export function noteUse(
  { store, now }: { readonly store: Store; readonly now: Instant },
  graph: TrustGraph,
  viewer: string,
  holders: readonly string[],
): number {
  const due = graph.unused(viewer, holders, now)
  if (due.length === 0) return 0
  try {
    return store.write(now, writer => touchEdges(writer, viewer, due, now), TOUCH_WAIT_MS)
  } catch {
    return 0
  }
}

export function shownEdge(edge: TrustEdge): EdgeView {
  const { type: _, ...statement } = edgeStatement(edge)
  return { ...statement, last_used: new Date(edge.lastUsed).toISOString(), signature: edge.signature }
}
