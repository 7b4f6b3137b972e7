/**
 * A live query over beliefs (BQ-156 to BQ-169): computes its answer, and decides which later changes of the store may affect that answer,
 * so that it is computed again only then. Computing the answer again works like `beliefs.query`, but is not recorded as use of trust edges.
 */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { cosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { LiveItem, LiveQuery, LiveState } from '../../../model/live.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { Change } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { RowOrigins, type ShowView, SOURCE_NUMBERS, showCurrent } from '../access/show.ts'
import { pickPage, strategyOf } from '../answer/front.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { type Candidates, candidatesSince, type EarlierSearch, MAX_NEAREST } from '../matching/candidates.ts'
import { RowsInScope, scopeRequest } from '../matching/in-scope.ts'
import type { BeliefSource } from '../model.ts'
import type { RemoteBelief } from '../nodes/remote-belief.ts'
import { type Evaluation, evaluateInSteps } from '../query/evaluation.ts'
import { type Embedded, embedText } from '../query/understand.ts'
import {
  finalOf,
  NEAR,
  type Picked,
  type RemoteLeg,
  type ScoredBelief,
  Scorer,
  trustColumns,
  trustFound,
  trustQuestion,
} from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import { type BeliefsState, modelOf } from '../state.ts'
import { VERSIONS } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import type { TrustIn } from '../trust/edge.ts'
import type { HolderTrust } from '../trust/holders.ts'
import {
  basisOf,
  chainOfKey,
  holderOfKey,
  itemOf,
  keyOf,
  keyOfRemote,
  nodeOfKey,
  remoteItem,
  type TrustBases,
  type TrustBasis,
  textOfTrust,
} from './live-items.ts'
import { type AccessWatch, type LiveShared, liveShared, type TrustWatch } from './shared.ts'

interface Remembered {
  readonly asOf: Instant
  /** Position in the store's change feed as of the last answer; only changes after it can affect the query. */
  readonly position: number
  /**
   * Revision numbers as of the last answer: one increases when the requester's access changes (`accessScope`), one when the requester's
   * trust in others changes (`trust`).
   */
  readonly accessScope: number
  readonly trust: number
  /**
   * Returns whether an entry was a candidate that passed the filters when the last answer was computed: either it matched, or it was
   * dropped as a duplicate because another copy of the same belief matched.
   */
  readonly isCandidate: (entry: EntryKey) => boolean
  /** Lowest cosine to the query's text at which a belief that was no candidate would become one; null: at any cosine. */
  readonly meaningFloor: number | null
  /**
   * All candidates of the last answer with their cosines, including shown results, duplicates, and results on later pages. Null: the query
   * has no text, so candidates are not selected by meaning.
   */
  readonly candidates: KnownCandidates | null
  /** The scores that a new candidate must reach to change the shown page. Null: any new candidate may change the page. */
  readonly bar: Bar | null
  /** Result of the last search by vector, from which the next answer can be derived. Null: the next answer needs a new search. */
  readonly search: Search | null
}

/**
 * The search by vector from which the last answer was made, and the state of the store for which its result is valid. The stored position
 * in the change feed is that of the search; it is not advanced when later changes turn out not to affect the answer.
 */
interface Search extends EarlierSearch {
  readonly position: number
  readonly accessScope: number
  readonly asOf: Instant
  /** Instant from which the passing of time alone may bring other beliefs into the query's scope. */
  readonly until: Instant
}

/**
 * Candidates for the next answer, derived from the last search by vector and the changes since. `until`: instant from which the passing of
 * time alone may bring other beliefs into the query's scope.
 */
interface Carried {
  readonly candidates: Candidates
  readonly until: Instant
}

interface KnownCandidates {
  readonly cosines: ReadonlyMap<EntryKey, number>
  /** Cosines to the query's text of candidates that appeared after the last answer without changing it. */
  readonly later: Map<EntryKey, number>
}

/**
 * Condition under which a new candidate leaves the shown page unchanged: it scores lower than all shown results. Also limits how many such
 * candidates may be added before the page must be computed again.
 */
interface Bar {
  readonly shown: readonly ScoredBelief[]
  /**
   * Number of new candidates that may still be added before the answer must be computed again; each one lowers it by one. The number of
   * candidates is limited, so candidates nearer to the text than a shown belief could otherwise displace it.
   */
  spare: number
}

interface World {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly last: Remembered
  readonly now: Instant
  /** Vector of the query's text; null if the text was not embedded, so that words are compared, or if the query has no text. */
  readonly question: Float32Array | null
  /** Vector of an entry by the query's embedding model; null: the entry has no vector yet. */
  vectorOf(entry: EntryKey): Float32Array | null
  /** Returns a function that computes the score of a row as of now; the function is made when first needed. */
  scorer(): (row: number, source: BeliefSource, cosine: number | null) => number
}

/**
 * Whether a change of the store may affect the answer. False only if it certainly does not: the changed belief is hidden or out of scope,
 * or was not a candidate and is either still none or one that scores lower than all shown results.
 */
function isAffectedBy({ entry, partition, from }: Change, query: CheckedQuery, world: World): boolean {
  const { columns, requester, last, question } = world
  if (!requester.sees(partition) && (from === null || !requester.sees(from))) return false
  if (last.isCandidate(entry) || world.now < last.asOf) return true
  const { semantic, filters, options } = query
  // If words are compared, a score depends on all visible beliefs; if derivation depth is filtered, a match depends on other beliefs. Then
  // any change may affect the answer.
  if (semantic !== null && question === null) return true
  if (filters.some(({ maxDerivationDepth }) => maxDerivationDepth !== null)) return true
  const row = columns.rowOf(entry)
  if (row === -1) return false
  const source = requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), options.scope)
  if (source === null) return false
  const isByCosine = semantic !== null && semantic.include.length + semantic.phrases.length === 0
  if (question === null || last.meaningFloor === null || !isByCosine) return true
  const vector = world.vectorOf(entry)
  if (vector === null) return true
  const near = cosine(question, vector)
  return near >= last.meaningFloor - NEAR && !isBelowBar(row, near, source, world)
}

