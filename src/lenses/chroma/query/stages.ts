/**
 * The lens in the pipeline (`querent query --lens chroma`): the text is a query profile's, candidates come from the points,
 * and the score is explained by what it was made of. Its own operations give the seed's rows; this gives pages.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Candidate } from '../../../model/candidate.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { weightedSum } from '../../../model/formula.ts'
import { filtered } from '../../../pipeline/conditions.ts'
import type { QueryContext } from '../../../pipeline/context.ts'
import { byFormula } from '../../../pipeline/formula.ts'
import { unparsed } from '../../../pipeline/parse.ts'
import { LOCAL_SOURCE } from '../../../pipeline/source.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../../pipeline/stage.ts'
import type { LensHost } from '../../lens.ts'
import { recencyOf, relevanceOf, strengthNorm } from '../memory/formulas.ts'
import { MODES, weightsOf } from '../memory/modes.ts'
import type { EffectiveQuery, ScoreWeights } from '../model.ts'
import { type ChromaState, stateOf } from '../state.ts'
import { looking } from './look.ts'
import { prepare } from './prepare.ts'
import { bestByScore } from './search.ts'

export function chromaStages(host: LensHost): Partial<Stages> {
  // Made on first use: a lens that nobody asks costs nothing.
  const state = (): ChromaState => stateOf(host)
  return {
    parse: query => ({
      query,
      parsed: unparsed(query.text),
      mode: query.mode,
      filter: query.filter,
      terms: query.text.split(/\s+/).flatMap(text => (text === '' ? [] : [{ text, boost: 1 }])),
      vector: null,
      weights: { words: 0, meaning: 0 },
      except: null,
      facts: {},
    }),
    enrich: (plan, context) => enrich(state(), plan, context),
    retrieve: async (plan, depth, context) => retrieve(state(), plan, depth, context),
    score: (retrieval, plan) => score(state(), retrieval, plan),
  }
}

async function enrich(state: ChromaState, plan: Plan, context: QueryContext): Promise<Plan> {
  const now = Math.floor(plan.query.asOf / 1000)
  const { query, warnings } = await prepare(state, context.sight.viewer, plan.query.text, {}, now)
  for (const { code, message } of warnings) context.note({ code, message })
  context.note({ code: 'hashtags', message: `Asked by ${query.hashtags.join(' ')}` })
  return { ...plan, facts: { ...plan.facts, chroma: query } }
}

function retrieve(state: ChromaState, plan: Plan, depth: number, context: QueryContext): Retrieval {
  const allow = filtered(plan, context)
  const asked = queryOf(plan)
  const candidates = looking(state, context.sight.viewer, look => {
    const hits = bestByScore(look, allow === null ? asked : { ...asked, allow }, depth + 1)
    return hits.map(({ entry, distance }): Candidate => {
      const cell = look.columns.memory(entry)
      const mode = MODES[cell?.mode_name ?? 'Adaptive']
      const signals = {
        distance,
        relevance: relevanceOf(distance),
        recency: recencyOf(mode, cell?.last_accessed ?? 0, asked.now),
        strength: strengthNorm(cell?.strength_raw ?? 0),
        ...weightSignals(state, asked, weightsOf(mode)),
      }
      return { entry, source: LOCAL_SOURCE, signals, chunks: {} }
    })
  })
  return {
    candidates: candidates.slice(0, depth),
    depth,
    allow,
    statistics: {},
    exhausted: candidates.length <= depth,
    complete: true,
  }
}

function score({ settings }: ChromaState, { candidates }: Retrieval, plan: Plan): Scoring {
  const isEmpty = candidates.length === 0
  const { max_distance } = queryOf(plan)
  const within = max_distance === null ? '' : ` within a distance of ${max_distance}`
  return {
    ...byFormula(candidates, {
      formula: settings.memory.enabled ? FORMULA : { ...FORMULA, note: 'memory is switched off' },
      numbers: {},
    }),
    verdict: isEmpty ? 'nothing_relevant' : 'answered',
    reason: isEmpty ? `No node passes the filters${within}.` : null,
    ceiling: null,
  }
}

const FORMULA = weightedSum({
  relevance: ({ distance = 0 }) => `colour distance ${distance.toFixed(2)}`,
  recency: 'e to the minus days since the last access over the time of its mode',
  strength: 'grows with each use',
})

type Signals = Candidate['signals']

/** Which weights hold: without memory relevance alone, else those asked for, else those of the node's mode. */
function weightSignals({ settings }: ChromaState, { score_weights }: EffectiveQuery, ofMode: ScoreWeights): Signals {
  const { relevance, recency, strength } = settings.memory.enabled ? (score_weights ?? ofMode) : RELEVANCE_ALONE
  return { weight_relevance: relevance, weight_recency: recency, weight_strength: strength }
}

const RELEVANCE_ALONE: ScoreWeights = { relevance: 1, recency: 0, strength: 0 }

function queryOf({ facts }: Plan): EffectiveQuery & { readonly allow?: Bitset | undefined } {
  return facts['chroma'] as EffectiveQuery
}

/** What a question showed was used: in the viewer's memory of the nodes, not in the store's access state. */
export function touchNodes(host: LensHost, viewer: string, entries: readonly EntryKey[], now: number): void {
  stateOf(host).access.record(viewer, entries, Math.floor(now / 1000))
}
