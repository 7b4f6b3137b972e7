/** Computes the position of a set of hashtags in colour space from their anchors, for nodes that are stored and for queries. */

import { z } from 'zod'
import { type JsonObject, sha256 } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import { TopK } from '../../../base/top-k.ts'
import { nextTurn, type Steps } from '../../../base/turns.ts'
import type { Embedder } from '../../../embed/embedder.ts'
import { centreOfGravity } from '../../../math/gravity.ts'
import { dot } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { invalidParameter, UnknownHashtagError, ValidationError } from '../errors.ts'
import type { Binding, Color, Zone } from '../model.ts'
import { NODES } from '../tables.ts'
import {
  type BindingDraft,
  type BindingSet,
  type Bindings,
  checkTarget,
  hashtagsOf,
  isAt,
  type NeighboursOf,
  nodesCarrying,
  type Target,
  type ToPlace,
} from './bindings.ts'
import { normaliseHashtag } from './stack.ts'

/**
 * Hashtags that passed all checks: distinct, assigned, and with allowed numbers per zone. They are sorted by the id of their anchor, the
 * fixed point in colour space to which each hashtag is bound.
 */
export interface CheckedTags {
  /** The hashtags given for a node or a query, each in its normal form. */
  readonly hashtags: readonly string[]
  readonly bindings: readonly Binding[]
}

/**
 * The colour position of a node (stored note), with the node's hashtags sorted by the id of their anchor, the fixed point in colour space
 * to which each hashtag is bound.
 */
export interface NodePlace {
  readonly color: Color
  readonly node_id: string
  readonly hashtags: readonly string[]
}

const CAPACITY = 1000

export class Coordinates {
  readonly #bindings: Bindings
  /**
   * Cache of colours of hashtag sets. The key is the list of the set's anchor ids in ascending order; anchors never move, so a cached
   * colour is never out of date.
   */
  readonly #colors = new Recent<string, Color>(CAPACITY)
  /**
   * The set of bindings that was current when the cache was last cleaned: hashtag sets with a moved or unassigned hashtag were then removed
   * from it.
   */
  #seen: BindingSet

  constructor(bindings: Bindings) {
    this.#bindings = bindings
    this.#seen = bindings.current
  }

  /**
   * Checks a list of hashtags and returns them with their bindings. Throws, in this order, `invalid_parameter` for a text that is no
   * hashtag, `unknown_hashtag` for one that is not assigned, and `invalid_hashtags` for a set with too few hashtags in total or of a zone
   * (Core, Mid, Outer). `set`: bindings to use in place of the committed ones.
   */
  check(tags: readonly unknown[], set?: BindingSet): CheckedTags {
    const resolved = this.resolveAll(tags, set)
    assertValid(resolved)
    return { hashtags: resolved.map(({ hashtag }) => hashtag), bindings: resolved }
  }

  /**
   * Looks up the bindings (hashtag and anchor) of hashtags, without checking the numbers of hashtags per zone. Hashtags with the same
   * normal form count once.
   */
  resolveAll(tags: readonly unknown[], set: BindingSet = this.#bindings.current): readonly Binding[] {
    if (!Array.isArray(tags)) throw invalidParameter('hashtags', tags, 'a list of hashtags')
    const distinct = [...new Set(Array.from(tags, tag => normaliseHashtag(tag)))]
    const { resolve } = set
    const unknown = distinct.filter(hashtag => resolve(hashtag) === null)
    if (unknown.length > 0) throw new UnknownHashtagError(unknown)
    return distinct.flatMap(hashtag => resolve(hashtag) ?? []).sort((one, other) => one.anchor_id - other.anchor_id)
  }

  /**
   * The colour of a set of hashtags, from the cache where possible. `current`: the present bindings of hashtags to anchors, for callers
   * that have already read them.
   */
  color({ bindings }: Pick<CheckedTags, 'bindings'>, current: BindingSet = this.#bindings.current): Color {
    this.#forgetMoved(current)
    const anchors = bindings.map(({ anchor_id }) => anchor_id)
    return this.#colors.get(anchors.join(), () => centreOfGravity(bindings))
  }