/**
 * Whether a new candidate ranks below all results of a page that is full, and so cannot appear on the page. If true, this function also
 * records the candidate, and reduces by one the number of candidates that may still be added without computing the page again.
 */
function isBelowBar(row: number, near: number, source: BeliefSource, world: World): boolean {
  const { columns, last } = world
  const { bar, candidates } = last
  if (bar === null || bar.spare === 0 || !isBelowShown(row, near, source, world)) return false
  bar.spare--
  candidates?.later.set(columns.arrays.entries[row] as EntryKey, near)
  return true
}

/** Whether a candidate scores below all shown results of a full page and is not a duplicate of another candidate. */
function isBelowShown(row: number, near: number, source: BeliefSource, { columns, last, scorer }: World): boolean {
  // A duplicate may replace the shown copy of the same belief, whatever its score.
  if (last.bar === null || isCopyOfAny(row, last.candidates, columns)) return false
  const score = scorer()
  const final = score(row, source, near)
  return last.bar.shown.every(one => final < score(columns.rowOf(one.entry), one.source, one.cosine) - NEAR)
}

function isCopyOfAny(row: number, candidates: Remembered['candidates'], columns: BeliefColumns): boolean {
  const { ids, entries } = columns.arrays
  const isOne = (other: number) => other !== row && nearOf(entries[other] as EntryKey, candidates) !== undefined
  for (let other = columns.firstCopy(row); other !== -1; other = columns.nextCopy(other)) if (isOne(other)) return true
  for (let other = columns.firstOfId(ids[row] as number); other !== -1; other = columns.nextOfId(other)) {
    if (isOne(other)) return true
  }
  return false
}

function nearOf(entry: EntryKey, candidates: Remembered['candidates']): number | undefined {
  return candidates?.cosines.get(entry) ?? candidates?.later.get(entry)
}

/**
 * Milliseconds after which an answer is checked again if its filters depend on the present time: `recent`, `from_trusted` and freshness.
 */
const SLIDING_MS = 60_000

