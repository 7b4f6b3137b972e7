/**
 * How well messages that answer a question are found in conversations: the labelled set that comes with the repository
 * (bench/data/conversations), and the public sets where somebody has a copy (`QUERENT_LOCOMO`, `QUERENT_BEAM`). The ladder
 * of ingredients is that of the reference (bench/lib/conversations); the product is held against its default. Chats with long
 * answers, made of documentation, show what a vector for each piece of a message is worth.
 * Intervals are 95 % bootstraps over whole conversations. How quick it is, bench/conversations.ts measures.
 */
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { labelledSet } from './lib/conversations/labelled-set.ts'
import { longAnswers } from './lib/conversations/long-answers.ts'
import { publicSets } from './lib/conversations/public-sets.ts'
import { ladderOf, longMessageRows, partsOf, productRows } from './lib/conversations/quality-rows.ts'
import type { QuestionSet } from './lib/conversations/question-set.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'conversations-quality'

const TOLD = 5

export async function run(): Promise<readonly Row[]> {
  const { sets, missing } = await publicSets(process.env)
  const embedder = cacheOnDisk(await localEmbedder())
  try {
    const rows: Row[] = []
    for (const set of [await labelledSet(), ...sets]) {
      rows.push(sizeRow(set))
      for (const { profile, part } of partsOf(set)) {
        const { rows: ladder, whole } = await ladderOf(part, profile, embedder)
        rows.push(...ladder, ...(await productRows(part, profile, whole, embedder)))
      }
    }
    const long = await longAnswers()
    if (long === null) rows.push({ name: 'long answers: skipped, no documentation to be had', unit: '', value: 0 })
    else rows.push(sizeRow(long), ...(await longMessageRows(long, embedder)))
    rows.push(...missing.map(one => ({ name: `not measured: ${one}`, unit: 'sets', value: 1 })))
    return rows
  } finally {
    await embedder.close()
  }
}

function sizeRow({ name, conversations, questions, problems }: QuestionSet): Row {
  const messages = conversations.reduce((sum, one) => sum + one.messages.length, 0)
  const unread =
    problems.length === 0 ? '' : `; ${problems.length} problems, such as ${problems.slice(0, TOLD).join('; ')}`
  return {
    name: `${name}: questions`,
    unit: '',
    value: questions.length,
    note: `${conversations.length} conversations, ${messages} messages${unread}`,
  }
}
