/**
 * Search for entries similar to a given one: pipeline stages for a query that is an entry instead of a text. Searches by the entry's
 * vectors or, where it has none, by its rarest words.
 */
import { compareText } from '../base/compare.ts'
import { modelKey } from '../embed/embedder.ts'
import type { WordTerm } from '../index/contract.ts'
import { jointVector, toUnit } from '../math/vector.ts'
import { type Chunk, chunkText, chunkTitle, type Entry } from '../model/entry.ts'
import { tokenise } from '../text/tokenise.ts'
import type { QueryContext } from './context.ts'
import { weightsWith } from './formula.ts'
import { GET_MODEL, knowsLanguage } from './languages.ts'
import { unparsed } from './parse.ts'
import type { Plan, Stages } from './stage.ts'

/** Number of the entry's words that are searched when the entry has no vector. */
const RAREST = 12
/** Number of words at the beginning of the entry among which the rarest are chosen: the beginning of a long text shows its subject. */
const MAX_WORDS = 400

/**
 * The given pipeline stages, changed so that they find entries similar to `entry` instead of a text; `entry` itself is left out of the
 * results.
 */
export function similarTo(entry: Entry, stages: Stages): Stages {
  return {
    ...stages,
    parse: (query, context) => {
      const isKnown = isInKnownLanguage(entry, context)
      const vector = isKnown ? vectorOf(entry, context) : null
      const plan: Plan = {
        query,
        parsed: unparsed(''),
        mode: vector === null ? 'words' : 'meaning',
        filter: query.filter,
        terms: vector === null ? rarestWords(entry, context) : [],
        vector,
        weights: weightsWith(vector === null ? 0 : 1),
        except: entry.key,
        facts: {},
      }
      if (!isKnown)
        context.note({ code: 'other_language', message: `It was searched by its rarest words: ${UNKNOWN_LANGUAGE}` })
      else if (vector === null)
        context.note({ code: 'words_only', message: 'It has no vector, so its rarest words were searched.' })
      return plan
    },
    enrich: plan => Promise.resolve(plan),
    // The verdict is always `answered`: the thresholds of other verdicts were measured for text queries, while here the nearest entries are
    // what was requested.
    score: async (retrieval, plan, context) => {
      const scoring = await stages.score(retrieval, plan, context)
      return scoring.scored.length === 0 ? scoring : { ...scoring, verdict: 'answered', reason: null }
    },
  }
}

const UNKNOWN_LANGUAGE = `no model knows its language. ${GET_MODEL}`

function isInKnownLanguage({ key }: Entry, context: QueryContext): boolean {
  const of = context.memo.shownLanguages(context.reader, [key])[0]?.of ?? null
  return of === null || context.languages === undefined || knowsLanguage(context, of)
}

/** The mean of the vectors of the entry's chunks, computed separately for each embedding model; null when no chunk has a vector. */
function vectorOf(entry: Entry, { vectors, second, reader }: QueryContext): Float32Array | null {
  if (vectors === null) return null
  const chunks = reader.chunksOf(entry.key).map(chunk => chunk.key)
  const main = meanOf(reader.vectorsOnly(vectors.model, chunks))
  const other = second === undefined ? null : meanOf(reader.vectorsOnly(modelKey(second.model), chunks))
  return main === null || other === null ? main : jointVector(main, other)
}

function meanOf(rows: readonly { readonly vector: Float32Array }[]): Float32Array | null {
  const sum = new Float64Array(rows[0]?.vector.length ?? 0)
  for (const { vector } of rows) {
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + (vector[at] as number)
  }
  return toUnit(sum) ?? null
}

function rarestWords(entry: Entry, context: QueryContext): readonly WordTerm[] {
  const chunks = context.reader.chunksOf(entry.key)
  const words = tokenise(chunks.map(chunk => textOf(entry, chunk)).join('\n')).filter(token => !token.alias)
  const counts = new Map<string, number>()
  for (const { term } of words.slice(0, MAX_WORDS)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const terms = [...counts.keys()].map(text => ({ text, boost: 1 }))
  const weights = context.words.weigh(terms, { partitions: context.accessScope.partitions })
  return [...weights]
    .sort(
      (a, b) => b.idf * frequency(counts, b.term) - a.idf * frequency(counts, a.term) || compareText(a.term, b.term),
    )
    .slice(0, RAREST)
    .map(({ term }) => ({ text: term, boost: 1 }))
}

function textOf(entry: Entry, chunk: Chunk): string {
  return `${chunkTitle(entry, chunk)}\n${chunkText(entry, chunk)}`
}

/** Weight of a term that occurs n times in the entry: 1 + ln n, which grows slowly with repetition. */
function frequency(counts: ReadonlyMap<string, number>, term: string): number {
  return 1 + Math.log(counts.get(term) ?? 1)
}