/**
 * Instant until which the query's filters accept the same beliefs if nothing is written; infinite if the filters do not depend on the
 * present time.
 */
function filtersHoldUntil({ question, asOf }: Evaluation): Instant {
  const isSliding = question.filters.some(
    ({ createdWithinMs, directTrustAbove, confidence }) =>
      createdWithinMs !== null || directTrustAbove !== null || confidence.some(({ of }) => of === 'temporal_freshness'),
  )
  return isSliding ? asOf + SLIDING_MS : Number.POSITIVE_INFINITY
}

/** Number of times that an answer is computed again because some of its beliefs became hidden while it was computed. */
const ATTEMPTS = 3

interface Draft {
  readonly picked: readonly Picked[]
  readonly trust: readonly TrustIn[]
  readonly total: number
  /** Keys of matching beliefs from other nodes. */
  readonly remotes: ReadonlySet<string>
  readonly until: Instant
  readonly remembered: Remembered
}

export class LiveBeliefQuery implements LiveQuery {
  readonly viewer: Viewer
  readonly binding: string
  readonly query: JsonObject
  readonly timeoutMs: number
  protected readonly state: BeliefsState
  protected readonly checked: CheckedQuery
  readonly #shared: LiveShared
  readonly #accessScope: AccessWatch
  readonly #trust: TrustWatch
  readonly #isAllowed: () => boolean
  readonly #model: string | null
  /**
   * Vectors computed from the query's text, kept for later answers; null: not computed yet, or embedding failed. A failed embedding is
   * tried again, because a vector that becomes available later changes the scores.
   */
  #embedded: Embedded | null = null
  #last: Remembered | null = null
  /** By item of the last answer: the basis of trust in the belief's holder, that is, the values from which this trust was computed. */
  #bases: TrustBases = { of: new Map(), asOf: 0, trust: 0 }

  /**
   * `query`: the query as the viewer sent it, from which `checked` was made. `isAllowed`: returns whether the viewer may still run this
   * query.
   */
  constructor(
    state: BeliefsState,
    viewer: Viewer,
    checked: CheckedQuery,
    query: JsonObject,
    isAllowed: () => boolean = () => true,
  ) {
    this.viewer = viewer
    this.query = query
    this.binding = canonicalJson(['beliefs', query])
    this.state = state
    // A later answer is derived from an earlier one by exact cosines of the changed beliefs, so all cosines are exact.
    this.checked = { ...checked, options: { ...checked.options, approximate: false } }
    this.timeoutMs = checked.options.timeoutMs
    this.#isAllowed = isAllowed
    this.#model = modelOf(state.host)
    this.#shared = liveShared(state)
    this.#accessScope = this.#shared.accessScopeOf(viewer.id)
    this.#trust = this.#shared.trustOf(viewer.id, trustQuestion(checked.context))
  }

  allowed(): boolean {
    return this.#isAllowed()
  }

