/** What one holder remembers changes nothing in the answers of another, whatever the conversation is called. */
import { expect, it } from 'vitest'
import { call } from '../../../support/conversations.ts'
import { openTestEngine } from '../../../support/engines.ts'

const ASKED = ['where is the kiln', 'barn', 'conversations.speaker:Mira', '"8 March 2025"']

/** What ana receives, while ben, of the same conversation, remembers so much. */
async function answersFor(ana: string, hidden: number): Promise<string> {
  await using engine = await openTestEngine()
  const say = (viewer: string, text: string, speaker: string, id: string, minute: number) => {
    const at = Date.UTC(2025, 2, 14, 10, minute)
    return call(engine, 'remember', { text, speaker, id, at, conversation: 'workshop' }, viewer)
  }
  for (let at = 0; at < hidden; at++)
    await say('ben', `Where is the kiln, the barn, number ${at}?`, 'Mira', `h${at}`, 0)
  const reported: unknown[] = [await say(ana, 'Where is the kiln?', 'Tom', 'q', 1)]
  for (let at = 0; at < hidden; at++) await say('ben', `In the barn ${at} since last weekend.`, 'Mira', `q${at}`, 2)
  reported.push(await say(ana, 'In the barn since last weekend.', 'Mira', 'a', 3))
  if (hidden > 0) await call(engine, 'delete', { ids: ['workshop/h0'] }, 'ben')
  for (const text of ASKED) {
    const page = await call(engine, 'query', { text, explain: true, touch: false }, ana)
    reported.push({ ...page, cursor: null })
  }
  reported.push(await call(engine, 'list', { order: 'id' }, ana))
  return JSON.stringify(reported)
}

it.each([1, 7, 40])('%i hidden messages of the same conversation change no byte', async hidden => {
  const alone = await answersFor('ana', 0)
  expect(alone).toContain('workshop/a')
  expect(await answersFor('ana', hidden)).toBe(alone)
})

/** What ana receives where ben has published one message of an otherwise private conversation. */
async function published(hidden: number): Promise<string> {
  await using engine = await openTestEngine()
  const say = (text: string, id: string, speaker: string, viewer: string) =>
    call(engine, 'remember', { text, speaker, id, conversation: 'workshop', at: Date.UTC(2025, 2, 14, 10) }, viewer)
  await say('The kiln is in the barn.', 'p', 'Tom', 'ben')
  for (let at = 0; at < hidden; at++) await say(`Where is the kiln, the barn, number ${at}?`, `h${at}`, 'Mira', 'ben')
  const published = { id: 'workshop/p', kind: 'message', content: 'The kiln is in the barn.', visibility: 'public' }
  await call(engine, 'put', { entries: [published] }, 'ben')
  const found: unknown[] = []
  const ask = async (more: object) => {
    const asked = { explain: true, touch: false, neighbours: 2, ...more }
    found.push({ ...(await call(engine, 'conversations.query', asked, 'ana')), cursor: null })
  }
  // Beside another conversation too, as the number of conversations searched decides what is shown of each.
  for (let round = 0; round < 2; round++) {
    for (const text of ASKED) for (const more of [{}, { conversations: ['workshop'] }]) await ask({ text, ...more })
    await call(engine, 'remember', { text: 'The barn is red.', conversation: 'home', id: 'a' }, 'ana')
  }
  return JSON.stringify(found)
}

it.each([1, 9])('%i private messages beside one that was published change no byte', async hidden => {
  const alone = await published(0)
  expect(alone).toContain('workshop/p')
  expect(await published(hidden)).toBe(alone)
})
