/** What an answer over messages is worth, with the built-in model: what is foreign to all of them is no answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { openEngine } from '../../../../../src/engine/open.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { modelFolder } from '../../../../support/model.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const SAID = [
  'I drink green tea in the morning.',
  'My dentist appointment is on Tuesday at nine.',
  'The shed needs a new roof before winter.',
  'We painted the shed red last summer.',
  'Someone broke the window of the shed.',
  'Fine with me.',
  'Shares of the railway fell by two percent.',
]

let engine: Engine
beforeAll(async () => {
  engine = await openTestEngine({ embedder: { provider: 'local', folder: modelFolder() } })
  for (const [at, text] of SAID.entries()) {
    await call(engine, 'remember', { text, speaker: 'Ana', conversation: 'home', id: `m${at}`, wait: true })
  }
})
afterAll(() => engine.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are read in expectations only
const ask = (text: string, more: object = {}): Promise<any> => call(engine, 'conversations.query', { text, ...more })

describe('recall', () => {
  it.each(['capital of Mongolia', 'zorblax quintessential marmalade'])(
    'says of %s that nothing is relevant, and hands over what came nearest (QE-005)',
    async text => {
      const answer = await ask(text)
      expect(answer).toMatchObject({ messages: [], verdict: 'nothing_relevant', verdict_by: 'meaning', cursor: null })
      expect(answer.reason).toMatch(/evidence 0\.\d\d, needed 0\.\d\d among 7 passages/)
      expect(answer.nearest.length).toBeGreaterThan(0)
      expect(answer.nearest[0]).toMatchObject({ rank: 1, conversation: 'home', speaker: 'Ana' })
    },
  )

  it('answers what was said, by meaning and by words', async () => {
    const dentist = await ask('when do I see the dentist?')
    expect(dentist).toMatchObject({ verdict: 'answered', verdict_by: 'meaning', reason: null })
    expect([dentist.messages[0].id, dentist.nearest]).toEqual(['home/m1', undefined])
    expect((await ask('what colour is the hut?')).messages[0].id).toBe('home/m3')
    const words = await ask('shed roof', { mode: 'words' })
    expect([words.verdict, words.verdict_by, words.messages[0].id]).toEqual(['answered', 'words', 'home/m2'])
  })

  it('leaves out what has no word of the question, no nearness of meaning and no near neighbour', async () => {
    const { messages } = await ask('beverage preference')
    expect(messages.map(({ id }: { id: string }) => id)).toEqual(['home/m0', 'home/m1'])
  })
})

describe('recall while most messages have no vector yet', () => {
  it('is judged by words, and nothing is called unknown for lack of vectors (QE-005)', async () => {
    using home = tempFolder()
    const embedder = { provider: 'local', folder: modelFolder() } as const
    const written = [
      { embedder, said: SAID.slice(0, 1), wait: true },
      { embedder: 'none', said: SAID.slice(1), wait: false },
    ] as const
    for (const { embedder, said, wait } of written) {
      await using writing = await openEngine({ home: home.path, embedder, background: false })
      for (const text of said) {
        await call(writing, 'remember', { text, speaker: 'Ana', conversation: 'home', id: text.slice(0, 6), wait })
      }
    }
    await using partly = await openEngine({ home: home.path, embedder, background: false })
    const asked = (text: string) => call(partly, 'conversations.query', { text })
    expect(await asked('capital of Mongolia')).toMatchObject({ verdict: 'weak', verdict_by: 'words' })
    expect(await asked('roof of the shed')).toMatchObject({ verdict: 'answered', verdict_by: 'words', reason: null })
  })
})
