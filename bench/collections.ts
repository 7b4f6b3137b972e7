/**
 * Retrieval quality of the lens `collections` over the sample that comes with it, asked fifty labelled questions in
 * English and Spanish: as its contract ranks (by vectors alone) and with words fused in (`--hybrid`). No setting was
 * tuned on these questions. The built-in model is an English one; what it makes of Spanish is here to be seen.
 */
import type { Embedder } from '../src/embed/embedder.ts'
import { openEngine } from '../src/engine/open.ts'
import { putSample, queryCollections } from '../src/openings/collections.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import questionFile from './data/collections-questions.json' with { type: 'json' }
import { ndcg, recall } from './lib/collections.ts'
import { lent, localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'collections'

export type Language = 'en' | 'es'
export type Ranking = 'vectors' | 'hybrid'

export interface CollectionsQuality {
  readonly language: Language
  readonly ranking: Ranking
  /** Mean reciprocal rank of the first relevant result, among all that are shown. */
  readonly mrr: number
  readonly ndcg10: number
  /** Share of the relevant records that is shown: at most five of each collection are. */
  readonly recall10: number
}

/** Least mean reciprocal ranks: about one question in twenty below what was measured. */
export const FLOORS: Readonly<Record<Language, Readonly<Record<Ranking, number>>>> = {
  en: { vectors: 0.86, hybrid: 0.9 },
  es: { vectors: 0.84, hybrid: 0.9 },
}

export async function run(): Promise<readonly Row[]> {
  return (await measureCollections()).flatMap(({ language, ranking, mrr, ndcg10, recall10 }) => {
    const floor = FLOORS[language][ranking]
    const what = `${language}, ${ranking}`
    return [
      { name: `${what}, MRR`, unit: '', value: mrr, goal: `>= ${floor}`, ok: mrr >= floor },
      { name: `${what}, nDCG@10`, unit: '', value: ndcg10 },
      { name: `${what}, Recall@10`, unit: '', value: recall10 },
    ]
  })
}

/** Both languages, both rankings. */
export async function measureCollections(): Promise<readonly CollectionsQuality[]> {
  const own = await localEmbedder()
  const embedder = lent(own)
  try {
    using home = tempFolder()
    {
      await using engine = await openEngine({ home: home.path, embedder, background: false })
      await putSample(engine)
    }
    const measured: CollectionsQuality[] = []
    for (const language of ['en', 'es'] as const) {
      for (const ranking of ['vectors', 'hybrid'] as const) {
        measured.push(await measure(home.path, embedder, language, ranking))
      }
    }
    return measured
  } finally {
    await own.close()
  }
}

async function measure(
  home: string,
  embedder: Embedder,
  language: Language,
  ranking: Ranking,
): Promise<CollectionsQuality> {
  const judged: { readonly mrr: number; readonly ndcg: number; readonly recall: number }[] = []
  for (const { question, relevant } of questionFile.filter(({ lang }) => lang === language)) {
    const options = { persistDirectory: home, hybrid: ranking === 'hybrid', embedder }
    const ids = (await queryCollections(question, options)).results.map(({ id }) => id)
    const wanted = new Set(relevant)
    const rank = ids.findIndex(id => wanted.has(id))
    judged.push({ mrr: rank < 0 ? 0 : 1 / (rank + 1), ndcg: ndcg(ids, wanted, 10), recall: recall(ids, wanted, 10) })
  }
  const mean = (pick: (one: (typeof judged)[number]) => number): number =>
    judged.reduce((sum, one) => sum + pick(one), 0) / judged.length
  return {
    ...{ language, ranking },
    mrr: mean(one => one.mrr),
    ndcg10: mean(one => one.ndcg),
    recall10: mean(one => one.recall),
  }
}
