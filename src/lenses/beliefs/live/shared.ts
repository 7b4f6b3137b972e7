/**
 * Data shared by all live queries over beliefs in an engine: the store's change feed, and for each viewer whether access or trust has
 * changed for a reason other than the passing of time.
 */
import type { Instant } from '../../../base/clock.ts'
import { onePer, Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { RecentChanges } from '../../../pipeline/recent-changes.ts'
import type { Change } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { DAY_MS } from '../measures/confidence.ts'
import type { BeliefsState } from '../state.ts'
import { faded, federationTarget, type TrustQuestion } from '../trust/edge.ts'
import type { HolderTrust } from '../trust/holders.ts'
import type { TrustMark } from '../trust/trust-graph.ts'

/**
 * Maximum number of belief vectors in the cache, one or two kilobytes each. Each query that is computed again reads the vectors of all
 * beliefs changed since its last answer, so a smaller cache than there are such beliefs would be of no use.
 */
const MAX_VECTORS = 2_048

/**
 * Maximum number of objects that are cached to detect changes of a viewer's access, and likewise of those for a viewer's trust in one
 * query. A live query keeps its own objects as long as it exists, even if they leave the cache.
 */
const MAX_WATCHES = 256

export class LiveShared {
  readonly #state: BeliefsState
  readonly #changes: RecentChanges
  readonly #vectors = new Recent<EntryKey, { readonly vector: Float32Array | null }>(MAX_VECTORS)
  readonly #scopes = new Recent<string, AccessWatch>(MAX_WATCHES)
  readonly #trusts = new Recent<string, TrustWatch>(MAX_WATCHES)
  #caughtUp: number | null = null
  /** Position in the store's change feed up to which `catchUp` has read. */
  position: number

  constructor(state: BeliefsState) {
    this.#state = state
    this.#changes = new RecentChanges(state.host.store)
    this.position = this.#changes.position()
  }

  /**
   * Reads new changes from the store's change feed and returns the store's version. If the version has not changed, nothing was committed
   * since.
   */
  catchUp(): number {
    const version = this.#state.host.store.version()
    if (version === this.#caughtUp) return version
    const before = this.position
    this.position = this.#changes.position()
    const changed = this.since(before)
    const entries = changed && new Set(changed.map(({ entry }) => entry))
    this.#vectors.forget(entry => entries === null || entries.has(entry))
    this.#state.columns.refresh()
    this.#caughtUp = version
    return version
  }

  /**
   * Changes of beliefs after a position in the change feed, in ascending order, up to the position where `catchUp` last stopped; null:
   * changes that old are no longer kept.
   */
  since(position: number): readonly Change[] | null {
    return position === this.position ? [] : this.#changes.since(position)
  }

  /** Vector of an entry by this embedding model, read at the last `catchUp` or later; null: the entry has no vector yet. */
  vectorOf(entry: EntryKey, model: string): Float32Array | null {
    const { store } = this.#state.host
    return this.#vectors.get(entry, () => {
      const chunk = store.firstChunks([entry]).get(entry)
      const found = chunk === undefined ? [] : store.vectorsOnly(model, [chunk])
      return { vector: found[0]?.vector ?? null }
    }).vector
  }

  accessScopeOf(viewer: string): AccessWatch {
    return this.#scopes.get(viewer, () => new AccessWatch(this.#state, viewer))
  }

  trustOf(viewer: string, question: TrustQuestion): TrustWatch {
    return this.#trusts.get(JSON.stringify([viewer, question]), () => new TrustWatch(this.#state, viewer, question))
  }
}

export const liveShared: (state: BeliefsState) => LiveShared = onePer(state => new LiveShared(state))

export class AccessWatch {
  readonly #state: BeliefsState
  readonly #viewer: string
  #requester: Requester
  #revision = 0
  #version: number | null = null

  constructor(state: BeliefsState, viewer: string) {
    this.#state = state
    this.#viewer = viewer
    this.#requester = state.requester(viewer)
  }

  /** The requester with the memberships that were current at the last `refresh`. */
  get requester(): Requester {
    return this.#requester
  }

