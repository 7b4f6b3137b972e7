/**
 * What other nodes gave, filtered and scored by this node with the requester's own trust (BQ-125): the same filters, operators,
 * candidate step and formula as for beliefs of this node, over a list in memory. No belief of this node has a part in it.
 */
import type { Steps } from '../../../base/turns.ts'
import { cosine } from '../../../math/vector.ts'
import { isLetIn, type ShowView, trustedAsRemote } from '../access/show.ts'
import { MAX_REPORTED, standIn } from '../matching/candidates.ts'
import { type RowTest, rowTests } from '../matching/filter.ts'
import { validInstants } from '../matching/in-scope.ts'
import {
  contentWords,
  foldContent,
  hasPhrase,
  hasTokens,
  type Operand,
  shareOfWords,
  tokensOf,
} from '../matching/operators.ts'
import {
  confidenceByColumn,
  decayRate,
  overallOf,
  recency,
  vectorColumn,
  weightColumn,
} from '../measures/confidence.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { thresholdsOf } from '../query/understand.ts'
import {
  byOrder,
  copiesToDrop,
  finalOf,
  type RemoteLeg,
  type ScoredBelief,
  semanticOf,
  trustQuestion,
} from '../ranking/scored.ts'
import { NO_FLOOR } from '../schema/query.ts'
import { modelOf } from '../state.ts'
import type { HolderTrust } from '../trust/holders.ts'
import { bytesOf } from './asking/ask-nodes.ts'
import type { Gathering } from './gather-nodes.ts'
import type { NodesAnswer, RemoteBelief } from './remote-belief.ts'

/** Beliefs that are looked at in one step: about a millisecond. */
const AT_ONCE = 500

export function* remoteLeg(gathering: Gathering, view: ShowView, answer: NodesAnswer): Steps<RemoteLeg> {
  const { state, query, requester, asOf } = gathering
  const trust = state.trust.trustOf(requester, trustQuestion(query.context), asOf, () => view.time?.check())
  const all = answer.answers.flatMap(({ remotes }) => remotes)
  const isMeant = meantBy(gathering)
  const isFiltered = filterTest(all, gathering, trust)
  const score = scorerOf(gathering, trust)
  const passing: ScoredBelief[] = []
  const matching: ScoredBelief[] = []
  let pending = 0
  for (const [at, remote] of all.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) {
      view.time?.check()
      yield
    }
    if (!isLetIn(view, remote) || !isFiltered(at)) continue
    const meant = isMeant(remote)
    if (meant === null) continue
    if (meant.isByWords) pending++
    const scored = score(remote, at, meant)
    passing.push(scored)
    if (meant.isCandidate) matching.push(scored)
  }
  const dropped = copiesToDrop(
    [
      ...copies('id', matching, ({ id }) => id),
      ...copies('content', matching, ({ entry }) => (all[placeOf(entry)] as RemoteBelief).belief.content_hash),
    ],
    { byTier: query.options.mergeStrategy === 'waterfall', requester },
  )
  return {
    scored: matching.filter(one => !dropped.has(one)).sort(byOrder),
    remotes: new Map(all.map((remote, at) => [entryAt(at), remote])),
    pending,
    nearest: matching.length > 0 || query.semantic === null ? [] : passing.sort(byCosine).slice(0, MAX_REPORTED),
    byteLength: bytesOf(answer),
  }
}

/** Below 0: no entry of a store has such a key. */
function entryAt(place: number): number {
  return -1 - place
}

function placeOf(entry: number): number {
  return -1 - entry
}

/** Nearest first; of equal ones the one that came first. */
function byCosine(a: ScoredBelief, b: ScoredBelief): number {
  return (b.cosine ?? 0) - (a.cosine ?? 0)
}

function copies(same: 'id' | 'content', scored: readonly ScoredBelief[], nameOf: (one: ScoredBelief) => string) {
  const groups = Map.groupBy(scored, nameOf)
  return [...groups.values()].filter(({ length }) => length > 1).map(members => ({ same, members }))
}

