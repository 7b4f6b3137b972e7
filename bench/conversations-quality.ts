/**
 * How well messages that answer a question are found in conversations: the labelled set that comes with the repository
 * (bench/data/conversations), the product held against the reference (bench/lib/conversations). Chats with long answers, made
 * of documentation, show what a vector for each piece of a message is worth. How quick it is, bench/conversations.ts measures.
 */
import type { Embedder } from '../src/embed/embedder.ts'
import type { Profile } from '../src/lenses/conversations/model.ts'
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { labelledSet } from './lib/conversations/labelled-set.ts'
import { longAnswers } from './lib/conversations/long-answers.ts'
import { openProduct } from './lib/conversations/product.ts'
import { byCategory, type Judged, judgeReference, meanOf, ofProfile, TOLERANCE } from './lib/conversations/quality.ts'
import type { QuestionSet } from './lib/conversations/question-set.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'conversations-quality'

export async function run(): Promise<readonly Row[]> {
  const embedder = cacheOnDisk(await localEmbedder())
  try {
    const labelled = await labelledSet()
    const rows: Row[] = [sizeRow(labelled)]
    for (const profile of ['people', 'assistant'] as const)
      rows.push(...(await qualityRows(ofProfile(labelled, profile), profile, embedder, true)))
    const long = await longAnswers()
    if (long === null) rows.push({ name: 'long answers: skipped, no documentation to be had', unit: '', value: 0 })
    else rows.push(sizeRow(long), ...(await qualityRows(long, 'assistant', embedder, false)))
    return rows
  } finally {
    await embedder.close()
  }
}

function sizeRow({ name, conversations, questions, problems }: QuestionSet): Row {
  const messages = conversations.reduce((sum, one) => sum + one.messages.length, 0)
  const unread = problems.length === 0 ? '' : `; ${problems.length} problems, such as ${problems[0]}`
  const note = `${conversations.length} conversations, ${messages} messages${unread}`
  return { name: `${name}: questions`, unit: '', value: questions.length, note }
}

/** Of one part of a set: the reference, whole and by category, and the product. `isJudged`: the product must be as good. */
async function qualityRows(
  part: QuestionSet,
  profile: Profile,
  embedder: Embedder,
  isJudged: boolean,
): Promise<readonly Row[]> {
  const reference = await judgeReference(part, profile, embedder)
  await using product = await openProduct(part, embedder)
  const within = await product.within()
  const called = `${part.name}, ${profile}`
  const difference = meanOf(within, 'recallAt10') - meanOf(reference, 'recallAt10')
  const isGood = Math.abs(difference) <= TOLERANCE
  return [
    recallRow(`${called}, the reference`, reference),
    ...[...byCategory(reference)].map(([category, group]) => recallRow(`${called}, the reference, ${category}`, group)),
    {
      ...recallRow(`${called}, the product`, within),
      ...(isJudged && { goal: `within ${TOLERANCE} of the reference`, ok: isGood }),
    },
    recallRow(`${called}, the product, asked of all conversations at once`, await product.everywhere()),
  ]
}

function recallRow(name: string, judged: readonly Judged[]): Row {
  const of = (measure: 'reciprocalRank' | 'hitAt10' | 'recallInBudget') => meanOf(judged, measure).toFixed(3)
  return {
    name: `${name}: R@10`,
    unit: '',
    value: meanOf(judged, 'recallAt10'),
    note: `MRR ${of('reciprocalRank')}, hit@10 ${of('hitAt10')}, R@2k ${of('recallInBudget')}; ${judged.length} questions`,
  }
}
