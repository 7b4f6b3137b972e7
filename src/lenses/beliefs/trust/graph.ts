/**
 * The trust of everybody hosted here, in step with the store: read once, then kept by the log of changed edges, whichever
 * process changed them. Bad edges are left out and told of (BQ-068).
 */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Row } from '../../../model/table.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { TRUST } from '../tables.ts'
import { AgentArrays } from './agent-arrays.ts'
import type { TrustEdge } from './edge.ts'
import { EdgeArrays } from './edge-arrays.ts'
import { type EdgeName, edgesSince } from './edge-changes.ts'
import { EdgeChecker, type EdgeWarning, edgeRows } from './edge-check.ts'
import { TOUCH_EVERY_MS } from './edges.ts'
import type { HolderTrust } from './holders.ts'
import { type Reputations, reputationsOf } from './reputations.ts'
import { inOrder, ResolvedEdges, type TrustQuestion } from './resolved-edges.ts'
import { revision } from './revisions.ts'
import { RouteCache } from './route-cache.ts'
import { searchRoutes } from './routes.ts'
import { type TrustRules, weigh } from './weigh.ts'

/** With more changes at once, searching again is quicker than holding each against all that is kept. */
const WORTH_CLEARING = 256
/** 160 kB each for 10,000 agents. */
const MOST_REPUTATIONS = 32

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
  readonly routes: string
  /** The viewer's own edges. */
  readonly own: number
  /** Who is known here, and their reputations. */
  readonly agents: number
}

export class TrustGraph {
  readonly #store: Store
  readonly #rules: TrustRules
  #agents = new AgentArrays()
  #edges = new EdgeArrays()
  #cache = new RouteCache()
  /** By domains of the question. */
  readonly #reputations = new Recent<string, Reputations>(MOST_REPUTATIONS)
  /** By owner: how often an edge of theirs changed. */
  readonly #ownChanges = new Map<string, number>()
  readonly #warnings = new Map<string, EdgeWarning>()
  /** Of the log; -1: nothing was read yet. */
  #seen = -1
  /** How often all was read, and the agents alone. */
  #loads = 0
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
  trustOf(viewer: string, asked: TrustQuestion, asOf: Instant, look?: () => void): HolderTrust {
    this.refresh()
    const question = inOrder(asked)
    // Whoever is not known here has no edges, and gets no number: anybody may ask, and would be remembered for ever.
    const number = this.#agents.numberOf(viewer)
    const [agents, rules] = [this.#agents, this.#rules]
    const edges = new ResolvedEdges(this.#edges, question)
    const routes = this.#cache.get(number, question, asOf, () =>
      searchRoutes({ agents, edges, viewer: number, question, newAgentCap: rules.newAgentCap, asOf, look }),
    )
    const reputations = this.#reputations.get(JSON.stringify(question.domains), () =>
      reputationsOf(agents, question.domains),
    )
    const weighing = { viewer: number, viewerId: viewer, agents, edges, question, rules, routes, reputations }
    return weigh({ ...weighing, asOf, look })
  }

  /**
   * Changes when something else than time may have changed the viewer's trust in anybody: what was made under the same
   * mark differs by the time between alone. Of no meaning otherwise.
   */
  mark(viewer: string, asked: TrustQuestion): TrustMark {
    this.refresh()
    const routes = this.#cache.mark(this.#agents.numberOf(viewer), inOrder(asked))
    return { routes: `${this.#loads}.${routes}`, own: this.#ownChanges.get(viewer) ?? 0, agents: this.#agentReads }
  }

  /** Those of these agents whose edge from the viewer was not noted as used for a while; each once. */
  unused(viewer: string, targets: readonly string[], now: Instant): readonly string[] {
    this.refresh()
    const from = this.#agents.numberOf(viewer)
    return [...new Set(targets)].filter(target => {
      const slot = from < 0 ? -1 : this.#edges.slotOf(from, this.#agents.numberOf(target))
      return slot >= 0 && (this.#edges.lastUsed[slot] as number) <= now - TOUCH_EVERY_MS
    })
  }

  /** Edges that are not used, and why; as many as there are. For the doctor and the log. */
  warnings(): readonly EdgeWarning[] {
    this.refresh()
    return [...this.#warnings.values()]
  }

  /** Number of edges in use. */
  get size(): number {
    return this.#edges.size
  }

  /** Of edges and agents, and of routes kept. */
  get byteLength(): number {
    return this.#edges.byteLength + this.#agents.byteLength + this.#cache.byteLength
  }

  /** How often routes were kept and how often searched: for tests and counters. */
  get searches(): { readonly kept: number; readonly made: number } {
    return this.#cache.searches
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
        if ('edge' in checked) this.#put(checked.edge)
        else this.#warn(checked.warning)
      }
      return true
    } catch (error) {
      this.#loading = null
      throw error
    }
  }

  #beginLoading(reader: StoreReader): Loading {
    this.#loads++
    this.#agents = new AgentArrays()
    this.#edges = new EdgeArrays()
    this.#cache = new RouteCache()
    this.#warnings.clear()
    this.#reputations.clear()
    this.#agents.read(reader)
    const last = revision(reader, 'trust')
    // The store itself: edges are read in transactions of their own.
    const [rows, checker] = [edgeRows(this.#store), new EdgeChecker(this.#store)]
    return { rows, checker, last, agentsRevision: agentsRevisionOf(reader) }
  }

  /** Edges that may count otherwise now, because their owner came, went, or has another key. */
  #readAgents(reader: StoreReader): readonly EdgeName[] {
    this.#agentReads++
    const owners = this.#agents.read(reader)
    this.#reputations.clear()
    this.#cache.agentsChanged(new Set(owners.map(owner => this.#agents.take(owner))), this.#rules.newAgentCap)
    return owners.flatMap(owner =>
      reader
        .table(TRUST)
        .scan({ owner }, { columns: ['owner', 'target'] })
        .map(row => ({ owner, target: row['target'] as string })),
    )
  }

  #take(reader: StoreReader, changed: readonly EdgeName[]): void {
    const checker = new EdgeChecker(reader)
    if (changed.length > WORTH_CLEARING) this.#cache.clear()
    for (const { owner, target } of changed) {
      const row = reader.table(TRUST).get({ owner, target })
      const checked = row === undefined ? null : checker.check(row)
      this.#warnings.delete(nameOf({ owner, target }))
      this.#ownChanges.set(owner, (this.#ownChanges.get(owner) ?? 0) + 1)
      if (checked !== null && 'warning' in checked) this.#warn(checked.warning)
      const edge = checked !== null && 'edge' in checked ? checked.edge : null
      const [from, to] = [this.#agents.take(owner), this.#agents.take(target)]
      this.#cache.edgeChanges(from, to, this.#agents, this.#edges, () => {
        if (edge === null) this.#edges.remove(from, to)
        else this.#put(edge)
      })
    }
  }

  #put({ owner, target, level, lastUsed, usedBefore, basis, persistent, exposure, domains }: TrustEdge): void {
    const manual = basis.some(({ type }) => type === 'MANUAL')
    const exposed = exposure === 'exposed'
    const values = { level, lastUsed, usedBefore, manual, persistent, exposed, domains }
    this.#edges.put(this.#agents.take(owner), this.#agents.take(target), values)
  }

  #warn(warning: EdgeWarning): void {
    this.#warnings.set(nameOf(warning), warning)
  }
}

function agentsRevisionOf(reader: StoreReader): number {
  return revision(reader, 'agents') + revision(reader, 'members')
}

function nameOf({ owner, target }: EdgeName): string {
  return JSON.stringify([owner, target])
}