  computeNodeColor(tags: readonly unknown[]): Color {
    return this.color(this.check(tags))
  }

  /**
   * The position in colour space of a node with these hashtags. Throws `invalid_parameter`, `unknown_hashtag` or `invalid_hashtags` where
   * the list is not allowed.
   */
  place(tags: readonly unknown[], set?: BindingSet): NodePlace {
    const { bindings, hashtags } = this.check(tags, set)
    const color = this.color({ bindings })
    return { color, node_id: nodeIdOf(color), hashtags }
  }

  /** Number of colours that are now in the cache. */
  get size(): number {
    this.#forgetMoved(this.#bindings.current)
    return this.#colors.size
  }

  /**
   * Removes from the cache the hashtag sets with a hashtag that was moved or unassigned since the last call: no later query can use them.
   */
  #forgetMoved(current: BindingSet): void {
    const before = this.#seen
    if (current === before) return
    this.#seen = current
    const isMoved = (anchor: number) => before.at(anchor)?.hashtag !== current.at(anchor)?.hashtag
    this.#colors.forget(anchors => anchors.split(',').map(Number).some(isMoved))
  }
}

export interface ZoneCounts {
  readonly core: number
  readonly mid: number
  readonly outer: number
  readonly total: number
}

/** Names of the rules for the number of tags per zone (`core`, `outer`, `total`, `mid`), in the order in which violations are reported. */
export type Violation = 'core' | 'outer' | 'total' | 'mid'

const MIN_TOTAL = 8
/** Name of the library function that suggests hashtags, which error messages mention. */
const SUGGEST = 'suggestHashtags'

/**
 * Counts hashtags by zone (Core, Mid, Outer). The zone is taken from the anchor's record and not computed from its distance to the centre.
 * The bindings must be distinct.
 */
export function countZones(bindings: readonly Pick<Binding, 'zone'>[]): ZoneCounts {
  const [core, mid, outer] = (['Core', 'Mid', 'Outer'] as const).map(
    zone => bindings.filter(binding => binding.zone === zone).length,
  ) as [number, number, number]
  return { core, mid, outer, total: bindings.length }
}

export function violationsOf({ core, mid, outer, total }: ZoneCounts): readonly Violation[] {
  const broken: readonly (readonly [Violation, boolean])[] = [
    ['core', core < 1],
    ['outer', outer < 1],
    ['total', total < MIN_TOTAL],
    ['mid', 20 * mid < 13 * total], // At least 65 percent of the tags must be of the zone Mid, compared in whole numbers: 20·mid ≥ 13·total.
  ]
  return broken.flatMap(([rule, isBroken]) => (isBroken ? [rule] : []))
}

/**
 * Smallest number of tags of each zone that must be added so that the set satisfies the zone rules. The smallest valid set has 1 Core tag,
 * 6 Mid tags and 1 Outer tag.
 */
export function missingTags({ core, mid, outer, total }: ZoneCounts): Pick<ZoneCounts, 'core' | 'mid' | 'outer'> {
  const missing = { core: core < 1 ? 1 : 0, outer: outer < 1 ? 1 : 0 }
  const others = total + missing.core + missing.outer
  // Number m of Mid tags to add: the smallest m with 20·(mid + m) ≥ 13·(others + m). `others`: number of all tags once the missing Core and
  // Outer tags are added.
  const forShare = Math.ceil((13 * others - 20 * mid) / 7)
  return { ...missing, mid: Math.max(0, MIN_TOTAL - others, forShare) }
}

/**
 * Throws `invalid_hashtags` where the set breaks a zone rule. The error's details are `violations`, `counts` (tags per zone), `missing`
 * (how many tags of each zone must at least be added), `hashtags` (the set), and those in `more`.
 */
