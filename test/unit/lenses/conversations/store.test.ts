/** What becomes of the messages of an export: entries that everything the engine has works on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { LAST, MESSAGES } from '../../../../src/lenses/conversations/tables.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { call, KILN, type Line, line, writeLines } from '../../../support/conversations.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../../support/temp-folder.ts'

let folder: TempFolder
let store: Store
let engine: Engine
let clock: SettableClock
beforeEach(async () => {
  folder = tempFolder()
  store = openMemoryStore()
  clock = new SettableClock(TEST_NOW)
  engine = await openTestEngine({ store, clock })
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

const add = (lines: readonly Line[], more = {}) =>
  engine.add({ paths: [writeLines(folder.path, lines)], chat: {}, ...more })

function keyOf(id: string): number {
  const everywhere = store.partitions().map(partition => partition.id)
  return store.find(id, everywhere)[0] as number
}

const rowOf = (id: string) => store.table(MESSAGES).get({ entry: keyOf(id) })

describe('a message', () => {
  it('is an entry: its content is what was said, its title who said it and when', async () => {
    expect(await add(KILN)).toMatchObject({ added: 4, updated: 0, unchanged: 0, deleted: 0, errors: [] })
    expect(await engine.get({ id: 'kiln/m3' })).toMatchObject({
      collection: 'conversations',
      kind: 'message',
      title: 'Mira, 14 March 2025',
      content: 'Yes, we moved it to the barn last weekend.',
      created_at: '2025-03-14T10:02:00.000Z',
      valid_from: '2025-03-14T10:02:00.000Z',
    })
    expect(rowOf('kiln/m3')).toMatchObject({
      ...{ conversation: 'kiln', session: 'm1', position: 2, speaker: 'Mira', role: null },
      ...{ at: Date.UTC(2025, 2, 14, 10, 2), reply_to: 'kiln/m2', profile: 'people' },
      dates: 'weekend of 8 March 2025',
    })
    expect(rowOf('kiln/m4')).toMatchObject({ session: 'm4', position: 3 })
  })

  it('is found by the question it answers and by the dates it speaks of, which are no part of it', async () => {
    await add(KILN)
    expect(idsOf(await engine.query({ text: 'kiln' }))).toEqual(['kiln/m3', 'kiln/m2'])
    expect(idsOf(await engine.query({ text: '"weekend of 8 March"' }))).toEqual(['kiln/m3'])
    expect(store.chunksOf(keyOf('kiln/m3'))).toMatchObject([
      { headings: ['Tom: Did you ever find a new place for the kiln?', '(weekend of 8 March 2025)'] },
    ])
  })

  it('does not take up what was said before it without asking, or in another session', async () => {
    const asks = line('m5', 'Tom', '2025-03-16T10:05:00Z', 'Is the sand dry?')
    const late = line('m6', 'Mira', '2025-03-17T10:05:00Z', 'Good morning.')
    await add([...KILN, asks, late])
    for (const id of ['kiln/m2', 'kiln/m5', 'kiln/m6']) {
      expect(store.chunksOf(keyOf(id)), id).toMatchObject([{ headings: [] }])
    }
  })

  it('of an assistant is indexed in pieces of about 120 words, without a date in front', async () => {
    const sentence = 'The glaze needs a slow fire and a long rest. '
    const answer = sentence.repeat(40)
    await add([
      line('q', '', '2025-03-14T10:00:00Z', 'How do I fire a glaze?', { role: 'user' }),
      line('a', '', '2025-03-14T10:01:00Z', answer, { role: 'assistant' }),
    ])
    const chunks = store.chunksOf(keyOf('kiln/a'))
    expect(chunks.length).toBe(4)
    expect(chunks.map(({ start, end }) => answer.trim().slice(start, end)).join('')).toBe(answer.trim())
    for (const { start, end, headings } of chunks) {
      expect(headings).toEqual([])
      expect(answer.slice(start, end).trim().split(/\s+/).length).toBeLessThanOrEqual(120)
      expect(answer.slice(start, end).trim()).toMatch(/\.$/)
    }
    expect(await engine.get({ id: 'kiln/a' })).toMatchObject({ title: 'assistant' })
  })

  it('keeps what came with it', async () => {
    await add([
      line('p', 'Mira', '2025-03-14T10:00:00Z', '', { attachments: [{ kind: 'image', caption: 'the barn' }] }),
    ])
    expect(await engine.get({ id: 'kiln/p' })).toMatchObject({
      content: '[photo: the barn]',
      metadata: { attachments: [{ kind: 'image', caption: 'the barn', name: null }] },
    })
    expect(idsOf(await engine.query({ text: 'barn' }))).toEqual(['kiln/p'])
  })
})

describe('the same export again', () => {
  it('writes nothing', async () => {
    await add(KILN)
    const version = store.lastSeq()
    clock.set(TEST_NOW + 60_000)
    expect(await add(KILN)).toMatchObject({ added: 0, updated: 0, unchanged: 4, chunks: 0 })
    expect(store.lastSeq()).toBe(version)
  })

  it('with more messages writes those alone', async () => {
    await add(KILN)
    const more = line('m5', 'Mira', '2025-03-16T10:01:00Z', 'Coarse or fine?')
    expect(await add([...KILN, more])).toMatchObject({ added: 1, updated: 0, unchanged: 4 })
    expect(rowOf('kiln/m5')).toMatchObject({ position: 4, session: 'm4' })
  })

  it('follows what was edited, with the message that answers it', async () => {
    await add(KILN)
    const edited = KILN.map(each =>
      each['id'] === 'm2' ? { ...each, text: 'Did you find a place for the wheel?', edited: '2025-03-15' } : each,
    )
    expect(await add(edited)).toMatchObject({ updated: 2, unchanged: 2 })
    expect(idsOf(await engine.query({ text: 'kiln' }))).toEqual([])
    expect(idsOf(await engine.query({ text: 'wheel' }))).toEqual(['kiln/m3', 'kiln/m2'])
    expect(await engine.get({ id: 'kiln/m2' })).toMatchObject({
      updated_at: '2025-03-15T00:00:00.000Z',
      metadata: { edited: true },
    })
  })

  it('follows what was deleted', async () => {
    await add(KILN)
    const deleted = KILN.map(each => (each['id'] === 'm3' ? { ...each, text: '', deleted: true } : each))
    expect(await add(deleted)).toMatchObject({ deleted: 1, unchanged: 3 })
    expect(idsOf(await engine.query({ text: 'barn' }))).toEqual([])
    const again = await add([...deleted, line('m5', 'Tom', '2025-03-16T11:00:00Z', '', { deleted: true })])
    expect(again).toMatchObject({ deleted: 0, unchanged: 3 })
    // Each message is reported: those that were there before, or never came.
    expect(again.skipped).toEqual([{ path: expect.any(String), reason: 'deleted message', count: 2 }])
  })

  it('of its end alone leaves places, sessions and questions as they are', async () => {
    const more = line('m5', 'Mira', '2025-03-16T10:01:00Z', 'Coarse or fine?')
    await add(KILN)
    expect(await add([...KILN.slice(2), more])).toMatchObject({ added: 1, updated: 0, unchanged: 2 })
    expect(rowOf('kiln/m3')).toMatchObject({ position: 2, session: 'm1' })
    expect(rowOf('kiln/m5')).toMatchObject({ position: 4, session: 'm4' })
  })
})

describe('an export that goes on where something was remembered', () => {
  const later = [
    line('m5', 'Mira', '2025-03-16T10:01:00Z', 'Coarse or fine?'),
    line('m6', 'Tom', '2025-03-16T10:02:00Z', 'Fine.'),
  ]
  const note = { text: 'The glaze is dry.', conversation: 'kiln', speaker: 'Mira' }
  const remember = (input: unknown) => call(engine, 'remember', input)
  const positions = () =>
    store
      .table(MESSAGES)
      .scan({ conversation: 'kiln' })
      .map(row => Number(row['position']))
      .sort((a, b) => a - b)

  it('gives each message a place of its own, and the same ones when it comes again', async () => {
    await add(KILN)
    await remember(note)
    expect(await add([...KILN, ...later])).toMatchObject({ added: 2, updated: 0, unchanged: 4 })
    expect(positions()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect([rowOf('kiln/m5'), rowOf('kiln/m6')]).toMatchObject([{ position: 5 }, { position: 6 }])
    await remember({ ...note, text: 'And it shines.' })
    const end = line('m7', 'Mira', '2025-03-16T10:03:00Z', 'Good.')
    expect(await add([...KILN, ...later, end])).toMatchObject({ added: 1, updated: 0, unchanged: 6 })
    expect(rowOf('kiln/m7')).toMatchObject({ position: 8 })
    expect(await add([...later, end])).toMatchObject({ added: 0, updated: 0, unchanged: 3 })
    expect(positions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('puts what was left out before in its place, and moves what follows', async () => {
    await add([...KILN.slice(0, 1), ...KILN.slice(2)])
    await remember(note)
    expect(await add(KILN)).toMatchObject({ added: 1 })
    expect(positions()).toEqual([0, 1, 2, 3, 4])
    expect(KILN.map(({ id }) => rowOf(`kiln/${id}`)?.['position'])).toEqual([0, 1, 2, 4])
  })
})

describe('what else holds of messages', () => {
  it('agents see what they may: a private conversation of one is none of the other', async () => {
    await add(KILN)
    const viewer = { viewer: { id: 'ana' } }
    expect(idsOf(await engine.query({ text: 'kiln' }, viewer))).toEqual([])
    await add(KILN, { visibility: 'public' })
    expect(idsOf(await engine.query({ text: 'kiln' }, viewer))).toEqual(['kiln/m3', 'kiln/m2'])
  })

  it('questions set conditions on speaker, conversation and time', async () => {
    await add([...KILN, line('o1', 'Mira', '2025-03-20T10:00:00Z', 'The sand is wet.', { conversation: 'other' })])
    const asked = async (text: string) => [...idsOf(await engine.query({ text }))].sort()
    expect(await asked('conversations.speaker:Tom')).toEqual(['kiln/m2', 'kiln/m4'])
    expect(await asked('sand conversations.conversation:other')).toEqual(['other/o1'])
    expect(await asked('kind:message created:>=2025-03-16')).toEqual(['kiln/m4', 'other/o1'])
  })

  it('an export of the store brings them to another one whole', async () => {
    await add(KILN)
    await using other = await openTestEngine({ store: openMemoryStore() })
    await other.import(engine.export())
    expect(await linesOf(other)).toEqual(await linesOf(engine))
    const path = writeLines(folder.path, KILN)
    expect(await other.add({ paths: [path], chat: {} })).toMatchObject({ added: 0, unchanged: 4 })
  })

  it('deleting one takes all of it along', async () => {
    await add(KILN)
    await engine.delete({ ids: ['kiln/m4', 'kiln/m3', 'kiln/m2', 'kiln/m1'] })
    expect([store.table(MESSAGES).count(), store.table(LAST).count()]).toEqual([0, 0])
  })

  it('an id that another entry has is reported, and the other messages come in', async () => {
    await engine.put({ entries: [{ id: 'kiln/m2', content: 'mine' }] })
    const report = await add(KILN)
    expect(report).toMatchObject({ added: 3 })
    expect(report.errors).toMatchObject([{ message: expect.stringContaining('kiln/m2 belongs to another entry') }])
    expect(await engine.get({ id: 'kiln/m2' })).toMatchObject({ content: 'mine' })
  })

  it('what cannot be read is reported by line', async () => {
    const report = await add([KILN[0] as Line, line('x', 'Tom', 'never', 'Hm.'), line('y', 'Tom', '2025-03-14', '')])
    expect(report.added).toBe(2)
    expect(report.errors.map(({ message }) => message)).toEqual([
      'line 2: the field at is not a time; it was stored without one',
      'line 3: it has no text; name the field that has it with a map',
    ])
  })

  it.each([
    [{ kind: 'note' }, 'kind'],
    [{ lens: 'c64' }, 'lens'],
    [{ federations: ['guild'] }, 'federations'],
  ])('refuses %o beside chat', async (more, field) => {
    await expect(add(KILN, more)).rejects.toMatchObject({ code: 'invalid_argument', details: { field } })
  })
})

async function linesOf(of: Engine): Promise<readonly unknown[]> {
  const lines: unknown[] = []
  for await (const each of of.export()) lines.push(each)
  return lines
}
