/**
 * A query to the lens that stands (BQ-156 to BQ-169): its first results, and what may change them. Asking again is what
 * `beliefs.query` does, but for counting use.
 */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { LiveItem, LiveQuery, LiveState } from '../../../model/live.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { type ShowView, showCurrent } from '../access/show.ts'
import { pickPage } from '../answer/front.ts'
import { modelOf } from '../embedding.ts'
import { scopeRequest } from '../matching/in-scope.ts'
import { evaluateInSteps } from '../query/evaluate.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { type Embedded, embedText } from '../query/understand.ts'
import type { Picked } from '../ranking/scored.ts'
import { trustQuestion } from '../ranking/trust-columns.ts'
import { trustFound } from '../ranking/trust-found.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { VERSIONS } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import type { HolderTrust } from '../trust/holders.ts'
import type { TrustIn } from '../trust/trust-in.ts'
import { filtersHoldUntil, isAffectedBy, type Remembered } from './affects.ts'
import { chainOfKey, holderOfKey, itemOf, keyOf } from './items.ts'
import type { SightWatch, TrustWatch } from './shared.ts'
import { type LiveShared, liveShared } from './shared.ts'
import { basisOf, type TrustBases, type TrustBasis } from './trust-basis.ts'

/** How often an answer is made anew when something of it went out of sight while it was made. */
const ATTEMPTS = 3

interface Draft {
  readonly picked: readonly Picked[]
  readonly trust: readonly TrustIn[]
  readonly matches: number
  readonly until: Instant
  readonly remembered: Remembered
}

export class StandingBeliefs implements LiveQuery {
  readonly viewer: Viewer
  readonly binding: string
  readonly query: JsonObject
  readonly timeoutMs: number
  readonly #state: BeliefsState
  readonly #checked: CheckedQuery
  readonly #shared: LiveShared
  readonly #sight: SightWatch
  readonly #trust: TrustWatch
  readonly #isAllowed: () => boolean
  readonly #model: string | null
  /** The text's vectors; null: not made yet, or they could not be. */
  #embedded: Embedded | null = null
  #last: Remembered | null = null
  /** What the scores of its last answer rest on. */
  #bases: TrustBases = { of: new Map(), asOf: 0, trust: 0 }

