/**
 * The stages of a query of the lens `conversations` (`querent query --lens conversations`): results are messages only, and each message is
 * scored within its conversation. Method and reasons: docs/decisions/036.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Hit, SearchScope } from '../../../index/contract.ts'
import { type Bars, evidence } from '../../../math/evidence.ts'
import type { Candidate } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Filter } from '../../../model/filter.ts'
import { NO_NUMBERS } from '../../../model/formula.ts'
import { allowedEntries, phraseHolders } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../../pipeline/default-stages.ts'
import { enrichInAnyLanguage } from '../../../pipeline/enrich.ts'
import { byFormula } from '../../../pipeline/formula.ts'
import { isInUnknownLanguage, nearestBars } from '../../../pipeline/languages.ts'
import { explainKept, KEPT_BY_WORDS, keepFirstByWords, type OtherScores } from '../../../pipeline/partly-embedded.ts'
import { allOf } from '../../../pipeline/resolve-query.ts'
import { respell } from '../../../pipeline/respell.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval, Scoring, Stages, Weights } from '../../../pipeline/stage.ts'
import { isLate } from '../../../pipeline/time-limit.ts'
import { ENOUGH_EMBEDDED, type Judgement, judgeEvidence } from '../../../pipeline/verdict.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import {
  type Answering,
  answeringOf,
  bestOf,
  nearThePage,
  type Weighed,
  weighConversation,
} from './conversation-scores.ts'
import { CHANCE, LISTED, MAX_SCANNED } from './cosines.ts'
import { askedWords, questionOf } from './question.ts'
import { MESSAGE_SCORE, wordsTree } from './ranking.ts'
import { type Transcript, Transcripts } from './transcripts.ts'

// Chooses the conversations that a query searches: those that its conditions name, else those whose messages match best.

const NAME = 'conversations.conversation'
/**
 * Number of conversations ranked for a query, likeliest first: at least MIN_CONVERSATIONS; up to MAX_CONVERSATIONS as long as they have few
 * enough messages to compare all by vector.
 */
const MIN_CONVERSATIONS = 8
const MAX_CONVERSATIONS = 100

/** Filter condition met by all messages, and by no other entries. */
const ONLY_MESSAGES = { op: 'eq', field: 'kind', value: 'message' } as const

interface AskedConversations {
  readonly transcripts: readonly Transcript[]
  /** The messages that may be results; null: all messages of the conversations. */
  readonly allow: Bitset | null
  /** Whether all conversations that may contain answers are included; false: others may contain answers too. */
  readonly isAll: boolean
}

/** Chooses the conversations to search for a query. `depth`: number of messages to retrieve. */
function* askedConversations(
  known: Transcripts,
  plan: Plan,
  depth: number,
  context: QueryContext,
): Steps<AskedConversations> {
  const { partitions } = context.accessScope
  const conditions = conditionsOf(plan.filter)
  const naming = conditions.find(condition => namesIn(condition) !== null)
  if (naming !== undefined) {
    // All messages of the named conversations meet these two conditions (kind and conversation name), so the store need not evaluate them.
    const others = conditions.filter(condition => condition !== naming && condition !== ONLY_MESSAGES)
    const allow = yield* allowedEntries({ ...plan, filter: allOf(others) }, context)
    return { transcripts: yield* known.ofNamed(namesIn(naming) ?? [], partitions), allow, isAll: true }
  }
  const allow = yield* allowedEntries(plan, context)
  const scope = allow === null ? { partitions } : { partitions, allow }
  const wanted = Math.max(depth, LISTED)
  const byWords = plan.weights.words > 0 ? yield* foundByWords(plan, wanted, scope, context) : []
  yield
  const { vector } = plan
  const byMeaning =
    vector === null ? [] : (context.vectors?.search({ ...scope, vector, k: wanted, approximate: true }) ?? [])
  const best = inTurn(byWords, byMeaning)
  // A retrieval of more messages, as for later pages, searches proportionally more conversations.
  const reach = wanted / LISTED
  const { transcripts, isAll } = yield* known.around(best, partitions, {
    atLeast: Math.ceil(MIN_CONVERSATIONS * reach),
    atMost: Math.ceil(MAX_CONVERSATIONS * reach),
    messages: MAX_SCANNED * reach,
  })
  const isRest = byWords.length === wanted || byMeaning.length === wanted
  return { transcripts, allow, isAll: isAll && !isRest }
}

