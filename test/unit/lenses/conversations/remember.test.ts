/** `remember`: one message or note behind the last one of its conversation. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { call, KILN, writeLines } from '../../../support/conversations.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../../support/temp-folder.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'

let engine: Engine
let clock: SettableClock
let folder: TempFolder
beforeEach(async () => {
  folder = tempFolder()
  clock = new SettableClock(TEST_NOW)
  engine = await openTestEngine({ clock })
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

const remember = (input: unknown, viewer?: string) => call(engine, 'remember', input, viewer)

describe('remember', () => {
  it('puts a note into the conversation notes, and the next question finds it', async () => {
    const answer = await remember({ text: 'Tea goes into the blue tin.', id: 'tea' })
    expect(answer).toEqual({
      ...{ id: 'notes/tea', conversation: 'notes', session: 'tea', position: 0 },
      ...{ at: '2026-03-01T12:00:00.000Z', created: true },
    })
    expect(idsOf(await engine.query({ text: 'blue tin' }))).toEqual(['notes/tea'])
  })

  it('continues at the end of the conversation, and begins a session after six hours', async () => {
    await remember({ text: 'One.', id: 'a', conversation: 'day' })
    clock.set(TEST_NOW + 6 * 3_600_000)
    expect(await remember({ text: 'Two.', id: 'b', conversation: 'day' })).toMatchObject({ session: 'a', position: 1 })
    clock.set(TEST_NOW + 12 * 3_600_000 + 1)
    expect(await remember({ text: 'Three.', id: 'c', conversation: 'day' })).toMatchObject({
      session: 'c',
      position: 2,
    })
    await engine.delete({ ids: ['day/c'] })
    expect(await remember({ text: 'Four.', id: 'd', conversation: 'day' })).toMatchObject({ position: 2 })
  })

  it('takes an answer with the question before it, and dates from when it was said', async () => {
    const at = '2025-03-14T10:00:00Z'
    await remember({ text: 'Where is the kiln?', speaker: 'Tom', conversation: 'c', at, id: 'q' })
    await remember({ text: 'In the barn since yesterday.', speaker: 'Mira', conversation: 'c', at, id: 'a' })
    expect(idsOf(await engine.query({ text: 'kiln' }))).toEqual(['c/a', 'c/q'])
    expect(idsOf(await engine.query({ text: '"13 March 2025"' }))).toEqual(['c/a'])
  })

  it('goes on after an export, and the same export later leaves it where it is', async () => {
    const path = writeLines(folder.path, KILN)
    await engine.add({ paths: [path], chat: {} })
    expect(await remember({ text: 'Fine sand.', conversation: 'kiln', id: 'x' })).toMatchObject({ position: 4 })
    expect(await engine.add({ paths: [path], chat: {} })).toMatchObject({ unchanged: 4, updated: 0 })
  })

  it('with the id of an own message gives it the new text in its place', async () => {
    await remember({ text: 'The tin is blue.', id: 'tin', speaker: 'Mira' })
    await remember({ text: 'Something else.' })
    clock.set(TEST_NOW + 1_000)
    const again = await remember({ text: 'The tin is green.', id: 'tin' })
    expect(again).toMatchObject({ position: 0, created: false, at: '2026-03-01T12:00:00.000Z' })
    expect(await engine.get({ id: 'notes/tin' })).toMatchObject({
      content: 'The tin is green.',
      title: 'Mira, 1 March 2026',
    })
  })

  it('with the id of a message of an export changes its text and nothing else of it', async () => {
    const at = '2025-06-01T00:30:00+02:00'
    const path = writeLines(folder.path, [
      { conversation: 'trip', id: 'q', speaker: 'Ana', at, text: 'Which train?', title: 'Lugo' },
      ...[
        { conversation: 'trip', id: 'a', speaker: 'Ben', at, text: 'At eight.', reply_to: 'q', attachments: ['m.png'] },
      ].map(each => ({ ...each, edited: true })),
    ])
    await engine.add({ paths: [path], chat: {}, collection: 'trips', tags: ['lugo'] })
    await remember({ text: 'At nine tomorrow.', conversation: 'trip', id: 'a' })
    expect(await engine.get({ id: 'trip/a' })).toMatchObject({
      ...{ content: 'At nine tomorrow. [file m.png]', title: 'Ben, 1 June 2025', collection: 'trips', tags: ['lugo'] },
      metadata: {
        conversation_title: 'Lugo',
        attachments: [{ kind: 'file', name: 'm.png', caption: null }],
        edited: true,
      },
    })
    expect(await call(engine, 'recall', { text: 'nine' })).toMatchObject({
      messages: [{ id: 'trip/a', reply_to: 'trip/q', dates: ['2 June 2025'] }, {}],
    })
  })

  it('takes a name as exports do, without marks of direction, and finds it however its accents are written', async () => {
    await remember({ text: 'The parrot is green.', speaker: '\u200fמרים\u202c ' })
    await remember({ text: 'The parrot is green.', speaker: 'Luci\u0301a' })
    for (const name of ['מרים', 'Luci\u0301a', 'Luc\u00eda']) {
      const { messages } = await call(engine, 'recall', { text: 'parrot', speakers: [name] })
      expect(messages).toMatchObject([{ speaker: name.normalize('NFC') }])
    }
  })

  it('a question that becomes private takes its words out of what its public answer is found by', async () => {
    await remember({ text: 'Where is the xylograph?', id: 'q', visibility: 'public' })
    await remember({ text: 'In the barn.', id: 'a', visibility: 'public' })
    await remember({ text: 'Where is the xylograph?', id: 'q', visibility: 'private' })
    expect(idsOf(await engine.query({ text: 'xylograph' }, { viewer: { id: 'ana' } }))).toEqual([])
  })

  it('keeps who may see a message that gets another text, in its place, unless that is said', async () => {
    const audienceOf = async () => (await engine.get({ id: 'notes/a' })).audience
    await remember({ text: 'Where is the wheel?', id: 'q', visibility: 'public' })
    await remember({ text: 'In the barn.', id: 'a', visibility: 'public' })
    expect(await remember({ text: 'In the yard.', id: 'a' })).toMatchObject({ position: 1, session: 'q' })
    expect(await audienceOf()).toEqual({ kind: 'public' })
    await remember({ text: 'In the yard.', id: 'a', visibility: 'shared', federations: ['guild', 'club'] })
    await remember({ text: 'In the loft.', id: 'a' })
    await remember({ text: 'In the mill.', id: 'a', visibility: 'shared' })
    expect(await audienceOf()).toEqual({ kind: 'shared', federations: ['club', 'guild'] })
    await remember({ text: 'In the mill.', id: 'a', visibility: 'shared', federations: ['club'] })
    expect(await audienceOf()).toEqual({ kind: 'shared', federations: ['club'] })
    await remember({ text: 'In the mill.', id: 'a', visibility: 'private' })
    expect(await audienceOf()).toEqual({ kind: 'private' })
  })

  it('a new message is private, whatever another of that id is for', async () => {
    await remember({ text: 'Where is the wheel?', id: 'q', visibility: 'public' }, 'ana')
    await remember({ text: 'Where is the anvil?', id: 'q' }, 'ben')
    expect((await engine.get({ id: 'notes/q' }, { viewer: { id: 'ben' } })).audience).toEqual({ kind: 'private' })
  })

  it('deleting a question, or giving it another text, takes its words out of what its answer is found by', async () => {
    await remember({ text: 'Where is the xylograph?', id: 'q' })
    await remember({ text: 'In the barn.', id: 'a' })
    expect(idsOf(await engine.query({ text: 'xylograph' }))).toEqual(['notes/a', 'notes/q'])
    await remember({ text: 'Where is the wheel?', id: 'q' })
    expect(idsOf(await engine.query({ text: 'xylograph' }))).toEqual([])
    expect(idsOf(await engine.query({ text: 'wheel' }))).toEqual(['notes/a', 'notes/q'])
    await engine.put({ entries: [{ id: 'notes/q', content: 'Where is the anvil?' }] })
    expect(idsOf(await engine.query({ text: 'wheel' }))).toEqual([])
    await engine.delete({ ids: ['notes/q'] })
    expect(idsOf(await engine.query({ text: 'anvil' }))).toEqual([])
    expect(idsOf(await engine.query({ text: 'barn' }))).toEqual(['notes/a'])
  })

  it.each([
    { what: 'a short text', filler: '' },
    { what: 'a text that is cut into chunks before the transaction', filler: ' hay'.repeat(20_000) },
  ])(
    'an engine that has not loaded the lens takes a question out of its answer, too, when it writes $what',
    async ({ filler }) => {
      const home = folder.file('home')
      await using first = await openTestEngine({ home })
      await call(first, 'remember', { text: 'Where is the xylograph?', id: 'q' })
      await call(first, 'remember', { text: 'In the barn.', id: 'a' })
      await using other = await openTestEngine({ home, onlyLenses: [] })
      expect(idsOf(await other.query({ text: 'xylograph' })).toSorted()).toEqual(['notes/a', 'notes/q'])
      const entries = [{ content: 'A note.' }, { id: 'notes/q', content: `Where is the anvil?${filler}` }]
      expect(await other.put({ entries })).toMatchObject({ created: 1, updated: 1 })
      expect(idsOf(await other.query({ text: 'xylograph' }))).toEqual([])
      expect(await other.delete({ ids: ['notes/q'] })).toEqual({ deleted: 1 })
      expect(idsOf(await other.query({ text: 'anvil' }))).toEqual([])
      expect(idsOf(await other.query({ text: 'barn' }))).toEqual(['notes/a'])
    },
  )

  it('keeps the notes of agents apart: places and ids of one say nothing to another', async () => {
    await remember({ text: 'What is the code?', id: 'n' }, 'ana')
    const answer = await remember({ text: 'Forty-two.', id: 'n' }, 'ben')
    expect(answer).toMatchObject({ position: 0, created: true })
    expect(idsOf(await engine.query({ text: 'code' }, { viewer: { id: 'ben' } }))).toEqual([])
  })

  it('does not take a private question into a public answer', async () => {
    await remember({ text: 'What is the secret word?', id: 'q' })
    expect(await remember({ text: 'Xylographer.', id: 'a', visibility: 'public' })).toMatchObject({ position: 0 })
    expect(idsOf(await engine.query({ text: 'secret' }, { viewer: { id: 'ana' } }))).toEqual([])
  })

  it('an export that edits a question takes its old words out of what was remembered as its answer', async () => {
    const lines = (text: string) =>
      writeLines(folder.path, [{ conversation: 'c', id: 'q', speaker: 'Ana', at: '2025-06-01T09:00:00Z', text }])
    await engine.add({ paths: [lines('Where is the xylograph?')], chat: {} })
    await remember({ text: 'In the barn.', conversation: 'c', id: 'a', at: '2025-06-01T09:01:00Z' })
    expect(idsOf(await engine.query({ text: 'xylograph' }))).toEqual(['c/a', 'c/q'])
    expect(await engine.add({ paths: [lines('Where is the anvil?')], chat: {} })).toMatchObject({ updated: 1 })
    expect(idsOf(await engine.query({ text: 'xylograph' }))).toEqual([])
    expect(idsOf(await engine.query({ text: 'anvil' }))).toEqual(['c/a', 'c/q'])
  })

  it.each([
    [{ text: '' }, 'text'],
    [{ text: ' \n\t' }, 'text'],
    [{ text: 'x', at: 'yesterday' }, 'at'],
    [{ text: 'x', role: 'king' }, 'role'],
    [{ text: 'x', federations: ['guild'] }, 'federations'],
    [{ text: 'x', mood: 'good' }, 'mood'],
  ])('refuses %o, naming the field', async (input, field) => {
    await expect(remember(input)).rejects.toMatchObject({ message: expect.stringContaining(field) })
  })

  it('waits for the vector where that is asked for, and not where it is not', async () => {
    await using own = await openTestEngine({ embedder: openToyEmbedder() })
    const byMeaning = async () => idsOf(await own.query({ text: 'Tea in the tin.', mode: 'meaning', any: true }))
    await call(own, 'remember', { text: 'Tea in the tin.', id: 'later' })
    expect(await byMeaning()).toEqual([])
    await call(own, 'remember', { text: 'Tea in the tin.', id: 'now', conversation: 'other', wait: true })
    expect(await byMeaning()).toEqual(['other/now'])
  })

  it('refuses an id that another entry has', async () => {
    await engine.put({ entries: [{ id: 'notes/n', content: 'not a message' }] })
    await expect(remember({ text: 'x', id: 'n' })).rejects.toMatchObject({ code: 'conflict' })
  })
})
