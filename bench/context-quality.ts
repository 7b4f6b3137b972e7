/**
 * `/context/query` on labelled questions (CX-072): nDCG@10 and recall@10 by mode and rank, on the questions that judge, and on
 * those that the numbers of rank `relevance` were chosen by; with the model and without. The first run embeds for two minutes.
 */
import type { Embedder } from '../src/embed/embedder.ts'
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { indexCode, type Measures, measuresOf, type Part, questionSet, WAYS } from './lib/context-questions.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'context-quality'

export async function run(): Promise<readonly Row[]> {
  return [
    ...(await rowsOf('judged on', 'judged', await model())),
    ...(await rowsOf('judged on', 'judged, no embedder', 'none')),
    ...(await rowsOf('chosen on', 'chosen on', await model())),
  ]
}

/** A fresh one: closing what asks closes it. */
async function model(): Promise<Embedder> {
  return cacheOnDisk(await localEmbedder())
}

async function rowsOf(part: Part, label: string, embedder: Embedder | 'none'): Promise<readonly Row[]> {
  const set = questionSet(part)
  await using code = await indexCode(set, embedder)
  const hasMeaning = embedder !== 'none'
  const rows: Row[] = []
  let least: Measures = { recall: 0, ndcg: 0 }
  for (const way of WAYS) {
    if (way.mode === 'semantic' && !hasMeaning) continue
    const measured = await measuresOf(code.sys, set, way)
    if (way.mode === 'semantic') least = measured
    const isHeld = part === 'judged on' && hasMeaning && way.mode === 'hybrid' && way.rank === 'relevance'
    const called = `${label}: ${way.mode}, ${way.rank}`
    for (const measure of ['ndcg', 'recall'] as const) {
      const row = {
        name: `${called}, ${measure === 'ndcg' ? 'nDCG@10' : 'recall@10'}`,
        unit: '',
        value: measured[measure],
      }
      const goal = { goal: `>= ${least[measure]} (semantic)`, ok: measured[measure] >= least[measure] }
      rows.push(isHeld ? { ...row, ...goal } : row)
    }
  }
  return rows.map((row, at) =>
    at === 0 ? { ...row, note: `${set.questions.length} questions over src/{${set.folders.join()}}` } : row,
  )
}
