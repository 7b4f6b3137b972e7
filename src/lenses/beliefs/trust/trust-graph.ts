/**
 * The trust of everybody hosted here, in step with the store: read once, then kept by the log of changed edges, whichever
 * process changed them. Bad edges are left out and told of (BQ-068).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Row } from '../../../model/table.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { TRUST } from '../tables.ts'
import { type AgentFacts, agentFacts } from './agent-facts.ts'
import { type CountedEdge, countedEdge, type TrustEdge } from './edge.ts'
import { EdgeChecker, type EdgeWarning, edgeRows, TOUCH_EVERY_MS } from './edges.ts'
import { HolderTrust } from './holders.ts'
import { type EdgeName, edgesSince, revision } from './revisions.ts'
import { KeptRoutes, type Routes, searchRoutes } from './routes.ts'
import type { TrustQuestion, TrustRules } from './trust-in.ts'

/** With more changes at once, searching again is quicker than holding each against all that is kept. */
const WORTH_CLEARING = 256
/** What an edge, and an agent, take in memory, near enough. */
const BYTES_EACH = 150
const NO_ROUTES: Routes = {
  places: new Map(),
  hops: [],
  expanded: new Set(),
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
  readonly routes: string
  /** The viewer's own edges. */
  readonly own: number
  /** Who is known here, and their reputations. */
  readonly agents: number
}

export class TrustGraph {
  readonly #store: Store
  readonly #rules: TrustRules
  /** Replaced when read again. */
  #agents: ReadonlyMap<string, AgentFacts> = new Map()
  /** By owner, then by target. */
  readonly #edges = new Map<string, Map<string, CountedEdge>>()
  readonly #kept = new KeptRoutes()
  /** By owner: how often an edge of theirs changed. */
  readonly #ownChanges = new Map<string, number>()
  readonly #warnings = new Map<string, EdgeWarning>()
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
    const asked = { agents, edges, rules, viewer, question: inOrder(question), asOf, look }
    // Nothing is kept of those without edges: anybody may ask.
    const routes = edges.has(viewer) ? this.#kept.get(asked, () => searchRoutes(asked)) : NO_ROUTES
    return new HolderTrust(asked, routes)
  }

  /**
   * Changes when something else than time may have changed the viewer's trust in anybody: what was made under the same
   * mark differs by the time between alone. Of no meaning otherwise.
   */
  mark(viewer: string, question: TrustQuestion): TrustMark {
    this.refresh()
    const routes = this.#kept.mark({ viewer, question: inOrder(question) })
    return { routes, own: this.#ownChanges.get(viewer) ?? 0, agents: this.#agentReads }
  }

  /** Those of these agents whose edge from the viewer was not noted as used for a while; each once. */
  unused(viewer: string, targets: readonly string[], now: Instant): readonly string[] {
    this.refresh()
    const own = this.#edges.get(viewer)
    return [...new Set(targets)].filter(target => {
      const lastUsed = own?.get(target)?.lastUsed
      return lastUsed !== undefined && lastUsed <= now - TOUCH_EVERY_MS
    })
  }

  /** Edges that are not used, and why; as many as there are. For the doctor and the log. */
  warnings(): readonly EdgeWarning[] {
    this.refresh()
    return [...this.#warnings.values()]
  }

  /** Number of edges in use. */
  get size(): number {
    return [...this.#edges.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** Of edges and agents, and of routes kept. */
  get byteLength(): number {
    return (this.size + this.#agents.size) * BYTES_EACH + this.#kept.byteLength
  }

  /** How often routes were kept and how often searched: for tests and counters. */
  get searches(): { readonly kept: number; readonly made: number } {
    return this.#kept.searches
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
    this.#edges.clear()
    this.#kept.clear()
    this.#warnings.clear()
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
    const owners = [...new Set([...before.keys(), ...this.#agents.keys()])].filter(
      id => before.get(id)?.did !== this.#agents.get(id)?.did,
    )
    this.#kept.agentsChanged(owners, this.#rules.newAgentCap)
    return owners.flatMap(owner =>
      reader
        .table(TRUST)
        .scan({ owner }, { columns: ['owner', 'target'] })
        .map(row => ({ owner, target: row['target'] as string })),
    )
  }

  #take(reader: StoreReader, changed: readonly EdgeName[]): void {
    const checker = new EdgeChecker(reader)
    if (changed.length > WORTH_CLEARING) this.#kept.clear()
    for (const { owner, target } of changed) {
      const row = reader.table(TRUST).get({ owner, target })
      const checked = row === undefined ? null : checker.check(row)
      this.#warnings.delete(nameOf({ owner, target }))
      this.#ownChanges.set(owner, (this.#ownChanges.get(owner) ?? 0) + 1)
      if (checked !== null && 'warning' in checked) this.#warn(checked.warning)
      const edge = checked !== null && 'edge' in checked ? checked.edge : null
      this.#kept.edgeChanges(owner, target, () => {
        if (edge === null) this.#remove(owner, target)
        else this.#put(edge)
      })
    }
  }

  #put(edge: TrustEdge): void {
    const own = this.#edges.get(edge.owner)
    if (own === undefined) this.#edges.set(edge.owner, new Map([[edge.target, countedEdge(edge)]]))
    else own.set(edge.target, countedEdge(edge))
  }

  #remove(owner: string, target: string): void {
    const own = this.#edges.get(owner)
    own?.delete(target)
    if (own?.size === 0) this.#edges.delete(owner)
  }

  #warn(warning: EdgeWarning): void {
    this.#warnings.set(nameOf(warning), warning)
  }
}

/** Each domain once and in one order, so that equal questions have equal sums. */
function inOrder(question: TrustQuestion): TrustQuestion {
  return { ...question, domains: [...new Set(question.domains)].sort() }
}

function agentsRevisionOf(reader: StoreReader): number {
  return revision(reader, 'agents') + revision(reader, 'members')
}

function nameOf({ owner, target }: EdgeName): string {
  return JSON.stringify([owner, target])
}
