/** The labelled conversations: whole, read by the product without a word of complaint, and as many as were asked for. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  conversationFiles,
  FOLDER,
  labelledQuestions,
  labelledSet,
  readRecords,
  recordsOf,
  UNANSWERABLE,
} from '../../../bench/lib/conversations/labelled-set.ts'

const OF_PEOPLE = ['adversarial', 'multi-evidence', 'open-inference', 'single-fact', 'temporal', UNANSWERABLE]
const OF_ASSISTANTS = [
  ...['contradiction', 'event-order', 'extraction', 'instruction', 'knowledge-update', 'multi-session', 'preference'],
  ...['summary', 'temporal', UNANSWERABLE],
]
const LANGUAGES = ['en', 'es'] as const

describe('the labelled conversations', () => {
  const questions = labelledQuestions()

  it('are read by the product without a problem, a file each, every record a message', async () => {
    const { conversations, problems } = await labelledSet()
    expect(problems).toEqual([])
    expect(conversations.map(({ id }) => `${id}.jsonl`)).toEqual(conversationFiles())
    const lines = conversationFiles().map(
      file => readFileSync(new URL(file, FOLDER), 'utf8').trimEnd().split('\n').length,
    )
    expect(conversations.map(({ messages }) => messages.length)).toEqual(lines)
  })

  it('written out again for the product to import, are the same messages', async () => {
    const { conversations } = await labelledSet()
    const { conversations: again } = await readRecords('again', conversations.flatMap(recordsOf))
    expect(again.map(({ messages }) => messages)).toEqual(conversations.map(({ messages }) => messages))
  })

  it('are many enough, of both kinds in both languages, in several sessions', async () => {
    const { conversations } = await labelledSet()
    const languages = new Map(questions.map(({ conversation, language }) => [conversation, language]))
    expect(conversations.length).toBeGreaterThanOrEqual(12)
    expect(conversations.reduce((sum, { messages }) => sum + messages.length, 0)).toBeGreaterThanOrEqual(300)
    for (const profile of ['people', 'assistant']) {
      for (const language of LANGUAGES) {
        const such = conversations.filter(one => one.profile === profile && languages.get(one.id) === language)
        expect(such.length, `${profile}, ${language}`).toBeGreaterThanOrEqual(3)
      }
    }
    for (const { id, messages } of conversations) {
      expect(new Set(messages.map(({ session }) => session)).size, id).toBeGreaterThanOrEqual(4)
    }
  })

  it('have ids that are their own, times that go forward, and speakers', async () => {
    const messages = (await labelledSet()).conversations.flatMap(one => one.messages)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    for (const [at, { id, conversation, speaker, position, at: when, zone }] of messages.entries()) {
      const before = messages[at - 1]
      expect(id).toBe(`${conversation}-${String(position + 1).padStart(2, '0')}`)
      expect(speaker, id).not.toBe('')
      expect(when !== null && zone !== null, id).toBe(true)
      if (before?.conversation === conversation) expect(when as number, id).toBeGreaterThan(before.at as number)
    }
  })

  it('have questions enough, about half in each language, a few of each category in each', async () => {
    const { conversations } = await labelledSet()
    expect(questions.length).toBeGreaterThanOrEqual(80)
    const english = questions.filter(({ language }) => language === 'en').length / questions.length
    expect(Math.abs(english - 0.5)).toBeLessThan(0.1)
    for (const [profile, categories] of Object.entries({ people: OF_PEOPLE, assistant: OF_ASSISTANTS })) {
      const ids = new Set(conversations.filter(one => one.profile === profile).map(({ id }) => id))
      const such = questions.filter(({ conversation }) => ids.has(conversation))
      expect([...new Set(such.map(({ category }) => category))].sort()).toEqual([...categories].sort())
      for (const language of LANGUAGES) {
        for (const category of categories) {
          const count = such.filter(one => one.language === language && one.category === category).length
          expect(count, `${profile}, ${language}, ${category}`).toBeGreaterThanOrEqual(3)
        }
      }
    }
  })

  it('have gold that is there, each message once, and none only where nothing answers', async () => {
    const { conversations } = await labelledSet()
    const messages = new Map(conversations.map(one => [one.id, new Set(one.messages.map(({ id }) => id))]))
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length)
    expect(new Set(questions.map(({ question, conversation }) => `${conversation} ${question}`)).size).toBe(
      questions.length,
    )
    for (const { id, conversation, category, question, answer, gold } of questions) {
      expect(question.length > 0 && answer.length > 0, id).toBe(true)
      expect(gold.length === 0, id).toBe(category === UNANSWERABLE)
      expect(new Set(gold).size, id).toBe(gold.length)
      for (const message of gold) expect(messages.get(conversation)?.has(message), `${id}: ${message}`).toBe(true)
    }
  })
})
