/**
 * How well messages that answer a question are found in conversations: the labelled set that comes with the repository
 * (bench/data/conversations), the product held against the reference (bench/lib/conversations). Chats with long answers, made
 * of documentation, show what a vector for each piece of a message is worth. How quick it is, bench/conversations.ts measures.
 */
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { labelledSet } from './lib/conversations/labelled-set.ts'
import { longAnswers } from './lib/conversations/long-answers.ts'
import { ofProfile, qualityRows } from './lib/conversations/quality.ts'
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