  load(signal: AbortSignal): Promise<void> {
    return this.state.load(signal)
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    await this.state.load(signal)
    const time = new TimeLimit(this.timeoutMs, signal)
    const embedded = this.#embedded ?? (await embedText(this.state, this.checked.semantic, signal, time))
    if (embedded.warnings.some(({ code }) => code === 'meaning_late')) throw time.error()
    if (embedded.question !== null || this.checked.semantic === null) this.#embedded = embedded
    signal.throwIfAborted()
    const asOf = this.state.host.clock.now()
    const { leg, time: left } = await this.askNodes(embedded, asOf, time)
    signal.throwIfAborted()
    const withRemotes = (view: ShowView) => (leg === null ? view : { ...view, remotes: leg.remotes })
    for (let attempt = 1; ; attempt++) {
      const draft = await this.state.lookInSteps(
        this.viewer.id,
        view => this.#draft(withRemotes(view), embedded, asOf, leg),
        left,
      )
      const { found, items } = this.state.look(this.viewer.id, view => this.#items(withRemotes(view), draft), left)
      if (found < draft.picked.length && attempt < ATTEMPTS) continue
      if (left.isCut) throw left.error()
      const { trust } = draft.remembered
      const bases = items.flatMap(({ key, basis }) => (basis === null ? [] : [[key, basis] as const]))
      this.#bases = { of: new Map(bases), asOf, trust }
      this.#last = draft.remembered
      return {
        items: items.map(({ basis: _, ...item }) => item),
        full: draft.total > items.length,
        matches: key => this.#isMatch(key, draft),
        asOf,
        until: draft.until,
      }
    }
  }

  /** Results of other nodes for the query. This class queries no other nodes; the subclass `LiveOverNodes` overrides this method. */
  protected askNodes(
    _embedded: Embedded,
    _asOf: Instant,
    time: TimeLimit,
  ): Promise<{ readonly leg: RemoteLeg | null; readonly time: TimeLimit }> {
    return Promise.resolve({ leg: null, time })
  }

  concerned(_last: LiveState): boolean {
    const last = this.#last
    if (last === null) return true
    const shared = this.#shared
    const version = shared.catchUp()
    const accessScope = this.#accessScope.refresh(version)
    const { requester } = this.#accessScope
    const now = this.state.host.clock.now()
    const trust = this.#trust.refresh(requester, now, version)
    const changes = shared.since(last.position)
    // Records that all changes up to this position of the change feed have been examined, so that no change is reported twice. The next
    // answer replaces this record by its own position.
    this.#last = { ...last, position: shared.position, accessScope, trust }
    if (changes === null || accessScope !== last.accessScope) return true
    const { columns } = this.state
    const question = this.#embedded?.question ?? null
    let scorer: ReturnType<World['scorer']> | null = null
    const world: World = {
      ...{ columns, requester, last, now, question },
      vectorOf: entry => this.#vectorOf(entry),
      scorer: () => {
        scorer ??= this.#scorerAt(now)
        return scorer
      },
    }
    return (
      (trust !== last.trust && this.#isTrustOf(this.#trust.changedSince(last.trust), world)) ||
      changes.some(change => isAffectedBy(change, this.checked, world))
    )
  }

  /**
   * Whether changed trust in the holders of these beliefs may change the shown page. `entries` null: trust in any holder may have changed.
   */
  #isTrustOf(entries: readonly EntryKey[] | null, world: World): boolean {
    const { columns, requester } = world
    const { candidates } = world.last
    const isFiltered = this.checked.filters.some(
      ({ minHolderReputation, directTrustAbove }) => minHolderReputation !== null || directTrustAbove !== null,
    )
    if (entries === null || candidates === null || isFiltered) return true
    return entries.some(entry => {
      const near = nearOf(entry, candidates)
      if (near === undefined) return false
      const row = columns.rowOf(entry)
      if (row === -1) return true
      const partition = columns.arrays.partitions[row] as number
      const source = requester.sourceOf(partition, columns.holderOf(row), this.checked.options.scope)
      return source === null || !isBelowShown(row, near, source, world)
    })
  }

  #scorerAt(asOf: Instant): ReturnType<World['scorer']> {
    const { context, options, weights } = this.checked
    return this.state.look(this.viewer.id, view => {
      const trust = this.#trustAt(asOf)
      const scorer = new Scorer({
        columns: view.columns,
        asOf,
        queryDomains: context.queryDomains,
        confidenceWeights: context.confidenceWeights,
        weights,
        decay: this.state.settings.decay,
        trust,
        trustColumns: trustColumns(trust, view.columns),
        origins: new RowOrigins(view, options.scope),
      })
      return (row, source, near) => finalOf(scorer.parts(row, SOURCE_NUMBERS[source.kind], near), weights)
    })
  }

  lost(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] {
    return this.state.look(this.viewer.id, view =>
      items.filter(item => !this.#isThere(view, item)).map(({ key }) => key),
    )
  }

  /**
   * Whether the belief with this key matches the query in the state from which the draft was computed; later writes lead to a new answer.
   */
  #isMatch(key: string, { remembered, remotes }: Draft): boolean {
    if (nodeOfKey(key) !== null) return remotes.has(key)
    const { columns } = this.state
    const [holder, chain] = [holderOfKey(key), chainOfKey(key)]
    const later = columns.rowOfChain(holder, chain)
    const first = () => columns.rowOfVersion(columns.texts.holderNumber(holder), columns.texts.idNumber(chain))
    const row = later === -1 ? first() : later
    return row !== -1 && remembered.isCandidate(columns.arrays.entries[row] as EntryKey)
  }