/** By place in `all`: whether it is there and valid at the moments asked for, and passes the filters. */
function filterTest(
  all: readonly RemoteBelief[],
  { state, query: { filters, context }, asOf }: Gathering,
  trust: HolderTrust,
): (place: number) => boolean {
  const moments = validInstants(filters, asOf)
  const [from, to] = [Math.min(...moments), Math.max(...moments)]
  const isThere = ({ belief: { created_at, valid_from, valid_until } }: RemoteBelief) =>
    Date.parse(created_at) <= asOf &&
    Date.parse(valid_from) <= from &&
    (valid_until === null || Date.parse(valid_until) > to)
  const tests = filters.length === 0 ? [] : testsOf()
  return place => isThere(all[place] as RemoteBelief) && tests.every(test => test(place, 0))

  function testsOf(): readonly RowTest[] {
    const beliefs = all.map(({ belief }) => belief)
    const confidences = Float64Array.from(beliefs.flatMap(({ confidence }) => [...vectorColumn(confidence)]))
    const arrays = {
      confidences,
      created: Float64Array.from(beliefs, ({ created_at }) => Date.parse(created_at)),
      derivations: Uint8Array.from(beliefs, ({ derivation }) => DERIVATION_TYPES.indexOf(derivation.type)),
      visibilities: Uint8Array.from(beliefs, ({ visibility }) => VISIBILITIES.indexOf(visibility)),
      domainSets: Int32Array.from(beliefs.keys()),
    }
    const texts = {
      bounds: { domainSets: beliefs.length },
      domainSet: (number: number) => beliefs[number]?.domains ?? [],
    }
    const weights = weightColumn(context.confidenceWeights)
    const dimensions = weights.length
    const { named } = trust.columns([])
    const basis = (place: number) => named(trustedAsRemote(all[place] as RemoteBelief).target)
    return rowTests(filters, {
      columns: { arrays, texts },
      asOf,
      queryDomains: context.queryDomains,
      overall: place => overallOf(confidences, place * dimensions, weights),
      decay: state.settings.decay,
      holderShown: place => beliefs[place]?.holder_id ?? null,
      reputation: place => basis(place).reputation,
      direct: place => basis(place).direct,
      // What it rests on came without its holders: it is a root here.
      depth: () => 0,
    })
  }
}

interface Meant {
  /** To the text, or what words stand in with; null in list mode. */
  readonly cosine: number | null
  /** It has no vector yet, while the text has one. */
  readonly isByWords: boolean
  readonly isCandidate: boolean
}

/** What operators and the candidate step (BQ-043) make of one; null: it does not meet the operators. */
function meantBy({ state, query, embedded }: Gathering): (remote: RemoteBelief) => Meant | null {
  const { semantic, options } = query
  if (semantic === null) return () => ({ cosine: null, isByWords: false, isCandidate: true })
  const { host, settings } = state
  const { question, include, exclude } = embedded
  const model = modelOf(host)
  const thresholds = model === null ? null : thresholdsOf(settings, model)
  const scale = host.embedder?.model.cosineScale ?? 1
  // Words have no floor but that there are some.
  const asked = options.minSimilarity ?? (question === null ? 0 : (thresholds?.floor ?? null))
  const floor = asked === null || asked <= NO_FLOOR ? null : asked
  const words = contentWords(semantic.base)
  const phrases = semantic.phrases.map(phrase => foldContent(phrase).trim())
  const included = include.map(operandTest)
  const excluded = exclude.map(operandTest)
  return remote => {
    let known: string | null = null
    const folded = () => {
      known ??= foldContent(remote.belief.content)
      return known
    }
    if (!phrases.every(phrase => hasPhrase(folded(), phrase))) return null
    if (excluded.some(({ means, holds }) => means(remote, thresholds?.exclude) || holds(folded()))) return null
    if (!included.every(({ means, holds }) => means(remote, thresholds?.include) || holds(folded()))) return null
    const { vector } = remote
    const share = question === null || vector === null ? shareOfWords(words, folded()) : null
    const near = share === null ? cosine(question as Float32Array, vector as Float32Array) : standIn(share, scale)
    const isNear = floor === null || (near >= floor && share !== 0)
    // However far it is, where it holds a phrase or an included term as it is written.
    const isHeld = () => phrases.length > 0 || included.some(({ holds }) => holds(folded()))
    return { cosine: near, isByWords: question !== null && vector === null, isCandidate: isNear || isHeld() }
  }
}

/** `means`: by its vector, with a cosine of at least the threshold. `holds`: as it is written. */
function operandTest({ text, vector }: Operand) {
  const tokens = tokensOf(text)
  return {
    means: (remote: RemoteBelief, threshold: number | undefined) =>
      vector !== null &&
      remote.vector !== null &&
      threshold !== undefined &&
      cosine(vector, remote.vector) >= threshold,
    holds: (folded: string) => hasTokens(folded, tokens),
  }
}

function scorerOf(
  { state, query: { context, weights }, asOf }: Gathering,
  trust: HolderTrust,
): (remote: RemoteBelief, place: number, meant: Meant) => ScoredBelief {
  const confidence = confidenceByColumn(context.confidenceWeights)
  return (remote, place, { cosine: near, isByWords }) => {
    const { belief, source } = remote
    const createdAt = Date.parse(belief.created_at)
    const rate = decayRate(belief.domains, context.queryDomains, state.settings.decay)
    const parts = {
      semantic: near === null ? null : semanticOf(near),
      confidence: confidence(vectorColumn(belief.confidence), 0),
      trust: trust.as(trustedAsRemote(remote)).value,
      recency: recency(belief.confidence.temporal_freshness, createdAt, asOf, rate),
    }
    return {
      ...{ row: -1, entry: entryAt(place), id: belief.id, createdAt, source, holder: belief.holder_id },
      ...{ cosine: near, ...(isByWords && { isByWords }), parts, final: finalOf(parts, weights) },
    }
  }
}
