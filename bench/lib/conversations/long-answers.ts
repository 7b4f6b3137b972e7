/**
 * Chats with an assistant who answers at length, made of the pages of documentation (bench/lib/documentation.ts): a request of
 * the user, then some 320 words of a page, and so on. The questions are those of the pages. A question is answered by the
 * messages that hold its answering string. Most answers stand behind the 256 tokens that one vector of the model holds.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chunk } from '../../../src/text/chunk.ts'
import { htmlText } from '../../../src/text/html-text.ts'
import { documentationFolder, documentationPages, documentationQuestions } from '../documentation.ts'
import { type MessageRecord, type Question, type QuestionSet, readRecords } from './question-set.ts'

const WORDS = 320
/** Each a session of its chat. */
const PAGES_A_CHAT = 5

/** Null where there is no documentation to be had. */
export async function longAnswers(): Promise<QuestionSet | null> {
  const folder = documentationFolder()
  if (folder === undefined) return null
  const records: MessageRecord[] = []
  const questions: Question[] = []
  for (const [at, page] of documentationPages.entries()) {
    const conversation = `chat-${Math.floor(at / PAGES_A_CHAT)}`
    const { title, parts } = readPage(join(folder, page))
    const answers = parts.map((text, place) => ({ id: `page-${at}-${place}`, text }))
    const said = { conversation, session: `page-${at}` }
    for (const { id, text } of answers) {
      const asked = { id: `${id}-asked`, speaker: 'Ana', role: 'user', text: `Please go on about ${title}.` }
      records.push({ ...said, ...asked }, { ...said, id, speaker: 'Assistant', role: 'assistant', text })
    }
    for (const { text, answer } of documentationQuestions.filter(question => question.page === page)) {
      const gold = new Set(answers.filter(one => one.text.replace(/\s+/g, ' ').includes(answer)).map(({ id }) => id))
      if (gold.size > 0) questions.push({ id: `q${questions.length}`, conversation, category: 'fact', text, gold })
    }
  }
  const { conversations, problems } = await readRecords('long-answers.jsonl', records)
  return {
    name: 'long answers',
    conversations,
    questions,
    languages: new Map(conversations.map(({ id }) => [id, 'en'])),
    problems: problems.map(({ message }) => message),
  }
}

function readPage(file: string): { readonly title: string; readonly parts: readonly string[] } {
  const { text, title, headings } = htmlText(readFileSync(file, 'utf8'))
  const ends = chunk(text, { form: 'prose', headings }).map(({ end }) => end)
  const parts: string[] = []
  let start = 0
  for (const [at, end] of ends.entries()) {
    const part = text.slice(start, end)
    if (at < ends.length - 1 && part.split(/\s+/).length < WORDS) continue
    parts.push(part)
    start = end
  }
  return { title, parts }
}
