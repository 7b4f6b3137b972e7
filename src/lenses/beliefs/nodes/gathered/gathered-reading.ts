/**
 * An answer of several nodes, read page by page or piece by piece. The list is made once; what is read of it is shown as of
 * the moment of reading, as far as it may be seen still (BQ-095, BQ-139, BQ-140).
 */
import type { EntryKey } from '../../../../model/entry.ts'
import type { LiveItem } from '../../../../model/live.ts'
import { trustedAsGuest } from '../../access/row-origins.ts'
import type { ShownBelief, ShowView } from '../../access/show.ts'
import { draftOf } from '../../answer/page-draft.ts'
import {
  type Answer,
  type Compared,
  chainInTime,
  type Showing,
  showingOf,
  showPage,
  tellPage,
} from '../../answer/show-page.ts'
import { itemOf, saidBy, textOfTrust, type UnratedItem } from '../../live/live-items.ts'
import type { BeliefSource, QueryResult } from '../../model.ts'
import {
  type CursorContent,
  type CursorOwner,
  cursorExpired,
  nameOf,
  ordersOf,
  type Pages,
  writeCursor,
} from '../../paging/held-order.ts'
import type { Boundary, Picked, ScoredBelief } from '../../ranking/scored.ts'
import { trustFound } from '../../ranking/trust-found.ts'
import type { CheckedWarning } from '../../schema/filters.ts'
import type { CheckedOptions } from '../../schema/query.ts'
import type { TimeLimit } from '../../time-limit.ts'
import { noteUse } from '../../trust/acts.ts'
import type { Guest } from '../guest.ts'
import { cutNodes, type Gathering, gather, grown } from './gather-nodes.ts'
import { GatheredOrder, type GatheredWorld, guestVersion } from './gathered-order.ts'

