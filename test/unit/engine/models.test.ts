/** A store whose model is changed: until the new one has embedded everything, the one before it answers. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkModel } from '../../../src/engine/check-model.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { noteCodes } from '../../support/engines.ts'
import { copyModel } from '../../support/model-copies.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

/** The models, and the home of a store that answers by the first one. */
const shared = tempFolder()
const first = copyModel(shared.file('first'), { id: 'first', languages: ['en'], prefix: 'one ' })
const second = copyModel(shared.file('second'), { id: 'second', languages: ['en'], prefix: 'two ' })
let folder: TempFolder
beforeAll(async () => {
  await using engine = await openEngine({ home: shared.file('home'), background: false })
  await engine.useModel({ folder: first, for: 'all', wait: true })
  const texts = ['The car needs winter tyres.', 'Tulips grow in the garden.', 'The moon rose over the river.']
  await engine.put({ entries: texts.map((content, at) => ({ id: `e${at}`, title: '', content })), wait: true })
})
afterAll(() => shared[Symbol.dispose]())
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => folder[Symbol.dispose]())

const open = (): Promise<Engine> => openEngine({ home: folder.file('home'), background: false })

/** The home becomes that of the first model. */
function changed(): void {
  cpSync(shared.file('home'), folder.file('home'), { recursive: true })
}

const vectorsOf = (): Record<string, number> => {
  const store = openSqliteStore({ file: folder.file('home/store.db'), readOnly: true })
  const ids = store.partitions().map(({ id }) => id)
  const { model } = JSON.parse(store.meta('model') ?? '{}')
  const count = store.countVectors(model, ids)
  store.close()
  return { [String(model).split('@')[0] as string]: count }
}

describe('a changed model', () => {
  it('answers when it has embedded everything, and not before; then the old vectors are gone', async () => {
    changed()
    expect(vectorsOf()).toEqual({ first: 3 })
    const settings = folder.file('home/config.json')
    writeFileSync(settings, JSON.stringify({ embedder: { provider: 'local', folder: second } }))
    await using engine = await open()
    const before = await engine.query({ text: 'vehicle maintenance in the cold season' })
    expect([before.items[0]?.id, before.coverage.embedded, noteCodes(before)]).toEqual(['e0', 1, []])
    const roles = async () => (await engine.models()).models.map(({ id, role, vectors }) => [id, role, vectors])
    expect(await roles()).toEqual([
      ['first', 'answers', 3],
      ['second', 'next', 0],
    ])
    await engine.embedded()
    expect(await roles()).toEqual([['second', 'answers', 3]])
    const after = await engine.query({ text: 'vehicle maintenance in the cold season' })
    expect([after.items[0]?.id, after.coverage.embedded]).toEqual(['e0', 1])
    expect(after.items[0]?.components['meaning']).not.toBe(before.items[0]?.components['meaning'])
    expect(vectorsOf()).toEqual({ second: 3 })
    expect((await engine.doctor()).findings.filter(({ ok }) => !ok)).toEqual([])
  })

  it('goes on where it was when the store is opened again', async () => {
    changed()
    const engine = await open()
    const used = await engine.useModel({ folder: second })
    expect(used).toEqual({ id: 'second', for: 'all', folder: second, restart: false })
    await engine.close()
    await using again = await open()
    expect((await again.query({ text: 'vehicle in winter' })).coverage.embedded).toBe(1)
    await again.embedded()
    expect((await again.models()).models).toMatchObject([{ id: 'second', role: 'answers', vectors: 3, chunks: 3 }])
  })

  it('is used at once in an engine that is open, and its index takes the place of the old one', async () => {
    changed()
    await using engine = await open()
    await engine.useModel({ folder: second, wait: true })
    expect((await engine.models()).models.map(({ id, role }) => [id, role])).toEqual([['second', 'answers']])
    const { indexes, embedder } = await engine.status()
    expect(embedder?.id).toBe('second')
    expect(indexes.filter(({ name }) => name.startsWith('vectors-')).map(({ name }) => name.slice(0, 14))).toEqual([
      'vectors-second',
    ])
    expect((await engine.query({ text: 'flowers' })).items[0]?.id).toBe('e1')
    expect(readdirSync(folder.file('home')).includes('config.json')).toBe(true)
  })

  it('by another process is not changed back: this one stops embedding, and answers by words', async () => {
    changed()
    await using one = await open()
    expect((await one.query({ text: 'vehicle in winter' })).coverage.embedded).toBe(1)
    await using other = await open()
    await other.useModel({ folder: second, wait: true })
    await one.embedded()
    expect(vectorsOf()).toEqual({ second: 3 })
    expect((await one.models()).models).toMatchObject([{ id: 'first', vectors: 0 }])
    expect((await one.query({ text: 'tulips' })).items[0]?.id).toBe('e1')
    expect((await other.query({ text: 'flowers' })).items[0]?.id).toBe('e1')
  })

  it('of several languages is used beside one for English', async () => {
    changed()
    const many = copyModel(folder.file('many'), { id: 'many', languages: ['en', 'es', 'de'], prefix: 'many ' })
    await using engine = await open()
    expect(await engine.useModel({ folder: many, wait: true })).toMatchObject({ for: 'other_languages' })
    expect(JSON.parse(readFileSync(folder.file('home/config.json'), 'utf8'))).toEqual({
      embedder: { provider: 'local', folder: first },
      multilingual: many,
    })
    expect((await engine.models()).models).toMatchObject([
      { id: 'first', role: 'answers', vectors: 3 },
      { id: 'many', role: 'other_languages', vectors: 3 },
    ])
    expect((await engine.doctor()).findings.filter(({ ok }) => !ok)).toEqual([])
  })
})

describe('a model that is not used', () => {
  it('is one whose folder is not what its manifest says', async () => {
    await using engine = await open()
    await expect(engine.useModel({ folder: folder.file('nowhere') })).rejects.toMatchObject({ code: 'model_invalid' })
    expect(existsSync(folder.file('home/config.json'))).toBe(false)
  })

  it('is one for other languages that is the English one', async () => {
    await using engine = await open()
    await expect(engine.useModel({ folder: 'built-in', for: 'other_languages' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('is any where the program names the model', async () => {
    await using engine = await openEngine({ home: folder.file('home'), background: false, embedder: 'none' })
    await expect(engine.useModel({ folder: first })).rejects.toMatchObject({ code: 'conflict' })
    expect((await engine.models()).models).toEqual([])
  })

  it('is any that somebody else than the owner names', async () => {
    await using engine = await open()
    const viewer = { id: 'ana', groups: [] }
    for (const call of [engine.models({ viewer }), engine.useModel({ folder: first }, { viewer })]) {
      await expect(call).rejects.toMatchObject({ code: 'denied' })
    }
  })
})

describe('a model that is tried', () => {
  it('tells its dimensions, size, speed, and whether its vectors make sense', async () => {
    expect(await checkModel(first)).toEqual({
      ...{ id: 'first', dimensions: 384, languages: ['en'], max_tokens: 256, calibrated: true, ok: true },
      message: expect.stringContaining('nearest'),
      bytes: expect.any(Number),
      texts_per_second: expect.any(Number),
    })
  })
})