function* foundByWords({ terms }: Plan, k: number, scope: SearchScope, { words }: QueryContext): Steps<readonly Hit[]> {
  const reading = words.prepare?.(terms, scope)
  if (reading !== undefined) yield* reading
  return yield* words.searchInSteps({ ...scope, terms, k })
}

/** The entries that two searches found, best first: the first of one list, the first of the other, then the second of each, and so on. */
function inTurn(hits: readonly Hit[], others: readonly Hit[]): readonly EntryKey[] {
  const entries: EntryKey[] = []
  for (let at = 0; at < hits.length || at < others.length; at++) {
    if (at < hits.length) entries.push((hits[at] as Hit).entry)
    if (at < others.length) entries.push((others[at] as Hit).entry)
  }
  return entries
}

/** The conditions of a filter that must all hold: the parts of its conjunctions, at any depth. */
function conditionsOf(filter: Filter | null): readonly Filter[] {
  if (filter === null) return []
  return filter.op === 'and' ? filter.of.flatMap(conditionsOf) : [filter]
}

/** Names of the conversations to which a filter condition limits results; null: the condition does not limit conversations. */
function namesIn(filter: Filter): readonly string[] | null {
  switch (filter.op) {
    case 'or': {
      const names = filter.of.map(namesIn)
      return names.includes(null) ? null : names.flatMap(each => each ?? [])
    }
    case 'eq':
      return filter.field === NAME ? [String(filter.value)] : null
    case 'in':
      return filter.field === NAME ? filter.values.map(String) : null
    default:
      return null
  }
}

// State that the lens `conversations` keeps in one engine from one query to the next.

const TRANSCRIPTS = new WeakMap<LensHost, Transcripts>()

export function transcriptsOf(host: LensHost): Transcripts {
  const known = TRANSCRIPTS.get(host) ?? new Transcripts(host.store)
  TRANSCRIPTS.set(host, known)
  return known
}

const MEANING = 0.4

export function conversationStages(host: LensHost): Partial<Stages> {
  return {
    parse: (query, context) => {
      const plan = DEFAULT_STAGES.parse(query, context)
      return { ...plan, filter: allOf([ONLY_MESSAGES, ...(plan.filter === null ? [] : [plan.filter])]) }
    },
    respell,
    enrich: async (plan, context) => {
      const enriched = await enrichInAnyLanguage(plan, context)
      return { ...enriched, weights: weightsOf(enriched) }
    },
    retrieve: async (plan, depth, context) => {
      if (plan.mode === 'list') return DEFAULT_STAGES.retrieve(plan, depth, context)
      return context.turns.run(retrieve(host, plan, depth, context))
    },
    score: (retrieval, plan, context) =>
      plan.mode === 'list' ? DEFAULT_STAGES.score(retrieval, plan, context) : score(retrieval, plan, context),
  }
}

/** Weights of words and meaning in scores, which add up to 1; words get the full weight where the query has no vector. */
function weightsOf({ mode, vector, query }: Plan): Weights {
  const meaning = vector === null ? 0 : mode === 'meaning' ? 1 : (query.meaningWeight ?? MEANING)
  return { words: Number((1 - meaning).toFixed(12)), meaning }
}

/**
 * Retrieves messages, with pauses for other work, during which the store may be written. Each conversation is scored with the messages that
 * it has when its scoring begins.
 */
