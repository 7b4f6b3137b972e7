/**
 * Retrieval quality on public collections, through the engine as it comes: nDCG@10, Recall@100, questions wrongly refused,
 * and false answers, for which each collection is asked the questions of the others. How the depth of a leg was chosen and
 * judged: docs/decisions/009. The same questions while some of a collection is not embedded yet, and with typos. Then questions over long documentation, in everyday words. The first run embeds 10,000 documents, which takes minutes; vectors are kept in bench/out.
 */
import type { Embedder } from '../src/embed/embedder.ts'
import type { Engine } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
import type { Verdict } from '../src/model/page.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { cacheOnDisk } from './lib/cached-embedder.ts'
import {
  type CollectionName,
  type Judged,
  missingCollections,
  ndcg,
  readCollection,
  recall,
} from './lib/collections.ts'
import { labelledSet } from './lib/conversations/labelled-set.ts'
import { recallVerdictRows } from './lib/conversations/recall-verdicts.ts'
import { documentationRows, documentationSet } from './lib/documentation-quality.ts'
import { harderRows } from './lib/harder-questions.ts'
import { lent, localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'
import { randomHalves, type VerdictSet, verdictRows } from './lib/verdict-quality.ts'

export const name = 'quality'

const GOALS: Readonly<Record<CollectionName, { ndcg: number; recall: number }>> = {
  cranfield: { ndcg: 0.435, recall: 0.79 },
  cacm: { ndcg: 0.53, recall: 0.77 },
  scifact: { ndcg: 0.73, recall: 0.96 },
}
const MAX_FALSE_ANSWERS = 5

export async function run(): Promise<readonly Row[]> {
  const missing = missingCollections()
  const here = (Object.keys(GOALS) as CollectionName[]).filter(collection => !missing.includes(collection))
  const skipped = missing.map(collection => ({
    name: `${collection}: skipped, it is not beside the repository`,
    unit: '',
    value: 0,
  }))
  const cached = cacheOnDisk(await localEmbedder())
  try {
    const collections = here.map(readCollection)
    const measured: Measured[] = []
    for (const collection of collections) measured.push(await measure(collection, collections, cached))
    const documentation = await documentationRows(collections, cached)
    const sets = [...collections.map(asVerdictSet), await documentationSet()].filter(set => set !== null)
    const foreign = sets.flatMap(({ questions }) => questions.filter(({ half }) => half === 'reported').slice(0, 30))
    const verdicts = [
      ...(await verdictRows(sets, cached)),
      ...(await recallVerdictRows(
        await labelledSet(),
        foreign.map(({ text }) => text),
        cached,
      )),
    ]
    return [...skipped, ...measured.flatMap(rowsOf), ...macroRows(measured), ...documentation, ...verdicts]
  } finally {
    await cached.close()
  }
}

function asVerdictSet({ name, documents, questions }: Judged): VerdictSet {
  const halves = randomHalves(questions.length, 20_261_125)
  return {
    name,
    passages: documents,
    questions: questions.map(({ text, relevant }, at) => ({
      ...{ text, answeredBy: [...relevant], half: halves[at] ?? 'reported' },
    })),
  }
}

export interface Measured {
  readonly name: CollectionName
  readonly ndcg: number
  readonly recall: number
  /** Percent of its own questions that were refused. */
  readonly lost: number
  /** Percent of the others' questions whose verdict is that they were answered, by collection. */
  readonly falseAnswers: Readonly<Record<string, number>>
  /** Of the same questions where not all is embedded, and with typos. */
  readonly harder: readonly Row[]
}

/** The collection in a fresh store, asked its own questions and those of the others. */
export async function measure(of: Judged, others: readonly Judged[], embedder: Embedder): Promise<Measured> {
  using home = tempFolder()
  await using engine = await openEngine({ home: home.path, embedder: lent(embedder), background: false })
  await engine.put({
    entries: of.documents.map(({ id, title, text }) => ({ id, title, content: text })),
    wait: true,
  })
  const own = await measureOwn(of, engine)
  const falseAnswers: Record<string, number> = {}
  for (const other of others.filter(({ name }) => name !== of.name)) {
    falseAnswers[other.name] = await percentOf('answered', other, engine)
  }
  return { name: of.name, ...own, falseAnswers, harder: await harderRows(of, engine, embedder) }
}

async function measureOwn(of: Judged, engine: Engine): Promise<Pick<Measured, 'ndcg' | 'recall' | 'lost'>> {
  const gains: number[] = []
  const recalls: number[] = []
  for (const { text, relevant } of of.questions) {
    const { items } = await engine.query({ text, limit: 100, any: true, touch: false })
    const ids = items.map(item => item.id)
    gains.push(ndcg(ids, relevant, 10))
    recalls.push(recall(ids, relevant, 100))
  }
  return { ndcg: mean(gains), recall: mean(recalls), lost: await percentOf('nothing_relevant', of, engine) }
}

async function percentOf(wanted: Verdict, of: Judged, engine: Engine): Promise<number> {
  let count = 0
  for (const { text } of of.questions) {
    const { verdict } = await engine.query({ text, limit: 1, touch: false })
    if (verdict === wanted) count++
  }
  return (100 * count) / of.questions.length
}

function rowsOf({ name, ndcg, recall, lost, falseAnswers, harder }: Measured): readonly Row[] {
  const goal = GOALS[name]
  return [
    { name: `${name}, nDCG@10`, unit: '', value: ndcg, goal: `>= ${goal.ndcg}`, ok: ndcg >= goal.ndcg },
    { name: `${name}, Recall@100`, unit: '', value: recall, goal: `>= ${goal.recall}`, ok: recall >= goal.recall },
    { name: `${name}, own questions refused`, unit: '%', value: lost },
    ...Object.entries(falseAnswers).map(([other, value]) => ({
      name: `${name}, questions of ${other} answered`,
      unit: '%',
      value,
    })),
    ...harder,
  ]
}

function macroRows(measured: readonly Measured[]): readonly Row[] {
  const rates = measured.flatMap(({ falseAnswers }) => Object.values(falseAnswers))
  const value = mean(rates)
  const goal = `<= ${MAX_FALSE_ANSWERS}`
  if (rates.length === 0) return []
  return [
    { name: 'false answers, mean of the pairs', unit: '%', value, goal, ok: value <= MAX_FALSE_ANSWERS },
    { name: 'nDCG@10, mean of the collections', unit: '', value: mean(measured.map(({ ndcg }) => ndcg)) },
    { name: 'Recall@100, mean of the collections', unit: '', value: mean(measured.map(({ recall }) => recall)) },
  ]
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
