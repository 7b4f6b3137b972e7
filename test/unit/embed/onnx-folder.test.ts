import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openLocalEmbedder } from '../../../src/embed/local-embedder.ts'
import { QUANTILE_LEVELS, readModelFiles, readOnnxFolder } from '../../../src/embed/onnx-folder.ts'
import { modelFolder } from '../../support/model.ts'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true })
})

function copyModel(change: (manifest: Record<string, unknown>) => unknown = manifest => manifest): string {
  const folder = mkdtempSync(join(tmpdir(), 'querent-model-'))
  made.push(folder)
  cpSync(modelFolder(), folder, { recursive: true })
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(change({ ...manifest })))
  return folder
}

const FILES = {
  'model.onnx': 'd75ca12275caa9fddd8a935caea8012c89aa6bb09fdba6eea26711951db68b94',
  'tokenizer.json': 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  'tokenizer_config.json': '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
}
const manifest = { id: 'mini', dimensions: 384, maxTokens: 256, pooling: 'mean', files: FILES }

describe('readOnnxFolder', () => {
  it('reads the manifest of the default model', async () => {
    const { model, pooling, prefixes } = await readOnnxFolder(modelFolder())
    expect(model).toEqual({
      id: 'all-MiniLM-L6-v2-int8',
      // Vectors in stores are kept under this: it stays as long as the same text has the same vector.
      hash: expect.stringMatching(/^291d0f4e3028[0-9a-f]{52}$/),
      dimensions: 384,
      maxTokens: 256,
      languages: ['en'],
      calibration: {
        ...{ wordShare: 0.25, heldShare: 0.1, askedShare: 0.01 },
        ...{ refused: { base: 0.19, slope: 0.05 }, answered: { base: 0.325, slope: 0.1 } },
      },
      cosineScale: 1,
      languagePairs: null,
    })
    expect(pooling).toBe('mean')
    expect(prefixes).toEqual({ query: '', passage: '' })
  })

  it('needs few fields: the rest means many languages, no calibration, no prefixes', async () => {
    const { model, prefixes } = await readOnnxFolder(copyModel())
    expect(model).toMatchObject({ languages: [], calibration: null, cosineScale: 1 })
    expect(prefixes).toEqual({ query: '', passage: '' })
  })

  it('reads what a model of many languages measured by pairs of languages', async () => {
    const bars = { wordShare: 0.1, refused: { base: 0.1, slope: 0 }, answered: { base: 0.2, slope: 0 } }
    const levels = QUANTILE_LEVELS.map((_, at) => at / 10)
    const languagePairs = { across: bars, pairs: { 'es-en': bars }, unrelated: { same: levels, across: levels } }
    const { model } = await readOnnxFolder(copyModel(m => ({ ...m, languagePairs, license: 'Apache-2.0' })))
    expect(model.languagePairs).toEqual(languagePairs)
    for (const wrong of [{ pairs: { spanish: bars } }, { unrelated: { same: [0.1], across: levels } }]) {
      const reading = readOnnxFolder(copyModel(m => ({ ...m, languagePairs: { ...languagePairs, ...wrong } })))
      await expect(reading).rejects.toThrow(/languagePairs/)
    }
  })

  it('gives another hash when anything changes that decides a vector, and only then', async () => {
    const hash = async (change: object) => (await readOnnxFolder(copyModel(m => ({ ...m, ...change })))).model.hash
    const original = await hash({})
    expect(await hash({ id: 'other', languages: ['de'], cosineScale: 0.8, source: 'elsewhere' })).toBe(original)
    const changes = [
      { pooling: 'cls' },
      { maxTokens: 128 },
      { prefixes: { query: 'query: ', passage: '' } },
      { files: { ...FILES, 'model.onnx': '0'.repeat(64) } },
      { files: { ...FILES, 'tokenizer.json': '0'.repeat(64) } },
    ]
    const hashes = await Promise.all(changes.map(hash))
    expect(new Set([original, ...hashes]).size).toBe(changes.length + 1)
  })

  it('keeps the hash of an earlier form whose vectors were the same', async () => {
    const hash = async (change: object) => (await readOnnxFolder(copyModel(m => ({ ...m, ...change })))).model.hash
    const files = { ...FILES, 'model.onnx': '0'.repeat(64) }
    const sameVectorsAs = { 'model.onnx': FILES['model.onnx'] }
    expect(await hash({ files, sameVectorsAs })).toBe(await hash({}))
  })

  it.each([
    ['no folder', () => join(tmpdir(), 'querent-nowhere'), 'no such file'],
    ['another format', () => copyModel(() => ({ dimensions: 384 })), 'id: missing; expected a value of type string'],
    ['a wrong field', () => copyModel(m => ({ ...m, pooling: 'max' })), 'pooling: expected one of mean, cls'],
    ['an unknown field', () => copyModel(m => ({ ...m, poling: 'cls' })), 'poling: there is no such field'],
    ['a hash of another form', () => copyModel(m => ({ ...m, files: { ...FILES, 'model.onnx': 'x' } })), 'SHA-256'],
  ])('rejects %s as model_invalid and names the place', async (_, folder, part) => {
    const error = await readOnnxFolder(folder()).catch(error => error)
    expect(error).toMatchObject({ code: 'model_invalid', details: { file: 'manifest.json' } })
    expect(error.message).toContain(part)
  })
})