/** `home`: as memberships and beliefs of this node stand now; `view`: of the gathered world. */
function showingGathered(
  { guests, homeKeys }: GatheredWorld,
  home: ShowView,
  view: ShowView,
  options: CheckedOptions,
): Showing {
  const own = showingOf(home, options)
  const guestAt = (entry: EntryKey): Guest | undefined => guests.get(entry)
  const isLetIn = ({ source }: Guest) =>
    source.kind !== 'federated' || home.requester.federations.includes(source.id as string)
  const homeKey = (entry: EntryKey) => homeKeys.get(entry) as EntryKey
  return {
    view,
    current: keys => {
      const shown = new Map(own.current(keys.flatMap(key => homeKeys.get(key) ?? [])).map(one => [one.entry, one]))
      return keys.flatMap((entry): readonly ShownBelief[] => {
        const guest = guestAt(entry)
        if (guest !== undefined) return isLetIn(guest) ? [shownGuest(entry, guest)] : []
        const one = shown.get(homeKey(entry))
        return one === undefined ? [] : [{ ...one, entry }]
      })
    },
    isSeen: entry => {
      const guest = guestAt(entry)
      return guest === undefined ? own.isSeen(homeKey(entry)) : isLetIn(guest)
    },
    more: belief => {
      const guest = guestAt(belief.entry)
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

function throughNode({ source, memberCount }: Guest): {
  readonly federation_id?: string
  readonly member_count?: number
} {
  if (source.kind !== 'federated' || source.id === null) return {}
  return { federation_id: source.id, member_count: memberCount ?? 1 }
}

/** The beginning of the order, as far as the question goes. What the score of this node's own rests on is left to its store: the empty text. */
export function gatheredItems(
  { world, picks, evaluation }: GatheredOrder,
  home: ShowView,
  options: CheckedOptions,
): readonly LiveItem[] {
  const first = new Map(
    picks.slice(options.offset, options.offset + options.limit).map(({ scored }) => [scored.entry, scored]),
  )
  return world.state.look(home.requester.id, view =>
    showingGathered(world, home, view, options)
      .current([...first.keys()])
      .map((shown, at) => {
        const guest = world.guests.get(shown.entry)
        const scored = first.get(shown.entry) as ScoredBelief
        const item = guest === undefined ? itemOf(shown, home) : guestItem(guest)
        const standing = guest === undefined ? '' : textOfTrust(trustFound(evaluation, scored).trust)
        return { ...item, score: scored.final, rank: at + 1, standing }
      }),
  )
}

/** A belief of another node, through all its versions. */
function guestItem(guest: Guest): UnratedItem {
  const { belief } = guest
  return { ...saidBy(belief), key: keyOfGuest(guest), since: Date.parse(belief.created_at) }
}

/** The same for all versions of the belief. */
export function keyOfGuest({ node, source, chain }: Guest): string {
  return JSON.stringify([MARK, source.kind, source.id, node, chain])
}

const MARK = 'node'
const PARTS = 5

/** Where an item of that key came from; null: from this node's own store, whose keys have two parts. */
export function guestOfKey(key: string): (BeliefSource & { readonly node: string }) | null {
  const parts = JSON.parse(key) as readonly string[]
  if (parts.length !== PARTS) return null
  const [, kind, id, node] = parts as [string, BeliefSource['kind'], string | null, string]
  return { kind, id, node }
}

/** Of the first page, or behind a cursor: the order that is held for it, or the same one gathered again. */
export async function openGathered(
  gathering: Gathering,
  owner: CursorOwner,
  content: CursorContent | null,
  limited: () => TimeLimit,
): Promise<GatheredReading> {
  const { state, query } = gathering
  const { offset } = query.options
  if (content === null) {
    const { order, time } = await gather(gathering)
    return new GatheredReading({ ...gathering, time }, owner, order, { place: offset, passed: offset }, limited)
  }
  const found = ordersOf(state).find(nameOf(owner, content), owner.requester, state.host.clock.now())
  const held = found instanceof GatheredOrder ? found : null
  const { order: first, time } = held === null ? await gather(gathering) : { order: held, time: gathering.time }
  if (first.digest !== content.digest) throw cursorExpired()
  const { order, place } = await reachedBehind(content.boundary, first, { ...gathering, time })
  return new GatheredReading({ ...gathering, time }, owner, order, { place, passed: content.passed }, limited)
}

/** The list as far as it is needed to find the place. */
async function reachedBehind(boundary: Boundary, found: GatheredOrder, gathering: Gathering) {
  for (let order = found; ; order = await grown(gathering, order)) {
    const place = order.placeBehind(boundary)
    if (place !== null) return { order, place }
    if (!order.goesOn) throw cursorExpired()
  }
}

interface Reached {
  /** In the list. */
  readonly place: number
  /** Results that stand before the next. */
  readonly passed: number
}

class GatheredReading implements Pages {
  readonly #gathering: Gathering
  readonly #owner: CursorOwner
  #order: GatheredOrder
  readonly #limited: () => TimeLimit
  #place: number
  #passed: number
  #time: TimeLimit | null
  #boundary: Boundary | null = null
  #compared: readonly Compared[] = []

  constructor(
    gathering: Gathering,
    owner: CursorOwner,
    order: GatheredOrder,
    { place, passed }: Reached,
    limited: () => TimeLimit,
  ) {
    this.#gathering = gathering
    this.#owner = owner
    this.#order = order
    this.#place = place
    this.#passed = passed
    this.#time = gathering.time
    this.#limited = limited
  }

  get hasMore(): boolean {
    return this.#place < this.#order.picks.length || this.#order.goesOn
  }

  get passed(): number {
    return this.#passed
  }

  /** The list stays with whoever reads it: it is short. */
  keep(): void {}

  async goOn(): Promise<void> {}

  release(): void {}

  async next(limit: number): Promise<QueryResult> {
    const { state, query, requester } = this.#gathering
    const time = this.#time ?? this.#limited()
    this.#time = null
    await this.#reach(limit, time)
    const { answer, last } = state.look(requester, home => this.#answer(home, limit, time), time)
    if (last !== undefined) this.#boundary = last.scored
    this.#compared = answer.compared
    if (!query.options.dryRun) {
      const { store, clock } = state.host
      noteUse({ store, now: clock.now() }, state.trust, requester, answer.used)
    }
    return answer.result
  }

  cursor(): string | null {
    const [order, boundary, { state }, owner] = [this.#order, this.#boundary, this.#gathering, this.#owner]
    if (!this.hasMore || boundary === null) return null
    const now = state.host.clock.now()
    const content = { asOf: this.#gathering.asOf, boundary, passed: this.#passed, digest: order.digest }
    ordersOf(state).hold(nameOf(owner, content), owner.requester, order, order.byteLength, now)
    return writeCursor(state.secret(), owner, content, now)
  }

  #answer(
    home: ShowView,
    limit: number,
    time: TimeLimit,
  ): { readonly answer: Answer; readonly last: Picked | undefined } {
    const { query, requester } = this.#gathering
    const { world, evaluation, nodes, verdict, warnings: ofOrder, placed, total } = this.#order
    const { isCut } = evaluation
    return world.state.look(
      requester,
      view => {
        const showing = showingGathered(world, home, view, query.options)
        const passed = this.#passed
        const picked = this.#take(limit, entry => showing.isSeen(entry))
        const isExplained = query.options.includeExplanation
        const scoredBy = evaluation
        const warnings = [...ofOrder, ...this.#cutNodes()]
        const parts = { picked, passed, total, isCut, verdict, warnings, scoredBy, front: placed, isExplained, nodes }
        const draft = draftOf(view, parts)
        const shown = showPage(showing, draft, this.#compared)
        return { answer: tellPage(query, requester, draft, shown, time), last: picked.at(-1) }
      },
      time,
    )
  }

  /** Gathers more of this node's own while there is too little of the list for so many. */
  async #reach(limit: number, time: TimeLimit): Promise<void> {
    while (this.#order.goesOn && this.#place + limit > this.#order.picks.length) {
      const before = this.#order
      this.#order = await grown({ ...this.#gathering, time }, before)
      this.#place = this.#order.placeOf(before, this.#place)
    }
  }

  /** At the end of the list: which nodes have more than it shows. */
  #cutNodes(): readonly CheckedWarning[] {
    if (this.hasMore) return []
    return cutNodes(this.#order.nodes.coverage, this.#gathering.query.options)
  }

  /** The next that may be seen still. */
  #take(limit: number, isSeen: (entry: number) => boolean): readonly Picked[] {
    const { picks } = this.#order
    const taken: Picked[] = []
    while (taken.length < limit && this.#place < picks.length) {
      const pick = picks[this.#place++] as Picked
      if (isSeen(pick.scored.entry)) taken.push(pick)
    }
    this.#passed += taken.length
    return taken
  }
}