  /** `query`: what `checked` was made of. `isAllowed`: whether the viewer may still ask it. */
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
    this.#state = state
    this.#checked = checked
    this.timeoutMs = checked.options.timeoutMs
    this.#isAllowed = isAllowed
    this.#model = modelOf(state.host)
    this.#shared = liveShared(state)
    this.#sight = this.#shared.sightOf(viewer.id)
    this.#trust = this.#shared.trustOf(viewer.id, trustQuestion(checked.context))
  }

  /** The same question, never asked yet. */
  again(): StandingBeliefs {
    return new StandingBeliefs(this.#state, this.viewer, this.#checked, this.query, this.#isAllowed)
  }

  allowed(): boolean {
    return this.#isAllowed()
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    await this.#state.load(signal)
    const time = new TimeLimit(this.timeoutMs, signal)
    const embedded = this.#embedded ?? (await embedText(this.#state, this.#checked.semantic, signal, time))
    if (embedded.warnings.some(({ code }) => code === 'meaning_late')) throw time.error()
    if (embedded.question !== null || this.#checked.semantic === null) this.#embedded = embedded
    signal.throwIfAborted()
    const asOf = this.#state.host.clock.now()
    for (let attempt = 1; ; attempt++) {
      const draft = await this.#state.lookInSteps(this.viewer.id, view => this.#draft(view, embedded, asOf), time)
      const { found, items } = this.#state.look(this.viewer.id, view => this.#items(view, draft), time)
      if (found < draft.picked.length && attempt < ATTEMPTS) continue
      if (time.isCut) throw time.error()
      const { trust } = draft.remembered
      this.#bases = { of: new Map(items.map(({ key, basis }) => [key, basis])), asOf, trust }
      this.#last = draft.remembered
      return {
        items: items.map(({ basis, isByWords, ...item }): LiveItem => {
          // A vector that comes later changes the score.
          return { ...item, standing: isByWords ? `${basis.text} by words` : basis.text }
        }),
        full: draft.matches > items.length,
        matches: key => this.#isMatch(key, draft),
        asOf,
        until: draft.until,
      }
    }
  }

  concerned(_last: LiveState): boolean {
    const last = this.#last
    if (last === null) return true
    const shared = this.#shared
    const version = shared.catchUp()
    const sight = this.#sight.refresh(version)
    const { requester } = this.#sight
    const now = this.#state.host.clock.now()
    const trust = this.#trust.refresh(requester, now, version)
    const changes = shared.since(last.position)
    // What was told as news is not told again, unless asking gives another answer to hold it against.
    this.#last = { ...last, position: shared.position, sight, trust }
    if (changes === null || sight !== last.sight || trust !== last.trust) return true
    if (changes.length === 0) return false
    const { columns } = this.#state
    const question = this.#embedded?.question ?? null
    const world = { columns, requester, last, now, question, vectorOf: (entry: EntryKey) => this.#vectorOf(entry) }
    return changes.some(change => isAffectedBy(change, this.#checked, world))
  }

  lost(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] {
    return this.#state.look(this.viewer.id, view =>
      items.filter(item => !this.#isThere(view, item)).map(({ key }) => key),
    )
  }

  /** At the answer of the draft: what was written since gives another. */
  #isMatch(key: string, { remembered }: Draft): boolean {
    const { columns } = this.#state
    const [holder, chain] = [holderOfKey(key), chainOfKey(key)]
    const later = columns.rowOfChain(holder, chain)
    const first = () => columns.rowOfVersion(columns.texts.holderNumber(holder), columns.texts.idNumber(chain))
    const row = later === -1 ? first() : later
    return row !== -1 && remembered.isCandidate(columns.arrays.entries[row] as EntryKey)
  }

  /** Whether the newest version of the belief is there and in sight. */
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

  *#draft(view: ShowView, embedded: Embedded, asOf: Instant): Steps<Draft> {
    const { options } = this.#checked
    const { requester } = view
    // Of the first step, whose trust the scores rest on: what changes at a pause is news after it.
    const version = this.#shared.catchUp()
    const { position } = this.#shared
    const sight = this.#sight.refresh(version)
    const trust = this.#trust.refresh(requester, asOf, version)
    this.#trust.answered(asOf)
    const evaluation = yield* evaluateInSteps(this.#state, view, this.#checked, embedded, asOf)
    const picked = yield* pickPage(evaluation, options)
    yield
    const inScopeUntil = this.#state.scopes.untilOf(scopeRequest(view, evaluation.question, asOf))
    return {
      picked,
      trust: picked.map(({ scored }) => trustFound(evaluation, scored).trust),
      matches: evaluation.matches.count,
      until: Math.min(inScopeUntil, filtersHoldUntil(evaluation)),
      remembered: {
        asOf,
        position,
        sight,
        trust,
        isCandidate: candidateTest(evaluation),
        meaningFloor: leastCosine(evaluation),
      },
    }
  }

  #items(view: ShowView, draft: Draft): { readonly found: number; readonly items: readonly Based[] } {
    const places = new Map(draft.picked.map(({ scored }, place) => [scored.entry, place]))
    const found = showCurrent(view, [...places.keys()], this.#checked.options.scope)
    const last = this.#bases
    const isSameTrust = last.trust === draft.remembered.trust
    const then = isSameTrust ? null : this.#trustAt(last.asOf)
    const items = found.map((shown, at): Based => {
      const place = places.get(shown.entry) as number
      const { scored } = draft.picked[place] as Picked
      const basis = basisOf(
        shown,
        draft.trust[place] as TrustIn,
        last.of.get(keyOf(shown.version)),
        then,
        view.requester,
      )
      const { final: score, isByWords = false } = scored
      return { ...itemOf(shown, view), score, rank: at + 1, basis, isByWords }
    })
    return { found: found.length, items }
  }

  #trustAt(asOf: Instant): HolderTrust {
    return this.#state.trust.trustOf(this.viewer.id, trustQuestion(this.#checked.context), asOf)
  }

  #vectorOf(entry: EntryKey): Float32Array | null {
    return this.#model === null ? null : this.#shared.vectorOf(entry, this.#model)
  }
}

function candidateTest({ matches, copies, view }: Evaluation): (entry: EntryKey) => boolean {
  const { bits } = matches
  const { entries } = view.columns.arrays
  const others = new Set(Array.from(copies, row => entries[row] as EntryKey))
  return entry => bits.has(entry) || others.has(entry)
}

/** With which a newcomer would be a candidate: of more than may be, the farthest one sets it. */
function leastCosine({ isCut, cosines, floor }: Evaluation): number | null {
  return isCut && cosines !== null ? Math.min(...cosines.values()) : floor
}

/** An item, with what its score rests on. */
type Based = Omit<LiveItem, 'standing'> & { readonly basis: TrustBasis; readonly isByWords: boolean }