function* retrieve(host: LensHost, plan: Plan, depth: number, context: QueryContext): Steps<Retrieval> {
  const known = transcriptsOf(host)
  const { transcripts, allow, isAll } = yield* askedConversations(known, plan, depth, context)
  const embedded = plan.vector === null ? 0 : embeddedShare(transcripts, context)
  const kept =
    plan.vector === null || embedded >= 1 ? NONE_KEPT : yield* firstByWords(transcripts, plan, allow, context)
  const conversations = yield* weighedOf(transcripts, plan, allow, context)
  const { best, isCut } = yield* bestOf(conversations, depth, isAnswer(plan, allow), kept)
  const isAlone = conversations.length === 1
  const answering: Answering[] = []
  for (const place of best) {
    answering.push(answeringOf(place, isAlone))
    yield
  }
  const places = [...best.keys()]
  const near = plan.query.approximate ? nearThePage(best, plan.query, depth, kept) : places
  const found = {
    ...{ depth, allow, statistics: { ...statisticsOf(conversations, transcripts), embedded } },
    ...{ exhausted: isAll && !isCut, complete: !isLate(context) },
  }
  const candidatesOf = (some: readonly number[], reader: StoreReader) =>
    candidates(
      some.map(at => answering[at] as Answering),
      kept,
      reader,
    )
  return {
    ...found,
    candidates: candidatesOf(near, context.reader),
    ...(near.length < places.length && {
      whole: ({ reader }: QueryContext) => ({ ...found, candidates: candidatesOf(places, reader) }),
    }),
  }
}

const NONE_KEPT: ReadonlyMap<EntryKey, number> = new Map()

/**
 * The messages that rank first by words alone, with their scores: while some messages have no vector, these messages stay first (QE-007).
 */
function* firstByWords(
  transcripts: readonly Transcript[],
  plan: Plan,
  allow: Bitset | null,
  context: QueryContext,
): Steps<ReadonlyMap<EntryKey, number>> {
  const byWords = { ...plan, vector: null, weights: { words: 1, meaning: 0 } }
  const conversations = yield* weighedOf(transcripts, byWords, allow, context)
  const { best } = yield* bestOf(conversations, KEPT_BY_WORDS, isAnswer(plan, allow))
  return new Map(best.map(({ of, at, score }) => [(of.moment.said[at] as { entry: EntryKey }).entry, score]))
}

/**
 * Statistics of the retrieval over all searched conversations: `bestCosine` and `coverage` are the largest values, `nearest` is the message
 * with the largest cosine, and `held` the number of query words in that message.
 */
function statisticsOf(conversations: readonly Weighed[], transcripts: readonly Transcript[]): Retrieval['statistics'] {
  const nearest = conversations.reduce((best, one) => (one.cosine > best.cosine ? one : best), NO_EVIDENCE)
  const coverage = conversations.reduce((best, { coverage }) => Math.max(best, coverage), 0)
  const messages = transcripts.reduce((sum, { spoken }) => sum + spoken.length, 0)
  const { cosine: bestCosine, nearest: message = NO_MESSAGE, held } = nearest
  return { conversations: conversations.length, messages, bestCosine, nearest: message, coverage, held }
}

const NO_MESSAGE = 0
const NO_EVIDENCE: Pick<Weighed, 'cosine' | 'nearest' | 'held'> = { cosine: 0, nearest: undefined, held: 0 }

/**
 * Share of the conversations' messages that have a vector. Where all messages in the same partitions (entries of one audience) have one,
 * the share is 1, and nothing is counted for each conversation.
 */
function embeddedShare(transcripts: readonly Transcript[], { vectors, words }: QueryContext): number {
  const everywhere = { partitions: [...new Set(transcripts.map(({ partition }) => partition))] }
  const rowsIn = (scope: SearchScope) => vectors?.count(scope) ?? 0
  if (rowsIn(everywhere) >= words.count(everywhere)) return 1
  const scopes = transcripts.map(({ partition, entries }) => ({ partitions: [partition], allow: entries }))
  const passages = scopes.reduce((sum, scope) => sum + words.count(scope), 0)
  return passages === 0 ? 1 : scopes.reduce((sum, scope) => sum + rowsIn(scope), 0) / passages
}