export function assertValid(bindings: readonly Binding[], more: JsonObject = {}): void {
  const counts = countZones(bindings)
  const violations = violationsOf(counts)
  if (violations.length === 0) return
  const missing = missingTags(counts)
  const hashtags = bindings.map(({ hashtag }) => hashtag)
  // The error names the function that suggests hashtags both by its library name and by its operation; each interface shows users its own
  // form (CQ-036).
  const see = counts.total < MIN_TOTAL ? { see: { library: SUGGEST, operation: 'chroma.suggest_hashtags' } } : {}
  const details = {
    violations: [...violations],
    counts: { ...counts },
    missing: { ...missing },
    hashtags,
    ...see,
    ...more,
  }
  throw new ValidationError('invalid_hashtags', messageOf(counts, missing), details)
}

function messageOf(counts: ZoneCounts, missing: Pick<ZoneCounts, 'core' | 'mid' | 'outer'>): string {
  const given = `${counts.core} Core, ${counts.mid} Mid and ${counts.outer} Outer tags`
  const wanted = (['core', 'mid', 'outer'] as const)
    .filter(zone => missing[zone] > 0)
    .map(zone => `${missing[zone]} ${{ core: 'Core', mid: 'Mid', outer: 'Outer' }[zone]}`)
    .join(', ')
  const hint = counts.total < MIN_TOTAL ? `; ${SUGGEST} finds assigned tags in a text, or a whole set` : ''
  return (
    `hashtags: expected at least 1 Core, 1 Outer, ${MIN_TOTAL} in all and 65 percent Mid, got ${given}; ` +
    `missing: ${wanted}${hint}`
  )
}

/**
 * Id of a position in colour space, made from the colour rounded to six decimals. Nodes (stored notes) whose rounded colours are equal
 * share the id.
 */
export function nodeIdOf(color: Color): string {
  return `node_${sha256(color.map(sixDecimals).join(',')).slice(0, 16)}`
}

function sixDecimals(value: number): string {
  const text = value.toFixed(6)
  return text === '-0.000000' ? '0.000000' : text
}

// Adds hashtags to a set until it satisfies the zone rules (numbers of tags per zone): hashtags that occur in the same nodes as the set's
// (CQ-090), or assigned hashtags that are nearest in meaning to a text (CQ-149).

/** How a hashtag was chosen for a set: named in the text, near in meaning, or sharing letters with the text. */
export type Reason = 'named' | 'meaning' | 'words'

export interface ChosenTag {
  readonly hashtag: string
  readonly zone: Zone
  /**
   * `named`: the text contains the tag; `meaning`: the tag's embedding is near to that of the text; `words`: the tag shares letters with
   * words of the text.
   */
  readonly reason: Reason
  /** Likeness of the tag and the text, from 0 to 1, where 1 is nearest. */
  readonly score: number
}

export function keepsRules(bindings: readonly Binding[]): boolean {
  return violationsOf(countZones(bindings)).length === 0
}

/**
 * Adds to a set tags from `ranked` (best first): one Core and one Outer tag where the set has none, then Mid tags until the set has the
 * required numbers of tags (in total and per zone) or `ranked` has no more tags.
 */
export function filledWith(matched: readonly Binding[], ranked: readonly Binding[]): readonly Binding[] {
  const set = [...matched]
  if (keepsRules(set)) return set
  const others = ranked.filter(({ hashtag }) => !matched.some(one => one.hashtag === hashtag))
  for (const zone of ['Core', 'Outer'] as const) {
    const best = others.find(binding => binding.zone === zone)
    if (best !== undefined && !set.some(binding => binding.zone === zone)) set.push(best)
  }
  for (const mid of others.filter(binding => binding.zone === 'Mid')) {
    if (keepsRules(set)) break
    set.push(mid)
  }
  return set
}

/**
 * All other hashtags of the nodes that carry a hashtag in `matched`, sorted by a sum over their nodes: the number of matched hashtags in
 * each. Ties are sorted by anchor id (colour position). `nodesWith` gives the nodes of a hashtag in pages, with a pause for other work
 * after each.
 */
