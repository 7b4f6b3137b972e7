/** Questions over messages: order, reasons that add up, filters, budgets, neighbours, the past, pages, streams and newer statements. */

import { beforeEach, describe, expect, it } from 'vitest'
import { openLocalEmbedder } from '../../../../../src/embed/local-embedder.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { askConversations } from '../../../../../src/lenses/conversations/asking/ask.ts'
import type { MessageResult } from '../../../../../src/lenses/conversations/asking/ask-schema.ts'
import { recompute } from '../../../../../src/model/explanation.ts'
import { call, KILN as LINES, line, writeLines } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { modelFolder } from '../../../../support/model.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

type Said = readonly [id: string, speaker: string, text: string, more?: object]

const KILN: readonly Said[] = [
  ['m1', 'Mira', 'The clay came this morning.'],
  ['m2', 'Tom', 'Did you ever find a new place for the kiln?'],
  ['m3', 'Mira', 'Yes, we moved it to the barn last weekend.'],
  ['m4', 'Tom', 'I bought two bags of sand.'],
  ['m5', 'Mira', 'The kiln needs a new door, and I will move the shelves.'],
  ['m6', 'Tom', 'Fine with me.'],
]

/** Questions without a word of the only message of each conversation. */
const MEANT = { a: 'appointment for my teeth', b: 'which city hosts our test machine' }

let engine: Engine

beforeEach(async () => {
  engine = await openTestEngine({ embedder: openToyEmbedder() })
  return () => engine.close()
})