function* weighedOf(
  transcripts: readonly Transcript[],
  plan: Plan,
  allow: Bitset | null,
  context: QueryContext,
): Steps<readonly Weighed[]> {
  const { vectors, memo, reader } = context
  const { vector, weights, query } = plan
  let messages = 0
  for (const { spoken } of transcripts) messages += spoken.length
  const asking = {
    question: questionOf(plan.parsed.residual === '' ? query.text : plan.parsed.residual),
    words: weights.words > 0 ? askedWords(plan.terms) : [],
    meaning:
      vector === null || vectors === null
        ? null
        : {
            ...{ vectors, vector, approximate: query.approximate, isScan: messages <= MAX_SCANNED },
            cosineScale: context.model?.cosineScale ?? 1,
          },
    weights,
    holders: yield* phraseHolders(plan, allow, context),
    invalid: memo.invalid(reader, query.asOf),
  }
  const weighed: Weighed[] = []
  for (const transcript of transcripts) weighed.push(yield* weighConversation(transcript, asking))
  return weighed
}

function isAnswer({ except }: Plan, allow: Bitset | null): (entry: EntryKey) => boolean {
  return entry => entry !== except && (allow === null || allow.has(entry))
}

function candidates(
  answering: readonly Answering[],
  kept: ReadonlyMap<EntryKey, number>,
  reader: StoreReader,
): readonly Candidate[] {
  const withKept = (entry: EntryKey, signals: Candidate['signals']) => {
    const byWords = kept.get(entry)
    return byWords === undefined ? signals : { ...signals, by_words: byWords }
  }
  return answering.map(({ entry, signals, piece }) => ({
    ...{ entry, source: LOCAL_SOURCE, signals: withKept(entry, signals) },
    chunks: piece > 0 ? chunkAt(piece, entry, reader) : NO_CHUNKS,
  }))
}

/**
 * Names no best chunk for a message, so that the answer shows its first one. Nearly all messages have a single chunk, and reading its key
 * for every message would take longer than ranking.
 */
const NO_CHUNKS: Candidate['chunks'] = {}

function chunkAt(piece: number, entry: EntryKey, reader: StoreReader): Candidate['chunks'] {
  const chunk = reader.chunksOf(entry)[piece]
  return chunk === undefined ? NO_CHUNKS : { words: chunk.key }
}

function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const words = askedWords(plan.terms).map(({ word }) => word)
  const judgement = judge(retrieval, plan, context)
  const speaking = retrieval.candidates.filter(candidate => !isNoise(candidate, context))
  const isRefused = judgement.verdict === 'nothing_relevant'
  // Where the verdict is that nothing is relevant, the nearest messages are shown even if they are noise.
  const made = byFormula(isRefused || plan.query.any ? retrieval.candidates : speaking, {
    formula: MESSAGE_SCORE,
    numbers: NO_NUMBERS,
    expansions: ({ signals }) => ({ bm25: wordsTree(signals, words) }),
  })
  const isPartly = plan.vector !== null && (retrieval.statistics['embedded'] ?? 1) < 1 && retrieval.isRest !== true
  return {
    ...made,
    scored: isPartly ? keepFirstByWords(made.scored, BY_WORDS, retrieval.absent ?? new Set(), context) : made.scored,
    explain: scored => explainKept(made.explain(scored), scored),
    ...judgement,
    ceiling: null,
  }
}

/**
 * Scores of messages by words alone: while some messages have no vector, those that are best by words stay first. Both functions return the
 * same score, because scores are relative to the best one of a conversation, so it is unknown which messages will rank higher once all have
 * vectors.
 */
const BY_WORDS: OtherScores = {
  byWords: ({ signals: { by_words: score } }) => score ?? null,
  byKnown: ({ signals: { by_words: score } }) => score ?? null,
}

