/** Asks this node's own store and the other nodes at once, and puts together what they give (BQ-116 to BQ-134). */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { type ShownBelief, type ShowView, trustedAsGuest } from '../access/show.ts'
import { POOL } from '../answer/diversity.ts'
import { strategyOf } from '../answer/front.ts'
import {
  type AnswerSource,
  chainInTime,
  coverageOf,
  type NodesTold,
  type Showing,
  showingOf,
} from '../answer/show-page.ts'
import { vectorsOf } from '../embedding.ts'
import { BeliefsError } from '../errors.ts'
import type { Coverage, NodeCoverage, QueryResult, RankedBelief } from '../model.ts'
import { lendDetector } from '../opposition/heuristic.ts'
import { type Evaluation, evaluateInSteps } from '../query/evaluation.ts'
import type { Embedded } from '../query/understand.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { currentOfKeys } from '../record/read.ts'
import { aspectRow, chunkOf, entryOf, type StoredVersion } from '../record/version.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE } from '../schema/query.ts'
import { type BeliefsState, guestState } from '../state.ts'
import { BELIEFS } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { askOrRecall, type CachedAnswer } from './asking/ask-nodes.ts'
import type { AskedSource, Guest, NodeFailure, NodesAnswer } from './guest.ts'

/** `federations`: those that the requester may query. One that only this node holds has answered. */
function coverageOfNodes(
  scope: CheckedScope,
  federations: readonly string[],
  { asked, answers, failures }: NodesAnswer,
): Coverage {
  const gave = new Set(answers.map(({ source }) => source))
  const responded = (isOf: (source: AskedSource) => boolean) => {
    const nodes = asked.filter(isOf)
    return nodes.length === 0 || nodes.some(source => gave.has(source))
  }
  const own = coverageOf(scope, federations)
  const ofFederations = own.federated.filter(id =>
    responded(({ kind, id: asked }) => kind === 'federated' && asked === id),
  )
  const ofNetwork = own.network && responded(({ kind }) => kind === 'network')
  return {
    ...own,
    federations_responded: ofFederations,
    network_responded: ofNetwork,
    federated: ofFederations,
    network: ofNetwork,
    nodes: asked.map((source): NodeCoverage => {
      const answer = answers.find(one => one.source === source)
      return {
        node: source.peer.id,
        kind: source.kind,
        federation: source.kind === 'federated' ? source.id : null,
        responded: answer !== undefined,
        results: answer?.guests.length ?? 0,
        more: answer?.more ?? false,
        answered_at: answer === undefined ? null : toIso(answer.answeredAt),
        elapsed_ms: Math.round((answer ?? failures.find(one => one.source === source))?.elapsedMs ?? 0),
      }
    }),
  }
}

/** One for each source that failed, in the order of the sources. */
function nodeErrors({ failures }: Pick<NodesAnswer, 'failures'>): QueryResult['errors'] {
  return failures.map(({ source, code, reason, retryable, elapsedMs }) => ({
    source: { kind: source.kind, id: source.id },
    node: source.peer.id,
    code,
    message: MESSAGES[code],
    details: { reason },
    retryable,
    elapsed_ms: Math.round(elapsedMs),
  }))
}

/** Which nodes have more than they were asked for. */
function cutNodes(
  { nodes = [] }: Coverage,
  { maxResultsPerNode: most }: Pick<CheckedOptions, 'maxResultsPerNode'>,
): readonly CheckedWarning[] {
  const names = new Set(nodes.filter(({ more }) => more).map(({ node }) => node))
  if (names.size === 0) return []
  const advice =
    most < MAX_PER_NODE
      ? `Raise it (to ${MAX_PER_NODE} at most), or ask a narrower question.`
      : 'Ask a narrower question.'
  const has = names.size === 1 ? 'has' : 'have'
  const message = `${[...names].join(', ')} ${has} more that match: each gives at most max_results_per_node, ${most} here. ${advice}`
  return [{ code: 'nodes_cut', message }]
}

/** Throws where nobody gave an answer: neither a node nor this one's own store. */
function requireAnswer(scope: CheckedScope, own: number, { asked, answers, failures }: NodesAnswer): void {
  if (scope.local || own > 0 || answers.length > 0 || asked.length === 0) return
  const reasons = failures.map(({ reason }) => reason)
  const details = { nodes: failures.map(({ source }) => source.peer.id), reason: reasons[0] ?? null, reasons }
  if (failures.every(({ code }) => code === 'TIMEOUT')) {
    const elapsed = Math.round(Math.max(...failures.map(({ elapsedMs }) => elapsedMs)))
    throw new BeliefsError('TIMEOUT', 'no node answered in time', { ...details, elapsed_ms: elapsed })
  }
  const message = failures.some(({ retryable }) => retryable)
    ? 'no node could answer; try again'
    : 'no node answers this requester; asking again changes nothing'
  throw new BeliefsError('NODE_UNAVAILABLE', message, details)
}