  /** Whether the latest version of a belief exists and the requester may see it. */
  #isThere({ columns, requester, reader }: ShowView, { key, id }: Pick<LiveItem, 'key' | 'id'>): boolean {
    const holder = holderOfKey(key)
    const number = columns.texts.holderNumber(holder)
    let row = columns.rowOfVersion(number, columns.texts.idNumber(id))
    for (let version: string | null = id; row === -1 && version !== null; ) {
      const past = reader.table(VERSIONS).get({ holder, id: version })
      version = (past?.['superseded_by'] as string | null | undefined) ?? null
      if (version !== null) row = columns.rowOfVersion(number, columns.texts.idNumber(version))
    }
    return row !== -1 && requester.sees(columns.arrays.partitions[row] as number)
  }

  *#draft(view: ShowView, embedded: Embedded, asOf: Instant, leg: RemoteLeg | null): Steps<Draft> {
    const { options } = this.checked
    const { requester } = view
    // The position in the change feed and the revisions of access and trust are recorded before the evaluation begins, because scores use
    // the trust of this moment. Changes committed during a pause of the evaluation are later handled like changes after the answer.
    const version = this.#shared.catchUp()
    const { position } = this.#shared
    const accessScope = this.#accessScope.refresh(version)
    const trust = this.#trust.refresh(requester, asOf, version)
    this.#trust.answered(asOf)
    let carried: Carried | null = null
    const candidatesWith = (floor: number | null) => {
      carried = this.#carried(view, { floor, accessScope, asOf })
      return carried?.candidates ?? null
    }
    const evaluation = yield* evaluateInSteps(this.state, view, this.checked, embedded, asOf, leg, candidatesWith)
    const picked = yield* pickPage(evaluation, options)
    const remotes = evaluation.remotes.map(({ entry }) => view.remotes?.get(entry) as RemoteBelief)
    const ends = remotes.flatMap(({ belief: { valid_until: end } }) => (end === null ? [] : Date.parse(end)))
    yield
    const inScopeUntil =
      (carried as Carried | null)?.until ?? this.state.scopes.untilOf(scopeRequest(view, evaluation.question, asOf))
    const { cosines, isCut, floor, pending } = evaluation
    const isPlain = cosines !== null && pending === 0 && leg === null && this.#isByMeaningAlone
    return {
      picked,
      trust: picked.map(({ scored }) => trustFound(evaluation, scored).trust),
      total: evaluation.total,
      remotes: new Set(remotes.map(keyOfRemote)),
      until: Math.min(inScopeUntil, filtersHoldUntil(evaluation), ...ends.filter(end => end > asOf)),
      remembered: {
        asOf,
        position,
        accessScope,
        trust,
        isCandidate: candidateTest(evaluation),
        meaningFloor: minCosine(evaluation),
        candidates: cosines && { cosines, later: new Map() },
        bar: leg === null ? barOf(evaluation, picked, options) : null,
        search: isPlain ? { cosines, isCut, floor, position, accessScope, asOf, until: inScopeUntil } : null,
      },
    }
  }

  get #isByMeaningAlone(): boolean {
    const { semantic, filters } = this.checked
    const operators =
      semantic === null ? 1 : semantic.include.length + semantic.exclude.length + semantic.phrases.length
    return this.#embedded?.question != null && operators + filters.length === 0
  }

  /** Candidates derived from the last search and the changes since, without a new search. Null: a new search is needed. */
  #carried(
    view: ShowView,
    { floor, accessScope, asOf }: Pick<Search, 'floor' | 'accessScope' | 'asOf'>,
  ): Carried | null {
    const search = this.#last?.search ?? null
    const question = this.#embedded?.question ?? null
    if (search === null || question === null) return null
    if (search.accessScope !== accessScope || search.floor !== floor) return null
    const changes = asOf >= search.asOf && asOf < search.until ? this.#shared.since(search.position) : null
    if (changes === null) return null
    const cosineOf = (entry: EntryKey) => {
      const vector = this.#vectorOf(entry)
      return vector === null ? null : cosine(question, vector)
    }
    const { columns } = this.state
    const { options, filters } = this.checked
    const changed = new Set(changes.map(({ entry }) => entry))
    const inScope = new RowsInScope(scopeRequest(view, { filters, scope: options.scope }, asOf))
    const candidates = candidatesSince(search, changed, { inScope, columns, most: MAX_NEAREST, cosineOf })
    return candidates && { candidates, until: Math.min(search.until, inScope.untilOf(changed)) }
  }

  #items(view: ShowView, draft: Draft): { readonly found: number; readonly items: readonly Based[] } {
    const places = new Map(draft.picked.map(({ scored }, place) => [scored.entry, place]))
    const found = showCurrent(view, [...places.keys()], this.checked.options.scope)
    const last = this.#bases
    const isSameTrust = last.trust === draft.remembered.trust
    const then = isSameTrust ? null : this.#trustAt(last.asOf)
    const items = found.map((shown, at): Based => {
      const place = places.get(shown.entry) as number
      const { scored } = draft.picked[place] as Picked
      const trust = draft.trust[place] as TrustIn
      const placed = { score: scored.final, rank: at + 1 }
      const remote = view.remotes?.get(shown.entry)
      if (remote !== undefined) return { ...remoteItem(remote), ...placed, standing: textOfTrust(trust), basis: null }
      const basis = basisOf(shown, trust, last.of.get(keyOf(shown.version)), then, view.requester)
      // The text that describes the basis of a score also says whether the belief was compared by words, because the score changes, and the
      // item must be sent again, when the belief gets a vector.
      const standing = scored.isByWords ? `${basis.text} by words` : basis.text
      return { ...itemOf(shown, view), ...placed, standing, basis }
    })
    return { found: found.length, items }
  }

  #trustAt(asOf: Instant): HolderTrust {
    return this.state.trust.trustOf(this.viewer.id, trustQuestion(this.checked.context), asOf)
  }

  #vectorOf(entry: EntryKey): Float32Array | null {
    return this.#model === null ? null : this.#shared.vectorOf(entry, this.#model)
  }
}