export function* neighboursOf(
  matched: readonly Binding[],
  nodesWith: (hashtag: string) => Iterable<readonly (readonly string[])[]>,
  resolve: (hashtag: string) => Binding | null,
): Steps<readonly Binding[]> {
  const own = new Set(matched.map(({ hashtag }) => hashtag))
  const scores = new Map<string, number>()
  for (const hashtag of own) {
    for (const page of nodesWith(hashtag)) {
      for (const other of page.flat()) if (!own.has(other)) scores.set(other, (scores.get(other) ?? 0) + 1)
      yield
    }
  }
  const scored = [...scores].flatMap(([hashtag, score]) => {
    const binding = resolve(hashtag)
    return binding === null ? [] : [{ binding, score }]
  })
  return scored.sort((a, b) => b.score - a.score || a.binding.anchor_id - b.binding.anchor_id).map(one => one.binding)
}

export interface NearTags {
  readonly by: 'meaning' | 'words'
  /**
   * Hashtags with their likeness to a text, highest likeness first; ties are sorted by the id of the anchor (colour position) to which they
   * are bound.
   */
  readonly tags: readonly { readonly binding: Binding; readonly score: number }[]
}

/** Length in UTF-16 units of the beginning of a text that is compared with hashtags; the rest is ignored. */
const LONGEST = 2_000
/** Number of hashtags that are embedded in one call of the model. */
const BATCH = 128
/**
 * Largest number of hashtags near in meaning whose mean colour decides where a new hashtag is placed. Each of them must have at least
 * `NEARLY_BEST` times the cosine of the nearest one.
 */
const NEIGHBOURS = 3
const NEARLY_BEST = 0.8

interface Neighbour {
  readonly other: string
  readonly cosine: number
}

function byCosine(one: Neighbour, other: Neighbour): number {
  return other.cosine - one.cosine || (one.other < other.other ? -1 : 1)
}

/** Embedding vectors of hashtags. Each hashtag is embedded once per engine, which takes some milliseconds. */
export class TagMeanings {
  readonly #host: LensHost
  readonly #vectors = new Map<string, Float32Array>()

  constructor(host: LensHost) {
    this.#host = host
  }

  /**
   * The given hashtags ordered by the cosine of their embedding with that of the text; by shared groups of letters where there is no
   * embedder or it fails.
   */
  async near(text: string, bindings: readonly Binding[], signal?: AbortSignal): Promise<NearTags> {
    const head = text.slice(0, LONGEST)
    const cosines = await this.#cosines(head, bindings, signal)
    const letters = cosines === null ? textLetters(head) : null
    const scoreOf = (binding: Binding) => cosines?.get(binding.hashtag) ?? likeness(binding.hashtag, letters ?? [])
    const tags = bindings.map(binding => ({ binding, score: Math.min(1, Math.max(0, scoreOf(binding))) }))
    tags.sort((a, b) => b.score - a.score || a.binding.anchor_id - b.binding.anchor_id)
    return { by: cosines === null ? 'words' : 'meaning', tags }
  }

  async #cosines(
    text: string,
    bindings: readonly Binding[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, number> | null> {
    const { embedder } = this.#host
    if (embedder === null || text.trim() === '') return null
    return orNull(async () => {
      const [asked] = await embedder.embed([text], 'query', signal)
      const vectorOf = await this.#embedded(
        bindings.map(({ hashtag }) => hashtag),
        embedder,
        signal,
      )
      return new Map(bindings.map(({ hashtag }) => [hashtag, dot(asked as Float32Array, vectorOf(hashtag))]))
    })
  }

