/** What the parts of the lens share in one engine. */
import { Recent } from '../../base/recent.ts'
import { modelKey } from '../../embed/embedder.ts'
import type { VectorIndex } from '../../index/contract.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Sight } from '../../model/viewer.ts'
import { CurrentMembers } from '../../pipeline/access.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../store/core-tables.ts'
import type { Store } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { Secret } from './access/pseudonym.ts'
import { Requester } from './access/requester.ts'
import type { ShowView } from './access/show.ts'
import { Contents } from './query/contents.ts'
import { Scopes } from './query/in-scope.ts'
import { Standings } from './query/standing.ts'
import { Statics } from './query/statics.ts'
import { BeliefColumns } from './record/columns.ts'
import { type BeliefsSettings, DEFAULTS } from './settings.ts'
import type { TimeLimit } from './time-limit.ts'
import { TrustGraph } from './trust/graph.ts'

export interface BeliefsState {
  readonly host: LensHost
  readonly settings: BeliefsSettings
  readonly columns: BeliefColumns
  readonly contents: Contents
  readonly statics: Statics
  readonly scopes: Scopes
  readonly standings: Standings
  readonly trust: TrustGraph
  /** What pseudonyms and cursors are made with. Not within a read. */
  secret(): string
  /** Who asks, as memberships stand now. */
  requester(id: string): Requester
  /**
   * One state of the store, all parts of it as of the same commit: columns, requester and reader. Once to answer, and
   * again before the answer leaves. Not within a write. `time`: for how long the body may work.
   */
  look<T>(requester: string, body: (view: ShowView) => T, time?: TimeLimit): T
  /**
   * Reads what a process reads once (seconds over a hundred thousand beliefs), and then microseconds. Before a question's time
   * begins: it is no question's work, and who asks first should have an answer.
   */
  load(): void
}

const STATES = new WeakMap<LensHost, BeliefsState>()

/** Made on first use, one an engine. */
export function stateOf(host: LensHost): BeliefsState {
  const known = STATES.get(host)
  if (known !== undefined) return known
  const made = makeState(host)
  STATES.set(host, made)
  return made
}

function makeState(host: LensHost): BeliefsState {
  const { store, embedder } = host
  const settings = (host.settings as BeliefsSettings | undefined) ?? DEFAULTS
  const columns = new BeliefColumns(store)
  const requesters = new Requesters(store)
  const trust = new TrustGraph(store, settings)
  const secret = new Secret(host.store, bytes => host.random(bytes), host.clock)
  const model = embedder === null ? null : modelKey(embedder.model)
  return {
    host,
    settings,
    columns,
    contents: new Contents(store, columns),
    statics: new Statics(columns),
    scopes: new Scopes(),
    standings: new Standings(),
    trust,
    secret: () => {
      secret.make()
      return secret.value
    },
    requester: id => requesters.of(id),
    load: () => {
      columns.refresh()
      trust.refresh()
      if (model !== null) host.index(`vectors-${model}`)
    },
    look: (id, body, time) => {
      // Where pseudonyms may come up, what they are made with is made before: it is a write, which no read may hold.
      if (requesters.of(id).federations.length > 0) secret.make()
      return store.read(reader => {
        columns.refresh()
        const requester = requesters.of(id)
        const isEmbedded = (entry: EntryKey) => model !== null && hasVector(host, model, entry, requester.sight)
        return body({ reader, requester, columns, model, secret: () => secret.value, isEmbedded, time })
      })
    },
  }
}

function hasVector(host: LensHost, model: string, entry: EntryKey, { partitions }: Sight): boolean {
  return (host.index(`vectors-${model}`) as VectorIndex).has(entry, { partitions })
}

/** A byte for every partition, and some hundred for every shared one in sight. */
const REQUESTERS_KEPT = 64

/** Remembered until memberships or partitions change. */
class Requesters {
  readonly #store: Store
  readonly #members: CurrentMembers
  readonly #known = new Recent<string, Requester>(REQUESTERS_KEPT)
  #version: number | null = null
  #marks = ''
  /** How many there were. */
  #partitions = 0

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  of(id: string): Requester {
    this.#forgetOld()
    return this.#known.get(id, () => this.#store.read(reader => new Requester(reader, id, this.#members.now())))
  }

  #forgetOld(): void {
    const store = this.#store
    const version = store.version()
    if (version === this.#version) return
    this.#version = version
    const marks = [store.version(MEMBERSHIPS), store.version(FEDERATIONS)].join()
    if (marks !== this.#marks) this.#known.clear()
    this.#marks = marks
    const partitions = store.partitions()
    if (partitions.length < this.#partitions) this.#known.clear()
    // They are only ever added; one that is not seen changes nothing for who does not see it.
    const added = partitions.slice(this.#partitions)
    if (added.length > 0) this.#known.forget((_, requester) => !requester.passesOver(added))
    this.#partitions = partitions.length
  }
}
