/**
 * The one list that the results of all sources become, for as long as somebody reads it, and what this node's own
 * store gives to it.
 */
import { sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import type { Steps } from '../../../../base/turns.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { StoreWriter } from '../../../../store/store.ts'
import type { LensHost } from '../../../lens.ts'
import type { ShowView } from '../../access/show.ts'
import { diversely, limitWarnings, MOST_COMPARED, merged, POOL } from '../../answer/diversity.ts'
import { type Front, ranksOf, settledList, strategyOf } from '../../answer/front.ts'
import type { NodesTold, Verdict } from '../../answer/page-draft.ts'
import { vectorsOf } from '../../embedding.ts'
import { lendDetector } from '../../opposition/installed.ts'
import type { Evaluation } from '../../query/evaluation.ts'
import { type Boundary, type Picked, type ScoredBelief, unspread } from '../../ranking/scored.ts'
import { currentOfKeys } from '../../record/read.ts'
import { aspectRow, chunkOf, entryOf, type StoredVersion } from '../../record/version.ts'
import type { CheckedWarning } from '../../schema/filters.ts'
import type { CheckedOptions, CheckedQuery } from '../../schema/query.ts'
import { type BeliefsState, guestState } from '../../state.ts'
import { BELIEFS } from '../../tables.ts'
import type { CachedAnswer } from '../cached-nodes.ts'
import type { Guest } from '../guest.ts'

/** `holder`: who that is, is asked of the guest. */
export function guestVersion({ belief, source }: Guest, holder: string): StoredVersion {
  const { id, content, confidence, derivation, domains, visibility, embedding_model: _, ...rest } = belief
  return {
    ...{ holder, id, chain: id, version: 1, content, confidence, domains, visibility },
    contentHash: rest.content_hash,
    validFrom: Date.parse(rest.valid_from),
    validUntil: rest.valid_until === null ? null : Date.parse(rest.valid_until),
    derivation: { ...derivation, sources: derivation.sources.map(each => ({ ...each, holder: null })) },
    federationIds: source.kind === 'federated' && source.id !== null ? [source.id] : [],
    createdAt: Date.parse(rest.created_at),
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
}

/**
 * What was gathered for one answer, from this node's own store and from others, as a small store of its own: so it is
 * filtered, scored, spread and explained by the same code as what one store holds (BQ-125). What is this node's own stays
 * where it is and is shown from there; here it stands beside the guests that it is compared with.
 */
export interface GatheredWorld {
  readonly state: BeliefsState
  readonly guests: ReadonlyMap<EntryKey, Guest>
  /** Of those that are this node's own: the key that each has in its store. */
  readonly homeKeys: ReadonlyMap<EntryKey, EntryKey>
  /** Of all texts and vectors, near enough. */
  readonly byteLength: number
}

/** Beliefs that are copied in one step. */
const COPIED_AT_ONCE = 100

/** In steps. `own`: current beliefs of this node that the requester may see, as of the view. */
export function* gatherWorld(
  home: BeliefsState,
  view: ShowView,
  own: readonly EntryKey[],
  guests: readonly Guest[],
  asOf: Instant,
): Steps<GatheredWorld> {
  const scratch = scratchOf(home.host)
  const filling = new Filling(view)
  // Nobody else has that store: what is in it between two steps is seen by none.
  const write = (body: (writer: StoreWriter) => void) => scratch.store.write(asOf, body)
  write(writer => filling.begin(writer, asOf))
  for (let at = 0; at < own.length; at += COPIED_AT_ONCE) {
    write(writer => filling.copyOwn(writer, own.slice(at, at + COPIED_AT_ONCE), asOf))
    yield
  }
  for (let at = 0; at < guests.length; at += COPIED_AT_ONCE) {
    write(writer => filling.copyGuests(writer, guests.slice(at, at + COPIED_AT_ONCE), asOf))
    yield
  }
  const host: LensHost = { ...home.host, store: scratch.store, index: name => scratch.index(name) }
  lendDetector(home.host, host)
  return {
    state: guestState(home, host, filling.guests),
    guests: filling.guests,
    homeKeys: filling.homeKeys,
    byteLength: filling.byteLength,
  }
}

/** Beside its text and vector, of one belief: in the store, the columns and the index. */
const BELIEF_BYTES = 4_000

class Filling {
  readonly guests = new Map<EntryKey, Guest>()
  readonly homeKeys = new Map<EntryKey, EntryKey>()
  byteLength = 0
  readonly #view: ShowView
  readonly #members = new Set<string>()
  readonly #holders = new Set<string>()

  constructor(view: ShowView) {
    this.#view = view
    this.#holders.add(view.requester.id)
  }

  begin(writer: StoreWriter, asOf: Instant): void {
    const { requester } = this.#view
    for (const federation of requester.federations) {
      this.#join(writer, federation, requester.id, asOf)
      const anonymity = requester.isStrict(federation) ? 'strict' : null
      writer.table(FEDERATIONS).put({ ...NO_FEDERATION, id: federation, created_at: asOf, anonymity })
    }
  }

  /** After all of this node's own. */
  copyGuests(writer: StoreWriter, guests: readonly Guest[], asOf: Instant): void {
    for (const guest of guests) {
      const version = guestVersion(guest, this.#holderOfGuest(this.guests.size))
      for (const federation of version.federationIds) this.#join(writer, federation, version.holder, asOf)
      this.guests.set(this.#put(writer, version, guest.vector, asOf), guest)
    }
  }

  copyOwn(writer: StoreWriter, own: readonly EntryKey[], asOf: Instant): void {
    const seen = currentOfKeys(this.#view, own).flatMap(({ entry, version }) => (entry ? [{ entry, version }] : []))
    const vectors = vectorsOf(
      this.#view,
      seen.map(({ entry }) => ({ entry: entry.key })),
    )
    for (const [at, { entry, version }] of seen.entries()) {
      this.#holders.add(version.holder)
      const federationIds = this.#view.requester.federationsOf(entry.partition)
      for (const federation of federationIds) this.#join(writer, federation, version.holder, asOf)
      // Its own stay its own, whoever else sees them.
      const isOwn = version.holder === this.#view.requester.id
      const shown = isOwn ? version : { ...version, federationIds }
      this.homeKeys.set(this.#put(writer, shown, vectors[at] ?? null, asOf), entry.key)
    }
  }

  /** Another for each, and nobody's here: so copies of one id can stand side by side. */
  #holderOfGuest(number: number): string {
    let name = `guest.${number}`
    while (this.#holders.has(name)) name += '.'
    return name
  }

  #join(writer: StoreWriter, federation: string, agent: string, asOf: Instant): void {
    const name = `${federation} ${agent}`
    if (this.#members.has(name)) return
    this.#members.add(name)
    writer.table(MEMBERSHIPS).put({ ...MEMBER, federation, agent, updated_at: asOf })
  }

  #put(writer: StoreWriter, version: StoredVersion, vector: Float32Array | null, asOf: Instant): EntryKey {
    const { key } = writer.put(entryOf(version, asOf), [chunkOf(version)])
    writer.table(BELIEFS).put(aspectRow(version, key))
    this.byteLength += BELIEF_BYTES + version.content.length * 2 + (vector?.byteLength ?? 0)
    const { model } = this.#view
    if (model === null || vector === null) return key
    writer.putVectors(
      model,
      writer.chunksOf(key).map(({ key: chunk }) => ({ chunk, vector })),
    )
    return key
  }
}

const MEMBER = { status: 'active', role: null, permissions: null, joined_at: null }
const NO_FEDERATION = { label: null, did: null, joining: null, results: null, reputation: null }

function scratchOf(host: LensHost) {
  if (host.scratch === undefined) throw new Error('invariant broken: nowhere to gather what nodes answered')
  return host.scratch()
}

export interface OwnResults {
  readonly keys: readonly EntryKey[]
  /** Matches that are not among them. */
  readonly left: number
  /** The last of each list that goes on. */
  readonly ends: readonly EntryKey[]
  /** Where there is no match, what came closest to the text. */
  readonly nearest: readonly EntryKey[]
  /** Whether more were near enough to the text than may be matches. */
  readonly isCut: boolean
  /** Federations that the requester may query, ascending. */
  readonly federations: readonly string[]
}

/** At most so many; where sources are not put in one order, of each source (BQ-127 to BQ-129). Of what there was at a moment. */
export function ownResults(
  evaluation: Evaluation,
  { mergeStrategy }: Pick<CheckedOptions, 'mergeStrategy'>,
  most: number,
  asOf: Instant,
): OwnResults {
  const { matches, view } = evaluation
  const { federations } = view.requester
  const lists = mergeStrategy === 'rerank' ? [evaluation.best(most + 1)] : evaluation.bestOfEach(most + 1)
  const kept = lists.map(list => keysOf(list.slice(0, most).filter(({ createdAt }) => createdAt <= asOf)))
  const ends = kept.flatMap((keys, at) => ((lists[at]?.length ?? 0) > most ? keys.slice(-1) : []))
  const keys = kept.flat()
  const { isCut } = evaluation
  return { keys, left: matches.count - keys.length, ends, nearest: keysOf(evaluation.nearest()), isCut, federations }
}

function keysOf(list: readonly ScoredBelief[]): readonly EntryKey[] {
  return list.map(({ entry }) => entry)
}

interface GatheredParts {
  readonly world: GatheredWorld
  readonly evaluation: Evaluation
  readonly nodes: NodesTold
  readonly verdict: Verdict | null
  readonly warnings: readonly CheckedWarning[]
  readonly own: Pick<OwnResults, 'left' | 'ends'>
  /** Of this node's own, at most so many of each list. */
  readonly most: number
  readonly answered: CachedAnswer
  /** What was read of the list so far stays as it is. */
  readonly before: GatheredOrder | null
}

type Placed = Pick<Front, 'ranks' | 'conflicts' | 'leftOut'>

const DIGEST_LENGTH = 24

export class GatheredOrder {
  readonly world: GatheredWorld
  readonly evaluation: Evaluation
  readonly nodes: NodesTold
  readonly verdict: Verdict | null
  readonly warnings: readonly CheckedWarning[]
  /** Best first, as it is shown. */
  readonly picks: readonly Picked[]
  /** Where results stand in the total order, and which of them contradict each other. */
  readonly placed: Placed
  readonly total: number
  /** There is more of this node's own, to be gathered when it is wanted. */
  readonly goesOn: boolean
  readonly most: number
  readonly answered: CachedAnswer
  /** Of which results there are, where, and what they count. */
  readonly digest: string

  /** In steps. */
  static *of(parts: GatheredParts, { options }: CheckedQuery): Steps<GatheredOrder> {
    const { evaluation } = parts
    const inOrder = yield* evaluation.all()
    const limited = new Set<string>()
    const picks = yield* spreadOut(evaluation, inOrder, options, limited)
    yield
    const warnings = [...parts.warnings, ...limitWarnings(limited)]
    return new GatheredOrder({ ...parts, warnings }, inOrder, picks)
  }

  private constructor(parts: GatheredParts, inOrder: readonly ScoredBelief[], picks: readonly Picked[]) {
    const { world, evaluation, nodes, verdict, warnings, own, most, answered, before } = parts
    this.world = world
    this.evaluation = evaluation
    this.nodes = nodes
    this.verdict = verdict
    this.warnings = warnings
    this.total = evaluation.matches.count + own.left
    this.goesOn = own.ends.length > 0
    this.most = most
    this.answered = answered
    const strategy = strategyOf(evaluation.state)
    const ranks = ranksOf(inOrder)
    if (strategy === null) {
      this.picks = this.#settled(picks, own.ends, before)
      this.placed = { ranks, conflicts: [], leftOut: 0 }
    } else {
      const { list, conflicts } = settledList(evaluation, picks.slice(0, MOST_COMPARED), strategy)
      this.picks = this.#settled([...list, ...picks.slice(MOST_COMPARED)], own.ends, before)
      this.placed = { ranks, conflicts, leftOut: 0 }
    }
    if (before !== null) {
      // The name of the list, whatever of it was gathered.
      this.digest = before.digest
      return
    }
    const told = this.picks.map(({ scored: { id, final, source } }) => [id, final, source.kind, source.id])
    this.digest = sha256(JSON.stringify(told)).slice(0, DIGEST_LENGTH)
  }

  /** How far the list before it reaches in this one, from a place there. */
  placeOf(before: GatheredOrder, place: number): number {
    const had = new Set(before.picks.slice(0, place).map(pick => before.#itself(pick)))
    return this.picks.filter(pick => had.has(this.#itself(pick))).length
  }

  /** What was read stays before the rest; and as far as nothing that was not gathered yet could come in between. */
  #settled(picks: readonly Picked[], ends: readonly EntryKey[], before: GatheredOrder | null): readonly Picked[] {
    const bySelf = new Map(picks.map(pick => [this.#itself(pick), pick]))
    const first = before === null ? [] : before.picks.flatMap(pick => bySelf.get(before.#itself(pick)) ?? [])
    const had = new Set(first)
    const list = [...first, ...picks.filter(pick => !had.has(pick))]
    const own = new Map(list.map(({ scored }, at) => [this.world.homeKeys.get(scored.entry), at]))
    // One that is a copy of another stands nowhere.
    const places = ends.flatMap(key => own.get(key) ?? [])
    return places.length === 0 ? list : list.slice(0, Math.max(first.length, Math.min(...places) + 1))
  }

  /** What it is in every world that the same answers are gathered into. */
  #itself({ scored: { entry } }: Picked): EntryKey | Guest | undefined {
    return this.world.guests.get(entry) ?? this.world.homeKeys.get(entry)
  }

  /** Near enough. */
  get byteLength(): number {
    return this.world.byteLength
  }

  /** The place behind a boundary; null: it is no result of this order. */
  placeBehind({ id, final }: Boundary): number | null {
    const at = this.picks.findIndex(({ scored }) => scored.id === id && scored.final === final)
    return at === -1 ? null : at + 1
  }
}

/** As the strategy puts the sources together, and as far as diversity lets it stand (BQ-131). */
function* spreadOut(
  evaluation: Evaluation,
  inOrder: readonly ScoredBelief[],
  { mergeStrategy, diversity }: CheckedQuery['options'],
  limited: Set<string>,
): Steps<readonly Picked[]> {
  const list = merged(mergeStrategy, inOrder)
  if (!diversity.enabled) return list.map(unspread)
  const keepsOrder = mergeStrategy !== 'rerank'
  const picks: Picked[] = []
  for (const pick of diversely(evaluation, diversity, { pool: list.slice(0, POOL), keepsOrder, limited })) {
    picks.push(pick)
    yield
  }
  return picks
}