describe('readModelFiles', () => {
  it('names the file, the expected and the found hash of a changed file', async () => {
    const folder = copyModel()
    truncateSync(join(folder, 'model.onnx'), 1000)
    const error = await readModelFiles(await readOnnxFolder(folder)).catch(error => error)
    expect(error).toMatchObject({
      code: 'model_invalid',
      details: { file: 'model.onnx', expected: `SHA-256 ${FILES['model.onnx']}` },
    })
    expect(error.details.found).toMatch(/^SHA-256 [0-9a-f]{64}$/)
    await expect(openLocalEmbedder({ folder })).rejects.toMatchObject({ code: 'model_invalid' })
  })

  it('names a missing file', async () => {
    const folder = copyModel()
    rmSync(join(folder, 'tokenizer.json'))
    await expect(openLocalEmbedder({ folder })).rejects.toMatchObject({
      code: 'model_invalid',
      details: { file: 'tokenizer.json' },
    })
  })

  it('is read again at each first use until it is right', async () => {
    const folder = copyModel()
    rmSync(join(folder, 'tokenizer.json'))
    const embedder = await openLocalEmbedder({ folder, start: 'first-use' })
    for (let i = 0; i < 5; i++) {
      await expect(embedder.embed(['text'], 'query')).rejects.toMatchObject({ code: 'model_invalid' })
    }
    cpSync(join(modelFolder(), 'tokenizer.json'), join(folder, 'tokenizer.json'))
    expect((await embedder.embed(['text'], 'query')).length).toBe(1)
    await embedder.close()
  })
})

describe('another model folder', () => {
  it('uses its pooling and its prefixes', async () => {
    const plain = await openLocalEmbedder({ folder: modelFolder() })
    const folder = copyModel(m => ({ ...m, prefixes: { query: 'query: ', passage: 'passage: ' } }))
    const prefixed = await openLocalEmbedder({ folder })
    const first = await openLocalEmbedder({ folder: copyModel(m => ({ ...m, pooling: 'cls' })) })
    expect(await prefixed.embed(['cats'], 'query')).toEqual(await plain.embed(['query: cats'], 'query'))
    expect(await prefixed.embed(['cats'], 'passage')).toEqual(await plain.embed(['passage: cats'], 'query'))
    expect(await first.embed(['cats'], 'query')).not.toEqual(await plain.embed(['cats'], 'query'))
    await Promise.all([plain, prefixed, first].map(embedder => embedder.close()))
  })

  it('fails as embedder_failed when the model has other dimensions than its manifest', async () => {
    const embedder = await openLocalEmbedder({ folder: copyModel(m => ({ ...m, dimensions: 768 })) })
    await expect(embedder.embed(['cats'], 'query')).rejects.toMatchObject({
      code: 'embedder_failed',
      message: expect.stringContaining('768 dimensions'),
    })
    await embedder.close()
  })
})
