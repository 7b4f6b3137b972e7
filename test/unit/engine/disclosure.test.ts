/** An answer discloses to its viewer no federations of others and no paths of another's machine. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import { failingEmbedder } from '../../support/embedders.ts'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const as = (id: string) => ({ viewer: { id } })

async function joins(engine: Engine, federation: string, agent: string, status = 'active'): Promise<void> {
  const row = { federation, agent, status, updated_at: 1 }
  await engine.import(ReadableStream.from([{ type: 'row', table: 'memberships', row }]))
}

it('an audience names the federations that it is read through', async () => {
  const engine = await openTestEngine()
  for (const federation of ['f1', 'secret-merger', 'old']) await joins(engine, federation, 'ann')
  await joins(engine, 'f1', 'bob')
  await joins(engine, 'old', 'bob', 'left')
  const federations = ['f1', 'old', 'secret-merger']
  await engine.put({ entries: [{ id: 'x', content: 'a fox', visibility: 'shared', federations }] }, as('ann'))
  const reported = async (id: string) => [
    (await engine.get({ id: 'x' }, as(id))).audience.federations,
    (await engine.list({}, as(id))).items[0]?.audience.federations,
  ]
  expect(await reported('bob')).toEqual([['f1'], ['f1']])
  expect(await reported('ann')).toEqual([federations, federations])
  expect(await reported('owner')).toEqual([federations, federations])
  await engine.close()
})

it('an origin on disk is shown whole to holder and owner; others get the path inside the folder added', async () => {
  using folder = tempFolder()
  mkdirSync(folder.file('docs/guide'), { recursive: true })
  writeFileSync(folder.file('docs/guide/fox.md'), 'a fox')
  const engine = await openTestEngine()
  await engine.add({ paths: [folder.file('docs')], visibility: 'public' })
  const put = (id: string, origin: string) =>
    engine.put({ entries: [{ id, origin, content: 'a fox', visibility: 'public' }] })
  await put('typed', '/home/me/fox.md')
  await put('web', 'https://example.org/fox')
  const origins = async (id: string) => {
    const { items } = await engine.list({ order: 'id' }, as(id))
    const found = await engine.query({ text: 'fox', touch: false }, as(id))
    const inAnswer = new Map(found.items.map(item => [item.id, item.origin]))
    expect(items.map(item => inAnswer.get(item.id))).toEqual(items.map(item => item.origin))
    for (const item of items) expect((await engine.get({ id: item.id }, as(id))).origin).toBe(item.origin)
    return items.map(item => item.origin)
  }
  expect(await origins('owner')).toEqual([
    expect.stringContaining('guide/fox.md'),
    '/home/me/fox.md',
    'https://example.org/fox',
  ])
  expect((await origins('owner'))[0]?.startsWith('file://')).toBe(true)
  expect(await origins('ann')).toEqual(['guide/fox.md', null, 'https://example.org/fox'])
  await engine.close()
})

it('the reason why there is no meaning is shown to the owner alone; it names files and addresses of the machine', async () => {
  const embedder = failingEmbedder(openToyEmbedder(), () => true)
  const engine = await openTestEngine({ embedder })
  await engine.put({ entries: [{ id: 'x', content: 'a fox', visibility: 'public' }] })
  const notes = async (id: string) => (await engine.query({ text: 'fox' }, as(id))).notes[0]?.message
  expect(await notes('owner')).toContain('worker')
  expect(await notes('ann')).toBe('Words only: there is no embedder at the moment.')
  await engine.close()
})

it('a page of similar ones has no cursor, since nothing takes it', async () => {
  const engine = await openTestEngine()
  await engine.put({ entries: ['x', 'y', 'z'].map(id => ({ id, content: 'a fox and a hen' })) })
  const page = await engine.similar({ id: 'x', limit: 1 })
  expect([page.items.length, page.cursor]).toEqual([1, null])
  await engine.close()
})