async function say(conversation: string, said: readonly Said[], day = '2025-03-14', viewer = 'owner'): Promise<void> {
  for (const [at, [id, speaker, text, more]] of said.entries()) {
    const time = `${day}T10:${String(at).padStart(2, '0')}:00Z`
    await call(engine, 'remember', { text, speaker, conversation, id, at: time, wait: true, ...more }, viewer)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read in expectations only
const ask = (text: string, more: object = {}, viewer = 'owner'): Promise<any> =>
  call(engine, 'conversations.query', { text, ...more }, viewer)
const idsOf = ({ messages }: { messages: readonly MessageResult[] }) => messages.map(({ id }) => id)

describe('conversations.query', () => {
  it('puts the answer first: by the question before it, who is named, and the time it says', async () => {
    await say('kiln', KILN)
    const answer = await ask('When did Mira move the kiln?', { conversations: ['kiln'], explain: true })
    expect(answer.messages[0]).toMatchObject({
      ...{ rank: 1, id: 'kiln/m3', conversation: 'kiln', session: 'm1', position: 2, speaker: 'Mira', role: null },
      ...{ at: '2025-03-14T10:02:00.000Z', text: 'Yes, we moved it to the barn last weekend.', partial: false },
      dates: ['weekend of 8 March 2025'],
    })
    expect(answer.messages[0].why).toMatch(/^words .*kiln.*block .*meaning .*neighbours .*× speaker 1.20, × when 1.30$/)
    expect(answer).toMatchObject({ order: 'rank', verdict: 'answered', mode: 'hybrid' })
  })

  it('gives reasons whose leaves make the score, to the last digit', async () => {
    await say('kiln', KILN)
    await say('chat', [['c1', 'me', 'Move the kiln to the barn', { role: 'user' }]])
    for (const more of [{}, { conversations: ['kiln'] }, { conversations: ['chat'] }, { mode: 'words' }]) {
      const { messages } = await ask('When did Mira move the kiln?', { ...more, explain: true, limit: 100 })
      expect(messages.length).toBeGreaterThan(0)
      for (const { score, explanation } of messages) expect(recompute(explanation)).toBe(score)
    }
    const page = await call(engine, 'query', { text: 'kiln Mira', lens: 'conversations' })
    for (const { score, components } of page.items) {
      const sum = Object.values(components as Record<string, number>).reduce((a, b) => a + b, 0)
      expect(sum).toBeCloseTo(score, 9)
    }
  })

  it('tells of each word what it adds, by its own name', async () => {
    await say('kiln', [
      ['a', 'Mira', 'The kiln is hot.'],
      ['b', 'Tom', 'The kiln is cold.'],
      ['c', 'Mira', 'The clay is cold.'],
    ])
    // The rare word is added up first, the other is first in the question.
    const { messages } = await ask('kiln clay', { mode: 'words', explain: true })
    const wordsIn = (tree: unknown) => ['kiln', 'clay'].filter(word => JSON.stringify(tree).includes(`"${word}"`))
    for (const { id, why, explanation } of messages) {
      const word = id === 'kiln/c' ? 'clay' : 'kiln'
      expect(why).toMatch(new RegExp(String.raw`words 0\.\d+ \(${word}\)`))
      expect(wordsIn(explanation)).toEqual([word])
    }
    expect(messages.length).toBe(3)
  })

  it('doubles what the user said in a chat with an assistant, unless it is about the assistant', async () => {
    await say('chat', [
      ['u', 'me', 'My budget for the trip is 900 euros.', { role: 'user' }],
      ['a', 'bot', 'A budget of 900 euros for the trip is fine. The trip budget covers trains.', { role: 'assistant' }],
    ])
    expect(idsOf(await ask('What is my budget for the trip?'))).toEqual(['chat/u', 'chat/a'])
    expect(idsOf(await ask('What did you say about trains and the trip budget?'))[0]).toBe('chat/a')
  })

  it('tells the best piece of a long answer of an assistant', async () => {
    const filler = 'Some words about nothing in particular fill this paragraph to its end. '.repeat(15)
    const text = `${filler}\n\nThe gasket of the pump costs twelve euros.\n\n${filler}`
    await say('chat', [['a', 'bot', text, { role: 'assistant' }]])
    const { messages } = await ask('gasket of the pump', { mode: 'words' })
    expect(messages).toMatchObject([{ id: 'chat/a', partial: true }])
    expect(messages[0].text).toContain('twelve euros')
    expect(messages[0].text.length).toBeLessThan(text.length / 2)
  })

  it('keeps to speakers, roles, sessions and times, which change no score', async () => {
    await say('kiln', KILN)
    const all = await ask('the kiln', { limit: 100 })
    const toms = await ask('the kiln', { speakers: ['Tom'], limit: 100 })
    expect(toms.messages.map(({ id, score }: MessageResult) => [id, score])).toEqual(
      all.messages
        .filter(({ speaker }: MessageResult) => speaker === 'Tom')
        .map(({ id, score }: MessageResult) => [id, score]),
    )
    const late = await ask('the kiln', { since: '2025-03-14T10:03:00Z', until: '2025-03-14T10:05:00Z', limit: 100 })
    expect(idsOf(late).sort()).toEqual(['kiln/m4', 'kiln/m5'])
    expect(idsOf(await ask('the kiln', { sessions: ['none'] }))).toEqual([])
    await expect(ask('x', { speakers: [] })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('has no message of unknown time within a time, and refuses times that cannot be', async () => {
    using folder = tempFolder()
    const { at: _, ...undated } = line('m5', 'Tom', '', 'The kiln is hot.')
    await engine.add({ paths: [writeLines(folder.path, [...LINES, undated])], chat: {} })
    const find = async (more: object) => idsOf(await ask('kiln hot barn', { limit: 100, ...more }))
    expect(await find({})).toContain('kiln/m5')
    expect(await find({ since: '2025-03-14' })).toEqual(expect.arrayContaining(['kiln/m3', 'kiln/m2']))
    expect(await find({ since: '2025-03-14' })).not.toContain('kiln/m5')
    expect(await find({ until: '2100-01-01' })).not.toContain('kiln/m5')
    const wrong = { code: 'invalid_argument', details: { field: 'until' } }
    await expect(find({ since: '2025-03-15', until: '2025-03-14' })).rejects.toMatchObject(wrong)
  })

  it('asks the past: what was said later is not there, nor in any score', async () => {
    await say('kiln', KILN.slice(0, 3))
    const then = await ask('When did Mira move the kiln?', { limit: 100 })
    await say('kiln', KILN)
    const past = await ask('When did Mira move the kiln?', { limit: 100, as_of: '2025-03-14T10:02:00Z' })
    const bare = ({ messages }: { messages: readonly MessageResult[] }) => messages.map(({ id, score }) => [id, score])
    expect(bare(past)).toEqual(bare(then))
  })

  it('fills a budget of tokens by rank and tells it in time order; the cursor goes on behind it', async () => {
    await say('kiln', KILN)
    const all = idsOf(await ask('the kiln', { limit: 100 }))
    const first = await ask('the kiln', { max_tokens: 70 })
    expect(first.tokens).toBeLessThanOrEqual(70)
    expect(first.order).toBe('time')
    const count = first.messages.length
    expect(idsOf(first).sort()).toEqual(all.slice(0, count).sort())
    expect(idsOf(first)).toEqual([...idsOf(first)].sort())
    const next = await ask('the kiln', { max_tokens: 70, cursor: first.cursor })
    expect(idsOf(next).sort()).toEqual(all.slice(count, count + next.messages.length).sort())
    const least = await ask('the kiln', { max_tokens: 20 })
    expect(least.messages).toMatchObject([{ partial: true }])
    expect(least.tokens).toBeLessThanOrEqual(20)
  })

  it('tells a budget in time order also of what was remembered later, and of what others hold in a conversation', async () => {
    const note = (id: string, at: string, viewer: string) =>
      call(engine, 'remember', { text: `The kiln ${id}.`, conversation: 'c', id, at, visibility: 'public' }, viewer)
    await note('third', '2025-03-03', 'owner')
    await note('first', '2025-03-01', 'owner')
    await note('second', '2025-03-02', 'ana')
    expect(idsOf(await ask('kiln', { max_tokens: 200 }))).toEqual(['c/first', 'c/second', 'c/third'])
  })

  it('marks as newer what was said later, also where the earlier was remembered after it', async () => {
    const remember = (text: string, id: string, at: string) =>
      call(engine, 'remember', { text, speaker: 'Mira', conversation: 'home', id, at })
    await remember('My old bicycle is blue.', 'blue', '2025-04-01')
    await remember('My old bicycle is red.', 'red', '2025-03-01')
    const { messages } = await ask('Which colour is the bicycle now?')
    expect(messages).toMatchObject([
      { id: 'home/blue', newer_statement_of: ['home/red'] },
      { id: 'home/red', newer_statement_of: [] },
    ])
  })

  it('tells what was said around a message, in its session and at the time asked about', async () => {
    await say('kiln', KILN)
    const asked = { limit: 1, neighbours: 1, conversations: ['kiln'] }
    const { messages } = await ask('When did Mira move the kiln?', asked)
    expect(messages[0].neighbours.map(({ id }: MessageResult) => id)).toEqual(['kiln/m2', 'kiln/m4'])
    const past = await ask('When did Mira move the kiln?', { ...asked, as_of: '2025-03-14T10:02:30Z' })
    expect(past.messages[0].neighbours.map(({ id }: MessageResult) => id)).toEqual(['kiln/m2'])
  })

  it('marks the newer statement, drops none, and puts it first only where the question asks for now', async () => {
    await say('home', [
      ['h1', 'Mira', 'I live in a flat in Lugo, near the river Minho.'],
      ['h2', 'Tom', 'Good for you.'],
      ['h3', 'Mira', 'I live in a flat in Vigo now, near the river.'],
    ])
    const then = await ask('flat in Lugo near the river Minho', { mode: 'words' })
    const both = (answer: { messages: readonly MessageResult[] }) =>
      answer.messages.filter(({ speaker }) => speaker === 'Mira').map(m => [m.id, m.newer_statement_of])
    expect(both(then)).toEqual([
      ['home/h1', []],
      ['home/h3', ['home/h1']],
    ])
    const now = await ask('flat in Lugo near the river Minho now', { mode: 'words' })
    expect(both(now)).toEqual([
      ['home/h3', ['home/h1']],
      ['home/h1', []],
    ])
  })

  it('puts messages of several conversations in one list, the likelier conversation first', async () => {
    await say('kiln', KILN)
    await say('garden', [
      ['g1', 'Mira', 'The roses need water.'],
      ['g2', 'Tom', 'I will move the hose.'],
    ])
    const answer = await ask('Where is the kiln?', { limit: 100 })
    expect(answer.messages[0].conversation).toBe('kiln')
    expect(new Set(answer.messages.map((m: MessageResult) => m.conversation)).size).toBeGreaterThan(0)
    const alone = await ask('Where is the kiln?', { limit: 100, conversations: ['kiln'] })
    const ofKiln = answer.messages.filter((m: MessageResult) => m.conversation === 'kiln')
    expect(idsOf({ messages: ofKiln })).toEqual(idsOf(alone))
  })

  it('answers questions in Spanish over messages in Spanish', async () => {
    await say('casa', [
      ['q', 'Tomás', '¿Encontraste sitio para el horno?'],
      ['a', 'Mira', 'Sí, lo movimos al granero el fin de semana pasado.'],
      ['b', 'Tomás', 'Compré dos sacos de arena.'],
    ])
    expect(idsOf(await ask('¿Cuándo movió Mira el horno?'))[0]).toBe('casa/a')
  })

  it('finds the only message of a conversation by its meaning', async () => {
    const embedder = await openLocalEmbedder({ folder: await modelFolder() })
    await using own = await openTestEngine({ embedder })
    const facts = [
      ['a', 'Dentist on Tuesday at three.'],
      ['b', 'The staging server runs in Frankfurt.'],
    ] as const
    for (const [conversation, text] of facts) {
      await call(own, 'remember', { text, conversation, id: 'm', wait: true })
      const { verdict, messages } = await call(own, 'recall', { text: MEANT[conversation], limit: 1 })
      expect(verdict).not.toBe('nothing_relevant')
      expect(messages[0]?.id).toBe(`${conversation}/m`)
    }
    const foreign = await call(own, 'recall', { text: 'zorblax marmalade', conversations: ['a'] })
    expect(foreign).toMatchObject({ verdict: 'nothing_relevant', messages: [] })
    expect(foreign.reason).toContain('Nothing on this subject is known here')
  })

  it('says so where nothing speaks for any message', async () => {
    await say('kiln', KILN)
    expect(await ask('zeppelin', { mode: 'words' })).toMatchObject({
      ...{ messages: [], verdict: 'nothing_relevant', reason: 'None of the words of the query occur.' },
    })
    expect(await ask('kiln', { conversations: ['nowhere'] })).toMatchObject({
      ...{ messages: [], reason: 'No message matches the conditions of the query.' },
    })
  })

  it('is how the default lens asks where conditions leave messages alone, and nowhere else', async () => {
    await say('kiln', KILN)
    await call(engine, 'put', { entries: [{ id: 'note', content: 'The kiln is no message.' }] })
    // biome-ignore lint/suspicious/noExplicitAny: pages are read in expectations only
    const page = async (input: object): Promise<any> =>
      (await call(engine, 'query', { text: 'When did Mira move the kiln?', touch: false, ...input })).items
    const bare = (items: readonly { id: string; score: number }[]) => items.map(({ id, score }) => [id, score])
    for (const filter of [
      { kinds: ['message'] },
      { fields: { 'conversations.conversation': 'kiln' } },
      { fields: { 'conversations.speaker': ['Mira'] } },
    ]) {
      expect(bare(await page({ filter }))).toEqual(bare(await page({ filter, lens: 'conversations' })))
    }
    const all = await page({ any: true })
    expect(all.map(({ id }: { id: string }) => id)).toContain('note')
    expect(all[0].components).not.toHaveProperty('neighbours')
    for (const kinds of [['message', 'note'], ['note']]) {
      for (const { components } of await page({ filter: { kinds } })) expect(components).not.toHaveProperty('block')
    }
    const similar = await call(engine, 'similar', { id: 'kiln/m3' })
    expect(similar.items.map(({ id }: { id: string }) => id)).not.toContain('kiln/m3')
  })

  it('finds in the lens what query asks, conditions in the text included, and lists without a question', async () => {
    await say('kiln', KILN)
    await call(engine, 'put', { entries: [{ id: 'note', content: 'The kiln is no message.' }] })
    const page = await call(engine, 'query', { text: 'kiln conversations.speaker:Tom', lens: 'conversations' })
    expect(page.items[0]).toMatchObject({ id: 'kiln/m2', kind: 'message' })
    expect(page.items.map(({ id }: { id: string }) => id)).not.toContain('note')
    const list = await call(engine, 'query', { text: 'conversations.speaker:Tom', lens: 'conversations' })
    expect(list.mode).toBe('list')
    const why = await call(engine, 'explain', { query: { text: 'kiln', lens: 'conversations' }, id: 'kiln/m2' })
    expect(recompute(why.explanation)).toBe(why.score)
  })
})

describe('what changes behind a page', () => {
  type TestEngine = Awaited<ReturnType<typeof openTestEngine>>

  const BEN = { id: 'ben' }
  const BEN_CALLS = { viewer: BEN, signal: new AbortController().signal }
  const SAID = ['The kiln is in the barn.', 'Its door is new.', 'The kiln is hot.']

  let engine: TestEngine

  beforeEach(async () => {
    engine = await openTestEngine()
    for (const [at, text] of SAID.entries()) {
      await call(engine, 'remember', { text, conversation: 'kiln', id: `m${at}`, visibility: 'public' }, 'ana')
    }
    return () => engine.close()
  })

  /** What Ben receives by name, while so much changes behind the page. */
  async function reported(change: (engine: Engine) => Promise<unknown>): Promise<string> {
    const host = engine.host('conversations')
    const later: typeof host = {
      ...host,
      query: async (input, viewer) => {
        const answer = await host.query(input, viewer)
        await change(engine)
        return answer
      },
    }
    return JSON.stringify(await askConversations(later, { text: 'kiln', neighbours: 1, touch: false }, BEN_CALLS))
  }

  async function hide(of: Engine, ids: readonly string[]): Promise<void> {
    const entries = []
    for (const id of ids) {
      const { collection, kind, content } = await call(of, 'get', { id }, 'ana')
      entries.push({ id, collection, kind, content, visibility: 'private' })
    }
    await call(of, 'put', { entries }, 'ana')
  }

  it.each<[string, (of: Engine) => Promise<unknown>, readonly string[]]>([
    ['what stays is shown with its neighbours', async () => {}, []],
    ['what is deleted is left out', of => call(of, 'delete', { ids: ['kiln/m0'] }, 'ana'), ['kiln/m0']],
    [
      'what is hidden is left out, and what was hidden with it',
      of => hide(of, ['kiln/m0', 'kiln/m1']),
      ['kiln/m0', 'kiln/m1', ...SAID.slice(0, 2)],
    ],
  ])('%s', async (_, change, gone) => {
    const left = await reported(change)
    for (const text of gone) expect(left).not.toContain(text)
    for (const text of ['kiln/m2', ...(gone.length === 0 ? SAID : [])]) expect(left).toContain(text)
  })

  it('what is no message any more has no neighbours', async () => {
    const entry = { id: 'kiln/m2', kind: 'note', content: 'The kiln is hot.', visibility: 'public' }
    const { messages } = JSON.parse(await reported(of => call(of, 'put', { entries: [entry] }, 'ana')))
    for (const { id, neighbours } of messages) expect(neighbours.length).toBe(id === 'kiln/m2' ? 0 : 1)
  })
})

describe('later pages, whatever was asked and said meanwhile,', () => {
  const WORDS = ['kiln', 'barn', 'clay', 'sand', 'door']
  const OTHERS = ['sand at the door', 'barn', 'where is the clay kiln', 'nothing of it']

  it.each([true, false])('are those of one long page (approximate: %s)', async approximate => {
    await using engine = await openTestEngine({ embedder: openToyEmbedder() })
    for (let at = 0; at < 40; at++) {
      const text = [1, 2, 3].map(step => WORDS[(at * step) % WORDS.length]).join(' ')
      await call(engine, 'remember', { text: `${text} ${at}`, conversation: `c${at % 3}`, id: `m${at}` })
    }
    await engine.embedded()
    const asked = { text: 'clay in the kiln', explain: true, touch: false, approximate }
    const ask = (more: object) => call(engine, 'conversations.query', { ...asked, ...more })
    const found = ({ messages }: { readonly messages: readonly MessageResult[] }) =>
      messages.map(({ id, score, why, explanation }) => ({ id, score, why, explanation }))
    const whole = found(await ask({ limit: 40 }))
    expect(whole.length).toBeGreaterThan(20)
    const paged: unknown[] = []
    let cursor: string | undefined
    for (let page = 0; cursor !== null; page++) {
      const answer = await ask({ limit: 3, cursor })
      paged.push(...found(answer))
      cursor = answer.cursor
      await call(engine, 'conversations.query', { text: OTHERS[page % OTHERS.length], touch: false })
      await call(engine, 'remember', { text: 'The clay kiln.', conversation: 'c1', id: `late${page}` })
    }
    expect(paged).toEqual(whole)
  })
})
