/**
 * The trust of everybody hosted here, in step with the store: read once, then kept by the log of changed edges, whichever
 * process changed them. Bad edges are left out; the doctor names them (BQ-068).
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

/** With more changes at once, searching again is quicker than holding each against all that is kept. */
const MIN_TO_CLEAR = 256
/** What an edge, and an agent, take in memory, near enough. */
const BYTES_EACH = 150
/** Routes that are kept take so many bytes together, and each so many beside what is counted. */
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

/** Edges that are checked and taken in one step: some milliseconds of work. */
const LOADED_AT_ONCE = 250

/** A reading of all that is under way. */
interface Loading {
  readonly rows: Iterator<Row>
  readonly checker: EdgeChecker
  /** As they were before the first row was read: what changed since is followed. */
  readonly last: number
  readonly agentsRevision: number
}

/** Each part changes by itself. */
export interface TrustMark {
  /** Others' edges. */
  readonly routes: number
  /** The viewer's own edges. */
  readonly own: number
  /** Who is known here, and their reputations. */
  readonly agents: number
}

interface Kept {
  /** As of the moment at which they were made; changes are compared as of it. */
  readonly asked: TrustAsked
  readonly routes: Routes
  /** While they are what a search would find. */
  span: Span
  /** The same for as long as time alone made them others. */
  readonly mark: number
}

export class TrustGraph {
  readonly #store: Store
  readonly #rules: TrustRules
  /** Replaced when read again, like the edges. */
  #agents: ReadonlyMap<string, AgentFacts> = new Map()
  #edges = new CountedEdges()
  /**
   * Routes by viewer and question, kept for as long as every edge that they were made from counts what it counted: until
   * an edge that was looked at counts another number of tenths, by a change or by decay. What was made from other edges, and
   * edges that changed within their tenth (as every use does), cost nothing.
   */
  readonly #kept = new Recent<string, Kept>(Number.POSITIVE_INFINITY, { max: MAX_BYTES, of: bytesOf })
  #marks = 0
  #searches = 0
  /** By owner: how often an edge of theirs changed. */
  readonly #ownChanges = new Map<string, number>()
  /** Of the log; -1: nothing was read yet. */
  #seen = -1
  #agentReads = 0
  #agentsRevision = -1
  /** Null: no reading of all is under way. */
  #loading: Loading | null = null
  #version: number | null = null

  constructor(store: Store, rules: TrustRules) {
    this.#store = store
    this.#rules = rules
  }

  /** The viewer's trust in everybody. `asOf` may be any time. `look` is called while routes are searched, and may throw. */
  trustOf(viewer: string, question: TrustQuestion, asOf: Instant, look?: () => void): HolderTrust {
    this.refresh()
    const [agents, edges, rules] = [this.#agents, this.#edges, this.#rules]
    const asked: TrustAsked = { agents, edges, rules, viewer, question: inOrder(question), asOf, look }
    return new HolderTrust(asked, this.#routesOf(asked))
  }

  #routesOf(asked: TrustAsked): Routes {
    const { look: _, ...kept } = asked
    // Nothing is kept of those without edges: anybody may ask.
    if (asked.edges.of(asked.viewer).size === 0) return NO_ROUTES
    const key = keyOf(asked)
    const known = this.#kept.find(key)
    if (known !== undefined && isWithin(known.span, asked.asOf)) return known.routes
    // Changes are compared as of the moment that routes are kept for: those of an earlier moment must not replace the newest.
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
   * Changes when something else than time may have changed the viewer's trust in anybody: what was made under the same
   * mark differs by the time between alone. NaN is never the same. Of no meaning otherwise.
   */
  mark(viewer: string, question: TrustQuestion): TrustMark {
    this.refresh()
    const kept = this.#kept.find(keyOf({ viewer, question: inOrder(question) }))
    // Routes that were dropped have no mark: nothing is known to be the same as before.
    const routes = this.#edges.of(viewer).size === 0 ? 0 : (kept?.mark ?? Number.NaN)
    return { routes, own: this.#ownChanges.get(viewer) ?? 0, agents: this.#agentReads }
  }

  /** Those of these agents whose edge from the viewer was not noted as used for a while; each once. */
  unused(viewer: string, targets: readonly string[], now: Instant): readonly string[] {
    this.refresh()
    const own = this.#edges.of(viewer)
    return [...new Set(targets)].filter(target => {
      const lastUsed = own.get(target)?.edge.lastUsed
      return lastUsed !== undefined && lastUsed <= now - TOUCH_EVERY_MS
    })
  }

  /** Number of edges in use. */
  get size(): number {
    return this.#edges.size
  }

  /** Of edges and agents, and of routes kept. */
  get byteLength(): number {
    const kept = this.#kept.entries().reduce((sum, [, each]) => sum + bytesOf(each), 0)
    return (this.size + this.#agents.size) * BYTES_EACH + kept
  }

  /** How often routes were searched: for tests and benchmarks. */
  get searches(): number {
    return this.#searches
  }

  /** Takes in what was committed since: a microsecond when that is nothing. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => this.#follow(reader))
    this.#version = version
  }

  /**
   * As `refresh`; where all edges are read, in steps. Several may be at work: each takes the next edges. `refresh` meanwhile reads
   * the rest in one piece. Not within a write.
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

  /** False: that was all, as of the moment of the first call or later. */
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
    // The store itself: edges are read in transactions of their own.
    const [rows, checker] = [edgeRows(this.#store), new EdgeChecker(this.#store)]
    return { rows, checker, last, agentsRevision: agentsRevisionOf(reader) }
  }

  /** Edges that may count otherwise now, because their owner came, went, or has another key. */
  #readAgents(reader: StoreReader): readonly EdgeName[] {
    this.#agentReads++
    const before = this.#agents
    this.#agents = agentFacts(reader)
    this.#edges.links = []
    const owners = [...new Set([...before.keys(), ...this.#agents.keys()])].filter(
      id => before.get(id)?.did !== this.#agents.get(id)?.did,
    )
    // They take their edges with them; where new agents count less, ages matter too.
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

/** Each domain once and in one order, so that equal questions have equal sums. */
function inOrder(question: TrustQuestion): TrustQuestion {
  return { ...question, domains: [...new Set(question.domains)].sort() }
}

function agentsRevisionOf(reader: StoreReader): number {
  return revision(reader, 'agents') + revision(reader, 'members')
}

// What operations on trust tell, and the note that an answer rested on trust. Each acts on the trust graph of the requester, and no other.

/** Use is written after an answer, which should not wait for other processes' writes. */
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

/** The trust of one agent in another: its own edge exactly; trust by edges of others as a band (BQ-107). */
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
 * Notes that the viewer was given something by these agents (BQ-072). Never in the way of an answer: where the store is
 * busy or cannot be written, use is not noted. Says how many edges were.
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
