/** QE-019: long contents are cut in pauses for others before their transaction, which writes all or nothing. */
import { writeFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { chunkContent } from '../../../src/text/chunk.ts'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

const SECTIONS = 300
const long = Array.from(
  { length: SECTIONS },
  (_, at) => `## Section ${at}\n\n${`Rain falls on field ${at}. `.repeat(40)}\n\n- one\n- two\n`,
).join('\n')

it('QE-019: a long entry is cut in a turn for every 64 Ki characters, and its chunks are those of one piece', async () => {
  await using engine = await openTestEngine()
  const { turns } = await turnsOf(() => engine.put({ entries: [{ id: 'long', content: long }] }))
  expect(turns).toBeGreaterThanOrEqual(Math.floor(long.length / (1 << 16)))
  const { store } = engine.host('default')
  const [key] = store.scanEntries(0, 1)
  const spans = store.chunksOf(key as number).map(({ start, end, headings }) => ({ start, end, headings }))
  const expected = chunkContent(long, { format: 'markdown' }).map(({ start, end, headings }) => ({
    start,
    end,
    headings,
  }))
  expect(spans).toEqual(expected)
})

it('QE-019: of a request with a long entry nothing is there at its pauses, and nothing at all when its caller goes', async () => {
  await using engine = await openTestEngine()
  const entries = [
    { id: 'first', content: 'short' },
    { id: 'long', content: long },
  ]
  const seen: number[] = []
  await turnsOf(
    () => engine.put({ entries }),
    async () => seen.push((await engine.list({})).total),
  )
  expect(new Set(seen.slice(0, 3))).toEqual(new Set([0]))
  expect((await engine.list({})).total).toBe(2)

  const going = new AbortController()
  const gone = turnsOf(
    () => engine.put({ entries: [{ id: 'other', content: `${long} more` }] }, { signal: going.signal }),
    turn => turn === 2 && going.abort(),
  )
  await expect(gone).rejects.toMatchObject({ code: 'cancelled' })
  expect((await engine.list({})).total).toBe(2)
})

it('QE-019: an entry is replaced by a long one in many turns of its transaction, and until the last the old one answers', async () => {
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path })
  await engine.put({ entries: [{ id: 'long', content: long }] })
  const other = long.replaceAll('Rain', 'Snow')
  const seen: string[] = []
  const look = async () => {
    seen.push((await engine.get({ id: 'long', touch: false })).content)
    await engine.get({ id: 'long' })
  }
  const { turns } = await turnsOf(() => engine.put({ entries: [{ id: 'long', content: other }] }), look)
  const chunks = engine.host('default').store.chunksOf(1).length
  const cutting = Math.floor(other.length / (1 << 16))
  // Of the old chunks, which go, and of the new ones.
  expect(turns).toBeGreaterThan(cutting + (2 * chunks) / 512)
  expect(new Set(seen.slice(0, -1))).toEqual(new Set([long]))
  const found = await engine.query({ text: 'snow', mode: 'words' })
  expect(found.items.map(({ id }) => id)).toEqual(['long'])
})

it('QE-019: concepts and links are made in a step for each, all or none', async () => {
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path })
  const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  const call = async (name: string, input: unknown) => {
    const { result } = (await callOperation(makeCatalog(engine), engine, name, input, context)) as never
    return result as { readonly total: number; readonly concepts: readonly { readonly id: number }[] }
  }
  await call('context.mind_init', {})
  const concepts = Array.from({ length: 60 }, (_, at) => ({ name: `c${at}`, type: 'Idea' }))
  const made = await turnsOf(() => call('context.mind_concepts_create_many', { concepts }))
  expect(made.turns).toBeGreaterThanOrEqual(concepts.length)
  const [first, ...others] = made.result.concepts.map(({ id }) => id)
  const edges = others.map(target => ({ source: first, target, relation: 'R' }))
  const linked = await turnsOf(() => call('context.mind_edges_create_many', { edges }))
  expect(linked.turns).toBeGreaterThanOrEqual(edges.length)
  const wrong = [...edges, { source: first, target: 99_999, relation: 'R' }]
  expect(await call('context.mind_edges_create_many', { edges: wrong })).toBeNull()
  expect((await call('context.mind_edges_list', {})).total).toBe(edges.length)
})

it('QE-019: many short entries are put, added and deleted in a step for each, and none of them is seen before the last', async () => {
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.file('home') })
  const { store } = engine.host('default')
  const counts = new Set<number>()
  const count = () => counts.add(store.scanEntries(0, 10_000).length)
  const entries = Array.from({ length: 300 }, (_, at) => ({ id: `e${at}`, content: `rain ${at}` }))
  const put = await turnsOf(() => engine.put({ entries }), count)
  expect(put.turns).toBeGreaterThanOrEqual(entries.length)
  expect([0, 300]).toEqual(expect.arrayContaining([...counts]))

  const file = folder.file('short.jsonl')
  writeFileSync(file, entries.map(({ id }) => JSON.stringify({ id: `f${id}`, content: 'snow' })).join('\n'))
  const added = await turnsOf(() => engine.add({ paths: [file] }), count)
  expect(added.result.added).toBe(300)
  expect(added.turns).toBeGreaterThanOrEqual(entries.length)
  expect([0, 300, 600]).toEqual(expect.arrayContaining([...counts]))

  const deleted = await turnsOf(() => engine.delete({ ids: entries.map(({ id }) => id) }), count)
  expect(deleted.turns).toBeGreaterThanOrEqual(2 * entries.length)
  expect(store.scanEntries(0, 10_000)).toHaveLength(300)
  expect([0, 300, 600]).toEqual(expect.arrayContaining([...counts]))

  const ids = ['fe0', 'fe1', 'missing', ...Array.from({ length: 30 }, (_, at) => `fe${at + 2}`)]
  await expect(engine.delete({ ids })).rejects.toMatchObject({ code: 'not_found' })
  expect(store.scanEntries(0, 10_000)).toHaveLength(300)
})
