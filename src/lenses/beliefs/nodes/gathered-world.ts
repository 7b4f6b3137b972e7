/**
 * What other nodes gave for one answer and the best of this node's own, as a small store in memory that the answer is read
 * from, and how its beliefs are shown (BQ-095, BQ-125, BQ-139, BQ-140).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { trustedAsGuest } from '../access/row-origins.ts'
import type { ShownBelief, ShowView } from '../access/show.ts'
import { chainInTime, type Showing, showingOf } from '../answer/show-page.ts'
import { vectorsOf } from '../embedding.ts'
import type { RankedBelief } from '../model.ts'
import { lendDetector } from '../opposition/heuristic.ts'
import { currentOfKeys } from '../record/read.ts'
import { aspectRow, chunkOf, entryOf, type StoredVersion } from '../record/version.ts'
import type { CheckedOptions } from '../schema/query.ts'
import { type BeliefsState, guestState } from '../state.ts'
import { BELIEFS } from '../tables.ts'
import type { Guest } from './guest.ts'

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
