/**
 * The store as a backend, in the partitions in sight alone. A record's score is the mean of its cosine and of the share
 * of the question's words that it has (weighed by BM25). A second list, of the records with the exact names and addresses
 * of the question, is fused with that order by rank. Without a model the words are all: register questions do not need one.
 */
import type { Bitset } from '../../../base/bitset.ts'
import type { Turns } from '../../../base/turns.ts'
import { modelKey } from '../../../embed/embedder.ts'
import {
  type Hit,
  type SearchScope,
  type VectorIndex,
  vectorsName,
  type WordIndex,
  type WordTerm,
} from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Sight } from '../../../model/viewer.ts'
import { stillVisible } from '../../../pipeline/access.ts'
import { mostByWords } from '../../../pipeline/most-by-words.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import type { LensHost } from '../../lens.ts'
import { fuseByRank, orderByTags, type SearchHit } from '../enrichment/hits.ts'
import type { AskedQuestion, Backend, Question, SearchWarning } from './backend.ts'
import { payloadOf } from './payload.ts'

export function embeddedBackend(host: LensHost, collection: string, call: CallContext): Backend {
  return {
    name: 'embedded',
    ask: async question => {
      const { vector, warnings } = await embed(host, question.text, call)
      const names = vector === null || host.embedder === null ? [] : [vectorsName(modelKey(host.embedder.model))]
      await host.ready?.(['words', ...names], call.signal)
      // Looked at when the question was embedded: others may have written meanwhile.
      const sight = host.sight(call.viewer)
      return new EmbeddedQuestion(host, { ...question, vector, warnings, collection, sight }, turnsUntil(call.signal))
    },
  }
}

interface Embedded extends Question {
  /** Null: words alone. */
  readonly vector: Float32Array | null
  readonly warnings: readonly SearchWarning[]
  readonly collection: string
  readonly sight: Sight
}

/** Each list goes so deep, however few are wanted: then ranks do not depend on the limit. */
const DEPTH = 100

class EmbeddedQuestion implements AskedQuestion {
  readonly warnings: readonly SearchWarning[]
  readonly #host: LensHost
  readonly #question: Embedded
  readonly #words: WordIndex
  readonly #vectors: VectorIndex | null
  readonly #all: Bitset
  readonly #terms: readonly WordTerm[]
  readonly #turns: Turns

  constructor(host: LensHost, question: Embedded, turns: Turns) {
    this.#host = host
    this.#turns = turns
    this.#terms = [{ text: question.text, boost: 1 }]
    this.#question = question
    this.#words = host.index('words') as WordIndex
    this.#vectors = question.vector === null ? null : vectorsOf(host)
    this.#all = host.store.matching(question.sight, { op: 'eq', field: 'collection', value: question.collection })
    this.warnings = [...question.warnings, ...this.#pending()]
  }

  async search(tags: readonly string[], limit: number): Promise<readonly SearchHit[]> {
    const scope = this.#among(tags)
    const depth = Math.max(DEPTH, limit)
    const { exact } = this.#question
    const scores = await this.#scores(scope, depth)
    const byScore = orderByTags(this.#hits([...scores.keys()], scores), tags).slice(0, depth)
    if (exact.length === 0) return byScore.slice(0, limit)
    await this.#turns.pauseIfDue()
    // A name counts once, of however many words it is.
    const names = exact.map(name => ({ text: name, boost: 1 / name.split(' ').length }))
    const named = await this.#turns.run(this.#words.searchInSteps({ ...scope, terms: names, k: depth }))
    const byName = this.#hits(keysOf(named), scores)
    return fuseByRank(byScore, byName, limit)
  }

  #among(tags: readonly string[]): SearchScope {
    const { sight } = this.#question
    const tagged =
      tags.length === 0 ? this.#all : this.#host.store.matching(sight, { op: 'in', field: 'tag', values: tags })
    return { partitions: sight.partitions, allow: this.#all.and(tagged) }
  }

  /** Of whatever either index brings. */
  async #scores(scope: SearchScope, depth: number): Promise<ReadonlyMap<EntryKey, number>> {
    const terms = this.#terms
    const reading = this.#words.prepare?.(terms, scope)
    if (reading !== undefined) await this.#turns.run(reading)
    const most = mostByWords(this.#words, terms, scope)
    const byWords = await this.#turns.run(this.#words.searchInSteps({ ...scope, terms, k: depth }))
    await this.#turns.pauseIfDue()
    const { vector } = this.#question
    if (vector === null || this.#vectors === null) return new Map(byWords.map(hit => [hit.entry, hit.score / most]))
    const byMeaning = this.#vectors.search({ ...scope, vector, k: depth })
    const found = [...new Set([...keysOf(byMeaning), ...keysOf(byWords)])]
    const words = scoresOf(await this.#turns.run(this.#words.scoreInSteps(terms, found, scope)))
    const cosines = scoresOf(this.#vectors.score(vector, found, scope))
    return new Map(
      found.map(entry => {
        const share = most > 0 ? (words.get(entry) ?? 0) / most : 0
        return [entry, ((cosines.get(entry) ?? share) + share) / 2]
      }),
    )
  }

  #hits(found: readonly EntryKey[], scores: ReadonlyMap<EntryKey, number>): SearchHit[] {
    const now = this.#host.clock.now()
    // Others may have written in a pause since the sight was taken.
    const sight = this.#host.sight(this.#question.sight.viewer)
    const entries = this.#host.store.entries(found).filter(entry => stillVisible(entry, sight))
    const valid = entries.filter(entry => (entry.validFrom ?? now) <= now && now < (entry.validUntil ?? now + 1))
    return valid.map(({ id, key, title, content, tags, metadata }) => ({
      ...{ id, score: scores.get(key) ?? 0 },
      payload: payloadOf({ ...metadata, title, document: content, tags }),
    }))
  }

  /** Whether some records can be found by words only, as yet. */
  #pending(): readonly SearchWarning[] {
    if (this.#vectors === null) return []
    const scope = this.#among([])
    if (this.#vectors.count(scope) >= this.#words.count(scope)) return []
    return [{ code: 'vectors_pending', message: 'some records have no vector yet and are found by their words' }]
  }
}

function vectorsOf({ embedder, index }: LensHost): VectorIndex | null {
  return embedder === null ? null : (index(vectorsName(modelKey(embedder.model))) as VectorIndex)
}

function keysOf(hits: readonly Hit[]): readonly EntryKey[] {
  return hits.map(({ entry }) => entry)
}

function scoresOf(hits: readonly Hit[]): ReadonlyMap<EntryKey, number> {
  return new Map(hits.map(({ entry, score }) => [entry, score]))
}

async function embed(
  { embedder }: LensHost,
  text: string,
  { signal }: CallContext,
): Promise<Pick<Embedded, 'vector' | 'warnings'>> {
  try {
    const [vector = null] = (await embedder?.embed([text], 'query', signal)) ?? []
    return { vector, warnings: [] }
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code === 'cancelled') throw error
    return { vector: null, warnings: [{ code: 'words_only', message: `by words alone: ${error.message}` }] }
  }
}
