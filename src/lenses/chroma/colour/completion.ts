/**
 * Sets of hashtags that keep the zone rules, made from fewer: by what occurs together with them in nodes (CQ-090), and by what of the
 * vocabulary is nearest in meaning to a text (CQ-149).
 */
import { nextTurn } from '../../../base/next-turn.ts'
import { TopK } from '../../../base/top-k.ts'
import type { Embedder } from '../../../embed/embedder.ts'
import { dot } from '../../../math/vector.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { LensHost } from '../../lens.ts'
import type { Binding, Zone } from '../model.ts'
import type { NeighboursOf, ToPlace } from './bindings.ts'
import { countZones, mustBeValid, violationsOf } from './coordinates.ts'

/** How a tag came into a set. */
export type Reason = 'named' | 'meaning' | 'words'

export interface ChosenTag {
  readonly hashtag: string
  readonly zone: Zone
  /** named: the text has it; meaning, words: of the vocabulary, the nearest to the text. */
  readonly reason: Reason
  /** From 0 to 1, higher is nearer. */
  readonly score: number
}

export function keepsRules(bindings: readonly Binding[]): boolean {
  return violationsOf(countZones(bindings)).length === 0
}

/** One Core and one Outer tag if there is none, then Mid tags until every rule holds or there are no more. `ranked`: best first. */
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
 * Every other tag of the nodes that carry a matched one, by the sum over its nodes of how many matched tags they carry, then by anchor.
 * Cost: all tags of all those nodes, a node as often as it has matched tags.
 */
export function neighboursOf(
  matched: readonly Binding[],
  nodesWith: (hashtag: string) => Iterable<readonly string[]>,
  resolve: (hashtag: string) => Binding | null,
): readonly Binding[] {
  const own = new Set(matched.map(({ hashtag }) => hashtag))
  const scores = new Map<string, number>()
  for (const hashtag of own) {
    for (const others of nodesWith(hashtag)) {
      for (const other of others) if (!own.has(other)) scores.set(other, (scores.get(other) ?? 0) + 1)
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
  /** Best first, then by anchor. */
  readonly tags: readonly { readonly binding: Binding; readonly score: number }[]
}

/** Longer texts are read to here, in UTF-16 units. */
const LONGEST = 2_000
/** Hashtags embedded at once. */
const BATCH = 128
/** Neighbours in meaning: at most so many, with at least this share of the cosine of the best. */
const NEIGHBOURS = 3
const NEARLY_BEST = 0.8

interface Neighbour {
  readonly other: string
  readonly cosine: number
}

function byCosine(one: Neighbour, other: Neighbour): number {
  return other.cosine - one.cosine || (one.other < other.other ? -1 : 1)
}

/** Hashtags by what they mean. A hashtag is embedded once an engine: some milliseconds each. */
export class TagMeanings {
  readonly #host: LensHost
  readonly #vectors = new Map<string, Float32Array>()

  constructor(host: LensHost) {
    this.#host = host
  }

  /** Of these, by the cosine with the text; by letters in common where there is no embedder, or it fails. */
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
   * Of those that are to be placed by meaning the neighbours: of the assigned ones and those before it in the list at most three, those whose
   * cosine is at least 0.8 of the best. None where there is no embedder, or it fails. Pauses.
   */
  async neighboursOf(
    list: readonly ToPlace[],
    assigned: readonly string[],
    signal?: AbortSignal,
  ): Promise<NeighboursOf> {
    const { embedder } = this.#host
    const names = [...assigned, ...list.map(({ hashtag }) => hashtag)]
    if (embedder === null || !list.some(({ byMeaning }) => byMeaning)) return () => []
    const vectorOf = await orNull(() => this.#embedded(names, embedder, signal))
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

/** Null where an embedder fails; what was cancelled is rejected. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code === 'cancelled') throw error
    return null
  }
}

/**
 * A set that keeps the zone rules for any text: what it names, then the nearest of the vocabulary. Throws `invalid_hashtags` where the
 * vocabulary is too small.
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
  mustBeValid(set)
  const scores = new Map(tags.map(({ binding, score }) => [binding.hashtag, score]))
  return set.map(({ hashtag, zone }, at) =>
    at < named.length
      ? { hashtag, zone, reason: 'named', score: 1 }
      : { hashtag, zone, reason: by, score: scores.get(hashtag) ?? 0 },
  )
}

/** `#machine_learning` as a text. */
export function wordsOf(hashtag: string): string {
  return hashtag.slice(1).replaceAll(/[_-]+/g, ' ')
}

/** Groups of three letters, with the ends of the word. */
function lettersOf(word: string): ReadonlySet<string> {
  const padded = ` ${word} `
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, at) => padded.slice(at, at + 3)))
}

const MOST_WORDS = 200

function textLetters(text: string): readonly ReadonlySet<string>[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words)].slice(0, MOST_WORDS).map(lettersOf)
}

/** With the word of the text that has most groups of letters in common with a word of the tag: twice those over all of both. */
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