function candidateTest({ matches, cosines, copies, view }: Evaluation): (entry: EntryKey) => boolean {
  if (cosines !== null) return entry => cosines.has(entry)
  const { bits } = matches
  const { entries } = view.columns.arrays
  const others = new Set(Array.from(copies, row => entries[row] as EntryKey))
  return entry => bits.has(entry) || others.has(entry)
}

/**
 * Lowest cosine at which a new belief would become a candidate: the cosine of the farthest candidate if the number of candidates was
 * limited, otherwise the query's minimum; null: no minimum.
 */
function minCosine({ isCut, cosines, floor }: Evaluation): number | null {
  return isCut && cosines !== null ? Math.min(...cosines.values()) : floor
}

/**
 * The shown scores that a new candidate must reach to change the page. Null (any candidate may change it) if the selection of a result
 * depends on other results, if the page is not full, or if nothing was compared by vectors.
 */
function barOf(
  evaluation: Evaluation,
  picked: readonly Picked[],
  { diversity, mergeStrategy }: CheckedQuery['options'],
): Bar | null {
  const { cosines, matches, state } = evaluation
  const isByOrder = !diversity.enabled && mergeStrategy === 'rerank' && strategyOf(state) === null
  if (!isByOrder || cosines === null || matches.count <= picked.length) return null
  const shown = picked.map(({ scored }) => scored)
  const farthest = Math.min(...shown.map(({ cosine: near }) => near ?? -1))
  const farther = [...cosines.values()].filter(near => near < farthest - NEAR).length
  return { shown, spare: farther + Math.max(0, MAX_NEAREST - cosines.size) }
}

/**
 * A result of a live query together with `basis`, the values from which trust in its holder was computed. `basis` is null for a result from
 * another node.
 */
type Based = LiveItem & { readonly basis: TrustBasis | null }
