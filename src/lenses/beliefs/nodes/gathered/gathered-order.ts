/** The one list that the results of all sources become, for as long as somebody reads it, and what this node's own store gives to it. */
import { sha256 } from '../../../../base/canonical.ts'
import type { Instant } from '../../../../base/clock.ts'
import type { Steps } from '../../../../base/turns.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import type { NodesTold, Verdict } from '../../answer/draft.ts'
import { type Front, ranksOf, settledList, strategyOf } from '../../answer/front.ts'
import { diversely, limitWarnings, MOST_COMPARED, merged, POOL } from '../../answer/spread.ts'
import type { Evaluation } from '../../query/evaluation.ts'
import { type Boundary, type Picked, type ScoredBelief, unspread } from '../../ranking/scored.ts'
import type { CheckedWarning } from '../../schema/context.ts'
import type { CheckedOptions, CheckedQuery } from '../../schema/query.ts'
import type { CachedAnswer } from '../cached-nodes.ts'
import type { Guest } from '../guest.ts'
import type { GatheredWorld } from './gathered-world.ts'

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