/** Never what a node says itself (BQ-133). */
const MESSAGES: Readonly<Record<NodeFailure['code'], string>> = {
  TIMEOUT: 'the node did not answer in time',
  NODE_UNAVAILABLE: 'the node gave no answer that could be used',
  UNAUTHORIZED: 'the node does not answer this requester',
  RATE_LIMITED: 'the node was asked too often; wait before asking again',
}

export interface Gathering {
  readonly state: BeliefsState
  readonly query: CheckedQuery
  readonly requester: string
  /** Not empty. */
  readonly sources: readonly AskedSource[]
  readonly embedded: Embedded
  readonly asOf: Instant
}

/** For putting together what is there, however long that took to come. */
const MIN_LEFT_MS = 500

interface Gathered {
  readonly source: AnswerSource
  /** What is left for the first page. */
  readonly time: TimeLimit
}

/**
 * Rejects where nobody answered, and where the caller has gone. `completed`: puts something in the place of what nodes that
 * failed did not give.
 */
export async function gather(
  gathering: Gathering,
  time: TimeLimit,
  completed: (answer: NodesAnswer) => NodesAnswer = answer => answer,
): Promise<Gathered> {
  const { state, query, requester, sources, embedded, asOf } = gathering
  const asking = askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  // Nobody waits for it where the store fails first.
  asking.catch(() => undefined)
  const { limit, offset, maxResultsPerNode, diversity } = query.options
  // As many as a node gives, and never fewer than the first page shows.
  const usual = Math.max(maxResultsPerNode, limit + offset)
  const most = diversity.enabled || isInTotalOrder(gathering) ? usual : POOL
  const own = await ownResults(gathering, most, time)
  const given = await asking
  const nodes = { ...given, answer: completed(given.answer) }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
  requireAnswer(query.options.scope, own.keys.length, nodes.answer)
  const left = time.leftMs < MIN_LEFT_MS ? new TimeLimit(MIN_LEFT_MS, time.signal) : time
  return { source: await putTogether(gathering, own, nodes, left), time: left }
}

/**
 * Whether results stand in the total order, by scores that do not depend on what else is gathered: then more of this node's own can be
 * gathered later. Else all that may take part are gathered at once.
 */
function isInTotalOrder({ state, query: { semantic, options }, embedded }: Gathering): boolean {
  const isByWords = semantic !== null && embedded.question === null
  return options.mergeStrategy === 'rerank' && !options.diversity.enabled && !isByWords && strategyOf(state) === null
}

/** What this node's own store gives to an answer. */
interface OwnResults {
  readonly keys: readonly EntryKey[]
  /** Matches behind them. */
  readonly left: number
  /** The last of them, where more can be gathered. */
  readonly end: ScoredBelief | null
  /** Of each list at most so many. */
  readonly most: number
  /** Where there is no match, what came closest to the text. */
  readonly nearest: readonly EntryKey[]
  /** Whether more were near enough to the text than may be matches. */
  readonly isCut: boolean
  /** Federations that the requester may query, ascending. */
  readonly federations: readonly string[]
}

/** Each time so many times as many. */
const GROWTH = 4
/** They are copied, and held while the answer is read. */
const MAX_OWN = 10_000

/** By key in the store of this node, or as it came from another: what needs not be gathered. */
type Passed = ReadonlySet<EntryKey | Guest>

const NOTHING: Passed = new Set()

function ownResults(
  gathering: Gathering,
  most: number,
  time: TimeLimit,
  passed: Passed = NOTHING,
): Promise<OwnResults> {
  const { state, query, requester, embedded, asOf } = gathering
  return state.lookInSteps(
    requester,
    function* (view) {
      const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf)
      const { matches, isCut } = evaluation
      const kept = bestOfSources(evaluation, query.options, most).filter(({ createdAt }) => createdAt <= asOf)
      const canGrow = isInTotalOrder(gathering) && most < MAX_OWN && matches.count > most
      return {
        keys: kept.map(({ entry }) => entry).filter(entry => !passed.has(entry)),
        left: matches.count - kept.length,
        end: canGrow ? (kept.at(-1) ?? null) : null,
        most,
        nearest: evaluation.nearest().map(({ entry }) => entry),
        isCut,
        federations: view.requester.federations,
      }
    },
    time,
  )
}

