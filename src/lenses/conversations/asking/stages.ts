/**
 * The lens in the pipeline (`querent query --lens conversations`): only messages answer, each scored within its conversation.
 * How, and why so: docs/decisions/052.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Candidate, Scored } from '../../../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../../../model/entry.ts'
import { phraseHolders } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../../pipeline/default-stages.ts'
import { allOf } from '../../../pipeline/filter-input.ts'
import { respell } from '../../../pipeline/respell.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval, Scoring, Stages, Weights } from '../../../pipeline/stage.ts'
import { isLate } from '../../../pipeline/time-limit.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { askedConversations, ONLY_MESSAGES } from './asked-conversations.ts'
import { askedWords } from './asked-words.ts'
import { bestOf, nearThePage } from './best-messages.ts'
import { type Weighed, weighConversation } from './conversation-scores.ts'
import { MOST_SCANNED } from './cosines.ts'
import { type Answering, packed } from './packed-answers.ts'
import { questionOf } from './question.ts'
import { componentsOf, explanationOf, scoreOf } from './signals.ts'
import { stateOf } from './state.ts'
import type { Transcript } from './transcript.ts'
import { whyOf } from './why.ts'
import type { Workspace } from './workspace.ts'

const MEANING = 0.4

export function conversationStages(host: LensHost): Partial<Stages> {
  return {
    parse: (query, context) => {
      const plan = DEFAULT_STAGES.parse(query, context)
      return { ...plan, filter: allOf([ONLY_MESSAGES, ...(plan.filter === null ? [] : [plan.filter])]) }
    },
    respell,
    enrich: async (plan, context) => {
      const enriched = await DEFAULT_STAGES.enrich(plan, context)
      return { ...enriched, weights: weightsOf(enriched) }
    },
    retrieve: async (plan, depth, context) => {
      if (plan.mode === 'list') return DEFAULT_STAGES.retrieve(plan, depth, context)
      return retrieve(host, plan, depth, context)
    },
    score: (retrieval, plan, context) =>
      plan.mode === 'list' ? DEFAULT_STAGES.score(retrieval, plan, context) : score(retrieval, plan),
  }
}

/** Words have what meaning leaves over; all where there is no vector. */
function weightsOf({ mode, vector, query }: Plan): Weights {
  const meaning = vector === null ? 0 : mode === 'meaning' ? 1 : (query.meaningWeight ?? MEANING)
  return { words: Number((1 - meaning).toFixed(12)), meaning }
}

function retrieve(host: LensHost, plan: Plan, depth: number, context: QueryContext): Retrieval {
  const { transcripts: known, workspace } = stateOf(host)
  workspace.clear()
  const { transcripts, allow, isAll } = askedConversations(known, plan, depth, context)
  const conversations = weighedOf(transcripts, plan, allow, workspace, context)
  const { best, isCut } = bestOf(conversations, depth, isAnswer(plan, allow))
  const isAlone = conversations.length === 1
  const answering = packed(best, isAlone)
  const places = [...best.keys()]
  const near = plan.query.approximate ? nearThePage(best, plan.query, depth) : places
  const found = {
    ...{ depth, allow, statistics: { conversations: conversations.length } },
    ...{ exhausted: isAll && !isCut, complete: !isLate(context) },
  }
  const candidatesOf = (some: readonly number[], reader: StoreReader) => candidates(some.map(answering), reader)
  return {
    ...found,
    candidates: candidatesOf(near, context.reader),
    ...(near.length < places.length && {
      whole: ({ reader }: QueryContext) => ({ ...found, candidates: candidatesOf(places, reader) }),
    }),
  }
}

function weighedOf(
  transcripts: readonly Transcript[],
  plan: Plan,
  allow: Bitset | null,
  workspace: Workspace,
  context: QueryContext,
): readonly Weighed[] {
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
        : { vectors, vector, approximate: query.approximate, isScan: messages <= MOST_SCANNED },
    weights,
    holders: phraseHolders(plan, allow, context),
    invalid: memo.invalid(reader, query.asOf),
    workspace,
  }
  return transcripts.map(transcript => weighConversation(transcript, asking))
}

function isAnswer({ except }: Plan, allow: Bitset | null): (entry: EntryKey) => boolean {
  return entry => entry !== except && (allow === null || allow.has(entry))
}

function candidates(answering: readonly Answering[], reader: StoreReader): readonly Candidate[] {
  const chunks = chunksOf(answering, reader)
  return answering.map(({ entry, signals }) => {
    const chunk = chunks.get(entry)
    return { entry, source: LOCAL_SOURCE, signals, chunks: chunk === undefined ? {} : { words: chunk } }
  })
}

/** The chunk to show of each. */
function chunksOf(answering: readonly Answering[], reader: StoreReader): ReadonlyMap<EntryKey, ChunkKey> {
  const chunks = new Map(reader.firstChunks(answering.map(({ entry }) => entry)))
  for (const { entry, piece } of answering) {
    const chunk = piece > 0 ? reader.chunksOf(entry)[piece] : undefined
    if (chunk !== undefined) chunks.set(entry, chunk.key)
  }
  return chunks
}

/** No score says that a question has no answer here: that was measured. Only where nothing at all speaks for any is it told. */
function score({ candidates, allow, statistics }: Retrieval, { mode, terms }: Plan): Scoring {
  const isEmpty = candidates.length === 0
  const words = askedWords(terms).map(({ word }) => word)
  return {
    scored: candidates.map(scored),
    explain: ({ signals }) => explanationOf(signals, words),
    why: ({ signals }) => whyOf(signals, words),
    verdict: isEmpty ? 'nothing_relevant' : 'answered',
    reason: isEmpty ? reasonOf(allow, statistics, mode) : null,
    ceiling: null,
  }
}

function reasonOf(allow: Bitset | null, { conversations }: Retrieval['statistics'], mode: Plan['mode']): string {
  const isNamed = allow === null && conversations === 0
  if (isNamed || allow?.size === 0) return 'No message fulfils the conditions of the question.'
  return mode === 'meaning' ? 'No message has a vector yet.' : 'None of the words of the question occur.'
}

function scored({ entry, source, signals, chunks }: Candidate): Scored {
  const value = scoreOf(signals)
  return { entry, source, signals, chunks, score: value, components: componentsOf(signals, value) }
}