/**
 * Thresholds of the verdict for a query by words alone. The evidence is the best message's BM25 score as a share of the highest possible
 * one; messages are short, so the number of matched words says less than in longer passages (docs/decisions/015).
 */
const WORD_BARS: Bars = { refused: { base: 0, slope: 0 }, answered: { base: 0.03, slope: 0.035 } }

/**
 * Judges whether the answer is relevant. Refused is only a query whose evidence is too low and none of whose words occurs in a message,
 * since measurements show that no score can recognise a query on a discussed subject that has no answer.
 * The verdict is by words alone where no model supports the query's language, or where many messages have no vector and the evidence by
 * meaning does not suffice.
 */
function judge({ candidates, allow, statistics }: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const { bestCosine = 0, coverage = 0, held = 0, messages = 0, embedded = 0 } = statistics
  const isByWords = plan.vector === null
  const isUnknown = !isByWords && isInUnknownLanguage(plan, context)
  const isMissing = plan.isUnembedded === true || isUnknown || (!isByWords && embedded < ENOUGH_EMBEDDED)
  const verdictBy = isByWords ? 'words' : 'meaning'
  if (candidates.length === 0) {
    const isNotFoundOut = isMissing && statistics['conversations'] !== 0 && allow?.size !== 0
    const reason = reasonOf(allow, statistics, plan, context, isMissing)
    return { verdict: isNotFoundOut ? 'weak' : 'nothing_relevant', reason, verdictBy: isMissing ? 'words' : verdictBy }
  }
  const isForeign = () => coverage === 0
  if (isByWords) return { ...judgeEvidence(coverage, WORD_BARS, messages, isForeign), verdictBy }
  const byWords = { ...judgeEvidence(coverage, WORD_BARS, messages, () => false), verdictBy: 'words' } as const
  if (isUnknown) return byWords
  const nearest = statistics['nearest'] === NO_MESSAGE ? undefined : statistics['nearest']
  const { cosine, calibration } = nearestBars(bestCosine, nearest, plan.query.text, context)
  if (calibration === null) return { verdict: 'answered', reason: null, verdictBy }
  const found = evidence(cosine, { coverage, held, asked: askedWords(plan.terms).length }, calibration)
  const byMeaning = judgeEvidence(found, calibration, messages, isForeign)
  if (!isMissing || byMeaning.verdict === 'answered') return { ...byMeaning, verdictBy }
  return byWords
}

/**
 * Score (0 to 1) of an adjacent message from which a message counts as relevant although it matches nothing of the query itself. Chosen on
 * the labelled conversations by which recall is measured: 0.4 and lower values lose no result for their queries, 0.45 and 0.5 lose one.
 */
const STRONG_NEIGHBOUR = 0.4

/**
 * Whether a message is noise: it contains no query word, its cosine is no higher than by chance, and no adjacent message has a high score.
 */
function isNoise({ signals }: Candidate, { model }: QueryContext): boolean {
  const { cosine, bm25 = 0, block = 0, before = 0, after = 0 } = signals
  if (cosine === undefined || bm25 > 0 || block > 0) return false
  return cosine * (model?.cosineScale ?? 1) <= CHANCE && Math.max(before, after) < STRONG_NEIGHBOUR
}

function reasonOf(
  allow: Bitset | null,
  { conversations }: Retrieval['statistics'],
  { mode, vector }: Plan,
  { reader, accessScope }: QueryContext,
  isMissing: boolean,
): string {
  const isNamed = allow === null && conversations === 0
  if ((isNamed || allow?.size === 0) && reader.count(accessScope, ONLY_MESSAGES) === 0)
    return 'There are no messages here yet.'
  if (isNamed || allow?.size === 0) return 'No message matches the conditions of the query.'
  if (vector === null) return 'None of the words of the query occur.'
  if (!isMissing) return 'No message contains a word of the query or is nearer to its meaning than by chance.'
  if (mode === 'meaning') return 'No message has a vector yet.'
  return 'None of the words of the query occur. Messages were not compared by meaning.'
}