  /**
   * For each hashtag whose place is to be chosen by meaning: at most three hashtags, assigned or earlier in the list, whose cosine with it
   * is at least 0.8 of the highest. Empty lists without an embedder or when it fails. Pauses at intervals so that other work can run.
   */
  async neighboursOf(list: readonly ToPlace[], assigned: readonly string[]): Promise<NeighboursOf> {
    const { embedder } = this.#host
    const names = [...assigned, ...list.map(({ hashtag }) => hashtag)]
    if (embedder === null || !list.some(({ byMeaning }) => byMeaning)) return () => []
    const vectorOf = await orNull(() => this.#embedded(names, embedder))
    if (vectorOf === null) return () => []
    const found = new Map<string, readonly string[]>()
    const before = new Set(assigned)
    for (const { hashtag, byMeaning } of list) {
      if (byMeaning && !before.has(hashtag)) {
        const own = vectorOf(hashtag)
        const near = new TopK<Neighbour>(NEIGHBOURS, byCosine)
        for (const other of before) near.push({ other, cosine: dot(own, vectorOf(other)) })
        const best = near.sorted()
        const least = NEARLY_BEST * (best[0]?.cosine ?? 0)
        const isNear = ({ cosine }: Neighbour) => cosine > 0 && cosine >= least
        found.set(
          hashtag,
          best.filter(isNear).map(({ other }) => other),
        )
        await nextTurn()
      }
      before.add(hashtag)
    }
    return hashtag => found.get(hashtag) ?? []
  }

  async #embedded(
    hashtags: readonly string[],
    embedder: Embedder,
    signal?: AbortSignal,
  ): Promise<(hashtag: string) => Float32Array> {
    const missing = hashtags.filter(hashtag => !this.#vectors.has(hashtag))
    for (let at = 0; at < missing.length; at += BATCH) {
      const some = missing.slice(at, at + BATCH)
      const vectors = await embedder.embed(some.map(wordsOf), 'passage', signal)
      for (const [place, hashtag] of some.entries()) this.#vectors.set(hashtag, vectors[place] as Float32Array)
    }
    return hashtag => this.#vectors.get(hashtag) as Float32Array
  }
}

/** Runs work that uses the embedder and returns its result; null where the embedder fails. A cancellation is not a failure: it rejects. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code === 'cancelled') throw error
    return null
  }
}

/**
 * Chooses for any text a set of hashtags with the required numbers in total and per zone: the hashtags that the text names, then assigned
 * hashtags nearest to the text. Throws `invalid_hashtags` where too few hashtags are assigned.
 */
export async function completeSet(
  text: string,
  named: readonly Binding[],
  vocabulary: readonly Binding[],
  meanings: TagMeanings,
  signal?: AbortSignal,
): Promise<readonly ChosenTag[]> {
  const { by, tags } = await meanings.near(text, vocabulary, signal)
  const set = filledWith(
    named,
    tags.map(({ binding }) => binding),
  )
  assertValid(set)
  const scores = new Map(tags.map(({ binding, score }) => [binding.hashtag, score]))
  return set.map(({ hashtag, zone }, at) =>
    at < named.length
      ? { hashtag, zone, reason: 'named', score: 1 }
      : { hashtag, zone, reason: by, score: scores.get(hashtag) ?? 0 },
  )
}

/** A hashtag as words: `#machine_learning` gives "machine learning". */
export function wordsOf(hashtag: string): string {
  return hashtag.slice(1).replaceAll(/[_-]+/g, ' ')
}

/** All groups of three adjacent letters of a word, with a blank before and after the word, so that its start and end count. */
function lettersOf(word: string): ReadonlySet<string> {
  const padded = ` ${word} `
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, at) => padded.slice(at, at + 3)))
}

const MAX_WORDS = 200

function textLetters(text: string): readonly ReadonlySet<string>[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words)].slice(0, MAX_WORDS).map(lettersOf)
}

/**
 * Likeness of a hashtag and a text from 0 to 1: the highest value, over pairs of a word of the hashtag and a word of the text, of twice the
 * shared letter groups divided by the groups of both words.
 */
function likeness(hashtag: string, words: readonly ReadonlySet<string>[]): number {
  let best = 0
  for (const part of wordsOf(hashtag).split(' ')) {
    const own = lettersOf(part)
    for (const other of words) {
      let common = 0
      for (const group of own) if (other.has(group)) common++
      best = Math.max(best, (2 * common) / (own.size + other.size))
    }
  }
  return best
}

// Moves a hashtag to another anchor, and all nodes that carry the hashtag to their new positions, in one transaction.

export const migration = z.lazy(() =>
  z.strictObject({
    hashtag: z.string().describe('Normalised: #lower-case'),
    from_anchor_id: z.int().min(1).describe('Anchor it left'),
    to_anchor_id: z.int().min(1).describe('Anchor it is bound to now'),
    nodes_updated: z.int().min(0).describe('Nodes that carry it, of all holders, whose colour changed'),
  }),
)
export type Migration = Readonly<z.infer<typeof migration>>