  /**
   * Returns a revision number that increases when the requester sees other partitions than at the last call, or sees a partition through
   * other federations. `version`: present version of the store.
   */
  refresh(version: number): number {
    if (version === this.#version) return this.#revision
    this.#version = version
    const now = this.#state.requester(this.#viewer)
    if (now === this.#requester) return this.#revision
    if (!seeAlike(this.#requester, now)) this.#revision++
    this.#requester = now
    return this.#revision
  }
}

function seeAlike(before: Requester, now: Requester): boolean {
  if (before.federations.join('\n') !== now.federations.join('\n')) return false
  if (now.federations.some(id => before.isStrict(id) !== now.isStrict(id))) return false
  const isTheSame = (partition: number) =>
    before.kindOf(partition) === now.kindOf(partition) &&
    before.federationsOf(partition).join('\n') === now.federationsOf(partition).join('\n')
  return (
    before.accessScope.partitions.every(isTheSame) &&
    // Partitions that did not exist before are ignored, because the change feed reports the beliefs in them.
    now.accessScope.partitions.every(partition => !before.knows(partition) || isTheSame(partition))
  )
}

interface Base {
  readonly trust: HolderTrust
  readonly asOf: Instant
}

/** Largest difference of two equal trust values that were computed in different ways, caused by rounding. */
const NOISE = 1e-12
/** Maximum number of trust changes for which the affected beliefs are remembered; older changes count as affecting all beliefs. */
const MAX_TRUST_CHANGES = 64

export class TrustWatch {
  readonly #state: BeliefsState
  readonly #viewer: string
  readonly #question: TrustQuestion
  #revision = 0
  /**
   * One element for each recent revision of the viewer's trust, oldest first: the beliefs visible to the viewer whose holders' trust
   * changed with this revision. A null element means that all beliefs may be affected.
   */
  readonly #changed: (readonly EntryKey[] | null)[] = []
  #mark: TrustMark | null = null
  #version: number | null = null
  #base: Base | null = null

  constructor(state: BeliefsState, viewer: string, question: TrustQuestion) {
    this.#state = state
    this.#viewer = viewer
    this.#question = question
  }

  /**
   * Returns a revision number that increases when the viewer's trust in the holder of some visible belief has changed since the last call,
   * other than by the passing of time. The columns of beliefs must be up to date. `version`: present version of the store.
   */
  refresh(requester: Requester, now: Instant, version: number): number {
    if (version === this.#version) return this.#revision
    this.#version = version
    const mark = this.#state.trust.mark(this.#viewer, this.#question)
    const base = this.#base
    if (base !== null && isSame(mark, this.#mark)) return this.#revision
    const isUsed = base !== null && mark.own !== this.#mark?.own && this.#isFresher(base, now)
    this.#mark = mark
    const fresh = this.#at(base?.asOf ?? now)
    this.#base = { trust: fresh, asOf: base?.asOf ?? now }
    if (base === null) return this.#revision
    // Using a trust edge raises trust in its target and in everybody who is trusted through the target, so all beliefs may be affected.
    const changed = isUsed ? null : this.#met(base.trust.differences(fresh), requester)
    if (changed?.length === 0) return this.#revision
    this.#base = { trust: this.#at(now), asOf: now }
    this.#changed.push(changed)
    if (this.#changed.length > MAX_TRUST_CHANGES) this.#changed.shift()
    return ++this.#revision
  }

  /**
   * Beliefs whose holders' trust has changed since a revision, as far as they were visible at the time of the change; null: all beliefs may
   * be affected.
   */
  changedSince(revision: number): readonly EntryKey[] | null {
    const count = this.#revision - revision
    if (count > this.#changed.length) return null
    const changes = this.#changed.slice(this.#changed.length - count)
    return changes.some(entries => entries === null) ? null : changes.flatMap(entries => entries ?? [])
  }

  /**
   * Makes the trust at the moment of an answer the base with which later trust is compared to find out whether it has changed other than by
   * fading. `refresh` must be called before.
   */
  answered(asOf: Instant): void {
    if (this.#base === null || this.#base.asOf === asOf) return
    const trust = this.#at(asOf)
    // If trust has changed since the last `refresh`, the trust of the earlier answer stays the base of comparison, so that the next
    // `refresh` notices the change.
    if (isSame(this.#state.trust.mark(this.#viewer, this.#question), this.#mark)) this.#base = { trust, asOf }
  }

  /**
   * Whether one of the requester's trust edges now has another level than the level recorded at the last answer, faded by the time passed
   * since, would give. The reason is that the edge was used, which renews it.
   */
  #isFresher({ trust, asOf }: Base, now: Instant): boolean {
    const days = Math.max(0, now - asOf) / DAY_MS
    const edges = this.#at(now).own
    return [...trust.own].some(([target, { base, rate, days: before }]) => {
      const edge = edges.get(target)
      return edge !== undefined && Math.abs(edge.decayed - faded(base, rate, before + days)) > NOISE
    })
  }

  /** Trust at this instant, uses of the viewer's edges within its millisecond included. */
  #at(asOf: Instant): HolderTrust {
    return this.#state.trust.trustAfter(this.#viewer, this.#question, asOf)
  }

  /**
   * Beliefs held by these agents that the requester sees. Null: the list contains a federation of the requester, so the beliefs of any of
   * its members may be affected.
   */
  #met(agents: readonly string[], { federations, accessScope }: Requester): readonly EntryKey[] | null {
    if (agents.length === 0) return []
    const named = new Set(agents)
    if (federations.some(id => named.has(federationTarget(id)))) return null
    const { columns } = this.#state
    const { holders, entries } = columns.arrays
    const isTheirs = new Uint8Array(columns.texts.bounds.holders)
    for (const agent of agents) {
      const number = columns.texts.holderNumber(agent)
      if (number !== -1) isTheirs[number] = 1
    }
    const met: EntryKey[] = []
    for (const partition of accessScope.partitions) {
      for (const row of columns.rowsIn(partition))
        if (isTheirs[holders[row] as number] === 1) met.push(entries[row] as EntryKey)
    }
    return met
  }
}

function isSame(mark: TrustMark, other: TrustMark | null): boolean {
  return other !== null && mark.routes === other.routes && mark.own === other.own && mark.agents === other.agents
}
