/**
 * How well the messages that answer a query are found in the labelled conversations of the repository
 * (bench/data/conversations), with the built-in model.
 */
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { labelledSet } from './lib/conversations/labelled-set.ts'
import { type Measures, MIN_RECALL, meanOf, ofProfile, openProduct } from './lib/conversations/product.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'conversations-quality'

export async function run(): Promise<readonly Row[]> {
  const embedder = cacheOnDisk(await localEmbedder())
  try {
    const labelled = await labelledSet()
    const rows: Row[] = []
    for (const profile of ['people', 'assistant'] as const) {
      await using product = await openProduct(ofProfile(labelled, profile), embedder)
      const [within, goal] = [recallRow(profile, await product.within()), MIN_RECALL[profile]]
      rows.push({ ...within, goal: `>= ${goal}`, ok: within.value >= goal })
      rows.push(recallRow(`${profile}, all conversations searched at once`, await product.everywhere()))
    }
    return rows
  } finally {
    await embedder.close()
  }
}

function recallRow(name: string, measured: readonly Measures[]): Row {
  const of = (measure: 'reciprocalRank' | 'hitAt10' | 'recallInBudget') => meanOf(measured, measure).toFixed(3)
  return {
    name: `${name}: R@10`,
    unit: '',
    value: meanOf(measured, 'recallAt10'),
    note: `MRR ${of('reciprocalRank')}, hit@10 ${of('hitAt10')}, R@2k ${of('recallInBudget')}; ${measured.length} questions`,
  }
}