/** Where sources are not put in one order, of each source (BQ-127 to BQ-129). */
function bestOfSources(
  evaluation: Evaluation,
  { mergeStrategy }: Pick<CheckedOptions, 'mergeStrategy'>,
  most: number,
): readonly ScoredBelief[] {
  return mergeStrategy === 'rerank' ? evaluation.best(most) : evaluation.bestOfEach(most).flat()
}

async function putTogether(
  gathering: Gathering,
  own: OwnResults,
  answered: CachedAnswer,
  time: TimeLimit,
  passed: Passed = NOTHING,
): Promise<AnswerSource> {
  const { state, query, requester, embedded, asOf } = gathering
  const { answer, isStale } = answered
  const guests = answer.answers.flatMap(one => one.guests).filter(guest => !passed.has(guest))
  const gathered = function* (home: ShowView): Steps<GatheredWorld> {
    const world = yield* gatherWorld(state, home, [...own.keys, ...own.nearest], guests, asOf)
    yield* world.state.columns.refreshInSteps()
    return world
  }
  const world = await state.lookInSteps(requester, gathered, time)
  const coverage = coverageOfNodes(query.options.scope, own.federations, answer)
  const nodes: NodesTold = {
    coverage,
    errors: nodeErrors(answer),
    isStale,
    isExact: own.left === 0 && !own.isCut && answer.failures.length === 0 && answer.answers.every(({ more }) => !more),
    cut: cutNodes(coverage, query.options),
  }
  const { end } = own
  return {
    ...{ state: world.state, embedded, asOf, byteLength: world.byteLength, nodes, left: own.left },
    showing: home => showingGathered(world, home, query.options),
    ...(end !== null && {
      end,
      grown: async (rest, limited) => {
        const kept = new Set(rest)
        const gone = [...world.homeKeys, ...world.guests].flatMap(([entry, one]) => (kept.has(entry) ? [] : [one]))
        const all = new Set([...passed, ...gone])
        const more = await ownResults(gathering, Math.min(MAX_OWN, GROWTH * own.most), limited, all)
        return putTogether(gathering, more, answered, limited, all)
      },
    }),
  }
}

// What other nodes gave for one answer and the best of this node's own, as a small store in memory that the answer is read
// from, and how its beliefs are shown (BQ-095, BQ-125, BQ-139, BQ-140).

/** `holder`: who that is, is asked of the guest. */
function guestVersion({ belief, source }: Guest, holder: string): StoredVersion {
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

/** `home`: as memberships and beliefs of this node are now. */
export function showingGathered(
  { state, guests, homeKeys }: GatheredWorld,
  home: ShowView,
  options: CheckedOptions,
): Showing {
  const own = showingOf(home, options)
  // Nobody changes the world of one answer, so that it may be looked at in steps.
  const view = state.look(home.requester.id, seen => seen, home.time)
  const isLetIn = ({ source }: Guest) =>
    source.kind !== 'federated' || home.requester.federations.includes(source.id as string)
  const homeKey = (entry: EntryKey) => homeKeys.get(entry) as EntryKey
  return {
    view,
    current: keys => {
      const shown = new Map(own.current(keys.flatMap(key => homeKeys.get(key) ?? [])).map(one => [one.entry, one]))
      return keys.flatMap((entry): readonly ShownBelief[] => {
        const guest = guests.get(entry)
        if (guest !== undefined) return isLetIn(guest) ? [shownGuest(entry, guest)] : []
        const one = shown.get(homeKey(entry))
        return one === undefined ? [] : [{ ...one, entry }]
      })
    },
    isSeen: entry => {
      const guest = guests.get(entry)
      return guest === undefined ? own.isSeen(homeKey(entry)) : isLetIn(guest)
    },
    more: belief => {
      const guest = guests.get(belief.entry)
      if (guest === undefined) return own.more({ ...belief, entry: homeKey(belief.entry) })
      return {
        node: guest.node,
        ...throughNode(guest),
        ...(options.includeDerivation ? chainInTime(view, belief, options.maxDerivationDepth) : {}),
      }
    },
  }
}

/** No agent is called so: who holds a guest is asked of the guest. */
const NOBODY = ''

function shownGuest(entry: EntryKey, guest: Guest): ShownBelief {
  const { belief, source } = guest
  return { entry, belief, version: guestVersion(guest, NOBODY), source, trustedAs: trustedAsGuest(guest) }
}

function throughNode({ source, memberCount }: Guest): Pick<RankedBelief, 'federation_id' | 'member_count'> {
  if (source.kind !== 'federated' || source.id === null) return {}
  return { federation_id: source.id, member_count: memberCount ?? 1 }
}
