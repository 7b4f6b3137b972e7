/**
 * Anchors by relevance. Names, texts, passages and vectors each offer their best; all that are offered are then compared in
 * every part. What the question names in full comes first, whatever else is near it.
 */
import type { Hit, WordIndex, WordTerm } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import type { Call } from '../call.ts'
import { type Concept, textsOfConcepts } from '../concepts.ts'
import type { Look } from '../mind/look.ts'
import { type Anchor, wantsMeaning } from './anchors.ts'
import { tellingWords } from './cover.ts'
import { docShares } from './doc-share.ts'
import { type Evidence, weighed } from './evidence.ts'
import { nearest, type Space, spaceOf, termsOf } from './meaning.ts'
import { bestNames, type NameMatch } from './name-matches.ts'
import { passageConcepts } from './passages.ts'
import { pathShares } from './path-shares.ts'
import type { ContextRequest } from './request.ts'

export interface RankedAnchor extends Anchor {
  readonly evidence: Evidence
}

export interface RelevanceAnswer {
  /** Best first; more than fit an answer. */
  readonly anchors: readonly RankedAnchor[]
  readonly warnings: readonly string[]
}

/** Best names, and best texts, that are offered. */
const MOST_NAMED = 50
const MOST_TEXTS = 50

/** Not for mode `semantic`, where there is nothing to fuse. In the modes without meaning only names offer anchors. */
export async function relevantAnchors(call: Call, seen: Look, request: ContextRequest): Promise<RelevanceAnswer> {
  const { space, warnings } = await spaceFor(call, seen, request)
  await call.host.ready?.(['words'])
  const question: Question = {
    ...{ call, seen, space },
    words: call.host.index('words') as WordIndex,
    terms: termsOf(request.query),
    telling: tellingWords(request.query),
  }
  const anchors = compared(question, offered(question, request))
  return { anchors: anchors.sort(bestFirst), warnings }
}

interface Question {
  readonly call: Call
  readonly seen: Look
  readonly space: Space | null
  readonly words: WordIndex
  readonly terms: readonly WordTerm[]
  /** Folded. */
  readonly telling: readonly string[]
}

interface Offers {
  readonly names: ReadonlyMap<Concept, NameMatch>
  /** Cosines of those that are near enough to count. */
  readonly near: ReadonlyMap<Concept, number>
  readonly passages: ReadonlyMap<Concept, number>
  readonly texts: readonly Hit[]
}

async function spaceFor(
  call: Call,
  seen: Look,
  request: ContextRequest,
): Promise<{ readonly space: Space | null; readonly warnings: readonly string[] }> {
  if (!wantsMeaning(request) || seen.concepts.all.length === 0) return { space: null, warnings: [] }
  const { space, warning } = await spaceOf(call, seen, request.query)
  return { space, warnings: space === null ? [`${warning}: answered from names and words`] : [] }
}

function offered({ call, seen, space, words, terms, telling }: Question, { mode, query }: ContextRequest): Offers {
  const { concepts, sight } = seen
  const isHybrid = mode === 'hybrid'
  const names = bestNames(concepts, query, telling, { most: MOST_NAMED, inWords: mode !== 'exact' })
  return {
    names: new Map(names.map(match => [match.concept, match])),
    near: new Map(space === null ? [] : nearest(call, seen, space).map(({ concept, cosine }) => [concept, cosine])),
    passages: isHybrid ? passageConcepts(call, seen, terms) : new Map(),
    texts: isHybrid
      ? words.search({ terms, k: MOST_TEXTS, partitions: sight.partitions, allow: entrySet(concepts.all) })
      : [],
  }
}

function compared(question: Question, { names, near, passages, texts }: Offers): RankedAnchor[] {
  const { call, seen, space, words, terms, telling } = question
  const { partitions } = seen.sight
  const byText = texts.flatMap(({ entry }) => seen.concepts.byEntry(entry) ?? [])
  const all = [...new Set([...names.keys(), ...near.keys(), ...passages.keys(), ...byText])]
  const entries = all.map(({ entry }) => entry)
  const pathShare = pathShares(seen.concepts, telling, call.host.workspace?.url)
  const docs = textsOfConcepts(call.host.store, 'doc', entries)
  const docShare = docShares(words.weigh(terms, { partitions }))
  const bm = completed(new Map(texts.map(({ entry, score }) => [entry, score])), entries, missing =>
    words.score(terms, missing, { partitions }),
  )
  const best = Math.max(0, ...bm.values())
  const cosines = completed(new Map([...near].map(([{ entry }, cosine]) => [entry, cosine])), entries, missing =>
    space === null ? [] : space.index.score(space.vector, missing, { partitions }),
  )
  const scale = call.host.embedder?.model.cosineScale ?? 1
  return all.map(concept => {
    const { entry, url } = concept
    const named = names.get(concept)
    const match = named?.match ?? (near.has(concept) ? 'meaning' : 'text')
    const cosine = near.get(concept) ?? (match === 'text' ? (cosines.get(entry) ?? null) : null)
    const shares = {
      name: named?.share ?? 0,
      path: url === null ? 0 : pathShare(url),
      doc: docShare(docs.get(entry) ?? ''),
      text: best > 0 ? (bm.get(entry) ?? 0) / best : 0,
      passage: passages.get(concept) ?? 0,
      meaning: scale * (cosines.get(entry) ?? 0),
    }
    return { concept, match, cosine, evidence: weighed(concept, shares, space !== null) }
  })
}

/** What a search found, and the scores of the other entries. */
function completed(
  found: ReadonlyMap<EntryKey, number>,
  entries: readonly EntryKey[],
  scoresOf: (missing: readonly EntryKey[]) => readonly Hit[],
): ReadonlyMap<EntryKey, number> {
  const others = scoresOf(entries.filter(entry => !found.has(entry)))
  return new Map([...found, ...others.map(({ entry, score }) => [entry, score] as const)])
}

function bestFirst(a: RankedAnchor, b: RankedAnchor): number {
  const whole = Number(b.match === 'whole') - Number(a.match === 'whole')
  return whole || b.evidence.total - a.evidence.total || a.concept.id - b.concept.id
}
