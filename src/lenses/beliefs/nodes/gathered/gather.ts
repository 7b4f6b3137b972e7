/** Asks this node's own store and the other nodes at once, and puts together what they give (BQ-116 to BQ-134). */
import type { Instant } from '../../../../base/clock.ts'
import type { Steps } from '../../../../base/turns.ts'
import type { ShowView } from '../../access/show.ts'
import { verdictOf } from '../../answer/draft.ts'
import { warningsOf } from '../../query/asked.ts'
import { evaluateInSteps } from '../../query/evaluate.ts'
import { Evaluation } from '../../query/evaluation.ts'
import { type Embedded, understand } from '../../query/understand.ts'
import type { CheckedQuery } from '../../schema/query.ts'
import type { BeliefsState } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { askOrRecall, type CachedAnswer } from '../cached-nodes.ts'
import type { AskedSource, NodesAnswer } from '../guest.ts'
import { coverageOfNodes, mustHaveAnswer, nodeErrors } from './coverage.ts'
import { GatheredOrder, type OwnResults, ownResults } from './gathered-order.ts'
import { gatherWorld } from './gathered-world.ts'

export interface Gathering {
  readonly state: BeliefsState
  readonly query: CheckedQuery
  readonly requester: string
  /** Not empty. */
  readonly sources: readonly AskedSource[]
  readonly embedded: Embedded
  readonly asOf: Instant
  readonly time: TimeLimit
}

/** For putting together what is there, however long that took to come. */
const LEAST_LEFT_MS = 500

export interface Gathered {
  readonly order: GatheredOrder
  /** What is left for the first page. */
  readonly time: TimeLimit
}

/**
 * Rejects where nobody answered, and where the caller has gone. `completed`: puts something in the place of what nodes that
 * failed did not give.
 */
export async function gather(
  gathering: Gathering,
  completed: (answer: NodesAnswer) => NodesAnswer = answer => answer,
): Promise<Gathered> {
  const { state, query, requester, sources, embedded, asOf, time } = gathering
  const asking = askOrRecall({ state, requester, query, sources, vector: embedded.question, asOf, time })
  // Nobody waits for it where the store fails first.
  asking.catch(() => undefined)
  const { limit, offset, maxResultsPerNode } = query.options
  // As many as a node gives, and never fewer than the first page shows.
  const most = Math.max(maxResultsPerNode, limit + offset)
  const own = await state.lookInSteps(requester, view => ownOf(gathering, view, most), time)
  const given = await asking
  const nodes = { ...given, answer: completed(given.answer) }
  // Made with the first use, which is a write: before anything is read for the answer.
  state.secret()
  mustHaveAnswer(query.options.scope, own.keys.length, nodes.answer)
  const left = time.leftMs < LEAST_LEFT_MS ? new TimeLimit(LEAST_LEFT_MS, time.signal) : time
  const parts = { own, most, nodes, before: null }
  const order = await state.lookInSteps(requester, view => putTogether({ ...gathering, time: left }, view, parts), left)
  return { order, time: left }
}

/** Of this node's own, each time so many times as many. */
const GROWTH = 4
/** They are copied, and held while the answer is read. */
const MOST_OWN = 10_000

/** The same list, reaching further: with more of this node's own and the same answers of the others. Not within a read. */
export async function grown(gathering: Gathering, before: GatheredOrder): Promise<GatheredOrder> {
  const { state, requester, time } = gathering
  const most = Math.min(MOST_OWN, GROWTH * before.most)
  return state.lookInSteps(
    requester,
    function* (view) {
      const own = yield* ownOf(gathering, view, most)
      return yield* putTogether(gathering, view, { own, most, nodes: before.answered, before })
    },
    time,
  )
}

function* ownOf({ state, query, embedded, asOf }: Gathering, view: ShowView, most: number): Steps<OwnResults> {
  const { options } = query
  const own = ownResults(yield* evaluateInSteps(state, view, query, embedded, asOf), options, most, asOf)
  // Diversity chooses among a pool: what is chosen would be another list with more in it.
  return options.diversity.enabled || most >= MOST_OWN ? { ...own, ends: [] } : own
}

interface Together {
  readonly own: OwnResults
  readonly most: number
  readonly nodes: CachedAnswer
  readonly before: GatheredOrder | null
}

function* putTogether(
  { state, query, requester, embedded, asOf, time }: Gathering,
  home: ShowView,
  { own, most, nodes: answered, before }: Together,
): Steps<GatheredOrder> {
  const { answer: nodes, isStale } = answered
  const { scope, mergeStrategy, minSimilarity } = query.options
  const guests = nodes.answers.flatMap(answer => answer.guests)
  const world = yield* gatherWorld(state, home, [...own.keys, ...own.nearest], guests, asOf)
  yield* world.state.columns.refreshInSteps()
  const told = {
    coverage: coverageOfNodes(scope, own.federations, nodes),
    errors: nodeErrors(nodes),
    isStale,
    isExact: own.left === 0 && !own.isCut && nodes.failures.length === 0 && nodes.answers.every(({ more }) => !more),
  }
  // Nobody changes the world of one answer, so that it may be looked at in steps.
  const view = world.state.look(requester, seen => seen, time)
  const understood = understand(world.state, embedded, query.semantic, view.requester.sight)
  const question = { ...query, scope, minSimilarity, byTier: mergeStrategy === 'waterfall' }
  const evaluation = new Evaluation(world.state, view, question, understood, asOf)
  yield* evaluation.prepare()
  const warnings = warningsOf(query, embedded, evaluation)
  const verdict = yield* verdictOf(evaluation)
  return yield* GatheredOrder.of(
    { world, evaluation, nodes: told, verdict, warnings, own, most, answered, before },
    query,
  )
}
