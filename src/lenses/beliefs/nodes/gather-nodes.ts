/** Asks other nodes for a query, and makes what they give a leg of it (BQ-116 to BQ-134). */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { guestVersion, type ShowView } from '../access/show.ts'
import { coverageOf, type NodesTold } from '../answer/show-page.ts'
import { BeliefsError } from '../errors.ts'
import { contentWords, foldContent, shareOfWords } from '../matching/operators.ts'
import type { Coverage, NodeCoverage, QueryResult } from '../model.ts'
import { Evaluation, evaluateInSteps, questionOf } from '../query/evaluation.ts'
import { type Embedded, type Understood, understand } from '../query/understand.ts'
import type { GuestLeg, ScoredBelief } from '../ranking/scored.ts'
import { aspectRow, chunkOf, entryOf } from '../record/version.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import { type CheckedOptions, type CheckedQuery, type CheckedScope, MAX_PER_NODE } from '../schema/query.ts'
import { type BeliefsState, guestState } from '../state.ts'
import { BELIEFS } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { askOrRecall, bytesOf } from './asking/ask-nodes.ts'
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

/** Neither a node nor this one's own store. */
function nobodyAnswered({ failures }: NodesAnswer): BeliefsError {
  const reasons = failures.map(({ reason }) => reason)
  const details = { nodes: failures.map(({ source }) => source.peer.id), reason: reasons[0] ?? null, reasons }
  if (failures.every(({ code }) => code === 'TIMEOUT')) {
    const elapsed = Math.round(Math.max(...failures.map(({ elapsedMs }) => elapsedMs)))
    return new BeliefsError('TIMEOUT', 'no node answered in time', { ...details, elapsed_ms: elapsed })
  }
  const message = failures.some(({ retryable }) => retryable)
    ? 'no node could answer; try again'
    : 'no node answers this requester; asking again changes nothing'
  return new BeliefsError('NODE_UNAVAILABLE', message, details)
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

/** For evaluating what is there, however long that took to come. */
const MIN_LEFT_MS = 500

interface Gathered {
  readonly nodes: NodesTold & { readonly leg: GuestLeg }
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
  const given = await askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  const answer = completed(given.answer)
  const left = time.leftMs < MIN_LEFT_MS ? new TimeLimit(MIN_LEFT_MS, time.signal) : time
  if (!query.options.scope.local && answer.answers.length === 0 && answer.asked.length > 0) {
    const own = (view: ShowView) => evaluateInSteps(state, view, query, embedded, asOf)
    if ((await state.lookInSteps(requester, own, left)).total === 0) throw nobodyAnswered(answer)
  }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
  const leg = await state.lookInSteps(requester, view => legOf(gathering, view, answer), left)
  const coverage = coverageOfNodes(query.options.scope, state.requester(requester).federations, answer)
  const nodes = {
    coverage,
    errors: nodeErrors(answer),
    isStale: given.isStale,
    isExact: answer.failures.length === 0 && answer.answers.every(({ more }) => !more),
    cut: cutNodes(coverage, query.options),
    leg,
  }
  return { nodes, time: left }
}

/**
 * What other nodes gave, filtered and scored as this node's own is (BQ-125): by the same code, over a small store in memory. Beliefs of
 * this node have no part in that. In steps.
 */
function* legOf(gathering: Gathering, home: ShowView, answer: NodesAnswer): Steps<GuestLeg> {
  const { state, query, requester, embedded, asOf } = gathering
  const world = yield* guestWorld(
    state,
    home,
    answer.answers.flatMap(one => one.guests),
    asOf,
  )
  yield* world.state.columns.refreshInSteps()
  // Nobody else has that store: it may be looked at in steps.
  const view = world.state.look(requester, seen => seen, home.time)
  const understood = understand(world.state, embedded, query.semantic, view.requester.accessScope)
  const meaning = understood.meaning.by === 'words' ? byWords(world, query.semantic?.base ?? '') : understood.meaning
  const question = { ...questionOf(query), isUncut: true }
  const evaluation = new Evaluation(world.state, view, question, { ...understood, meaning }, asOf)
  yield* evaluation.rank()
  return {
    scored: evaluation.best(evaluation.matches.count).map(asGuest),
    guests: new Map([...world.guests].map(([key, guest]) => [guestEntry(key), guest])),
    pending: evaluation.pending,
    nearest: evaluation.nearest().map(asGuest),
    byteLength: bytesOf(answer),
  }
}

/** No entry of a store has such a key. */
function guestEntry(key: EntryKey): EntryKey {
  return -key
}

function asGuest(scored: ScoredBelief): ScoredBelief {
  return { ...scored, entry: guestEntry(scored.entry), row: -1 }
}

/** What statistics of words say of these few texts is nothing that this node's own could be compared with. */
function byWords({ guests }: GuestWorld, text: string): Understood['meaning'] {
  const words = contentWords(text)
  const shareOf = ({ belief }: Guest) => shareOfWords(words, foldContent(belief.content))
  return { by: 'words', shares: new Map([...guests].map(([key, guest]) => [key, shareOf(guest)])) }
}

interface GuestWorld {
  readonly state: BeliefsState
  readonly guests: ReadonlyMap<EntryKey, Guest>
}

/** Beliefs that are written in one step. */
const WRITTEN_AT_ONCE = 100
const MEMBER = { status: 'active', role: null, permissions: null, joined_at: null }
const NO_FEDERATION = { label: null, did: null, joining: null, results: null, reputation: null }

/** In steps. */
function* guestWorld(
  home: BeliefsState,
  { requester, model }: ShowView,
  given: readonly Guest[],
  asOf: Instant,
): Steps<GuestWorld> {
  if (home.host.scratch === undefined) throw new Error('invariant broken: nowhere to put what nodes answered')
  const scratch = home.host.scratch()
  const guests = new Map<EntryKey, Guest>()
  const join = (writer: StoreWriter, federation: string, agent: string) =>
    writer.table(MEMBERSHIPS).put({ ...MEMBER, federation, agent, updated_at: asOf })
  const put = (writer: StoreWriter, guest: Guest) => {
    // Another holder for each, and not the requester: so copies of one id can be side by side.
    const holder = `guest.${guests.size}`
    const version = guestVersion(guest, holder === requester.id ? `${holder}.` : holder)
    for (const federation of version.federationIds) join(writer, federation, version.holder)
    const { key } = writer.put(entryOf(version, asOf), [chunkOf(version)])
    writer.table(BELIEFS).put(aspectRow(version, key))
    guests.set(key, guest)
    const { vector } = guest
    if (model === null || vector === null) return
    const chunks = writer.chunksOf(key)
    writer.putVectors(
      model,
      chunks.map(({ key: chunk }) => ({ chunk, vector })),
    )
  }
  scratch.store.write(asOf, writer => {
    for (const federation of requester.federations) {
      join(writer, federation, requester.id)
      const anonymity = requester.isStrict(federation) ? 'strict' : null
      writer.table(FEDERATIONS).put({ ...NO_FEDERATION, id: federation, created_at: asOf, anonymity })
    }
  })
  for (let at = 0; at < given.length; at += WRITTEN_AT_ONCE) {
    scratch.store.write(asOf, writer => {
      for (const guest of given.slice(at, at + WRITTEN_AT_ONCE)) put(writer, guest)
    })
    yield
  }
  const host: LensHost = { ...home.host, store: scratch.store, index: name => scratch.index(name) }
  return { state: guestState(home, host, guests), guests }
}