/**
 * Moves a hashtag to a free anchor (colour position) of a zone or to a chosen anchor. Texts, times, memories and plug-in columns of nodes
 * are kept. Throws `migration_invalid` (details.entry_ids) when a node would have too few hashtags of a zone. Only for the owner: result
 * and error reveal nodes of all holders.
 */
export function migrateHashtag(
  host: LensHost,
  bindings: Bindings,
  hashtag: string,
  to: Target,
  neighboursOf?: NeighboursOf,
): Migration {
  const tag = normaliseHashtag(hashtag, 'hashtag')
  const target = checkTarget(to)
  // When a hashtag is to move near another one, a better anchor (colour position) may be free in its own zone, so such a hashtag always
  // counts as not yet placed.
  const isThere = (held: Binding) => target.near === undefined && isAt(held, target)
  const still = bindings.current.resolve(tag)
  if (still !== null && isThere(still)) return moved(still, still, 0)
  return bindings.change((draft, writer) => {
    const from = draft.resolve(tag)
    if (from === null) throw new UnknownHashtagError([tag])
    if (isThere(from)) return moved(from, from, 0)
    // When a hashtag is to move near another one, the anchor (colour position) that it has now counts as free, since it may be the nearest.
    if (target.near !== undefined) draft.free(from)
    const place = draft.placeFor(tag, target)
    if (target.near === undefined) draft.free(from)
    const binding = draft.bind(tag, place)
    if (place === from.anchor_id) return moved(from, from, 0)
    const nodes = nodesCarrying(host, writer, tag)
    assertStaysValid(nodes, draft, writer)
    moveNodes(nodes, draft, writer)
    return moved(from, binding, nodes.length)
  }, neighboursOf)
}

function moved(from: Binding, to: Binding, nodes: number): Migration {
  return { hashtag: to.hashtag, from_anchor_id: from.anchor_id, to_anchor_id: to.anchor_id, nodes_updated: nodes }
}

function assertStaysValid(nodes: readonly EntryKey[], draft: BindingDraft, writer: StoreWriter): void {
  const broken = nodes.filter(entry => {
    const tags = hashtagsOf(writer, entry)
    const bindings = tags.flatMap(tag => draft.resolve(tag) ?? [])
    return bindings.length < tags.length || violationsOf(countZones(bindings)).length > 0
  })
  if (broken.length === 0) return
  const ids = writer.identities(broken).map(({ id }) => id)
  throw new ValidationError(
    'migration_invalid',
    `hashtag: ${ids.length} nodes would break the zone rules, among them ${ids.slice(0, 3).join(', ')}`,
    { entry_ids: ids },
    undefined,
    { help: 'Choose an anchor of the same zone, or delete these nodes first.' },
  )
}

interface Place {
  readonly color: Color
  readonly node_id: string
  /** Hashtags of a node (stored note) as a JSON list, sorted by the id of the anchor (fixed colour position) to which each is bound. */
  readonly hashtags: string
}

/** Largest number of hashtag sets whose colour position is cached during a move; many nodes have equal sets. */
const KEPT_PLACES = 1000

function moveNodes(nodes: readonly EntryKey[], draft: BindingDraft, writer: StoreWriter): void {
  const table = writer.table(NODES)
  const places = new Recent<string, Place>(KEPT_PLACES)
  for (const entry of nodes) {
    const row = table.get({ entry })
    if (row === undefined) continue
    const before = String(row['hashtags'])
    const { color, node_id, hashtags } = places.get(before, () => placeOf(JSON.parse(before) as string[], draft))
    const [l, a, b] = color
    table.put({ ...row, l, a, b, node_id, hashtags, version: Number(row['version']) + 1 })
    writer.announce(entry)
  }
}

function placeOf(tags: readonly string[], draft: BindingDraft): Place {
  const bindings = tags.flatMap(tag => draft.resolve(tag) ?? []).sort((one, other) => one.anchor_id - other.anchor_id)
  const color = centreOfGravity(bindings)
  return { color, node_id: nodeIdOf(color), hashtags: JSON.stringify(bindings.map(({ hashtag }) => hashtag)) }
}
