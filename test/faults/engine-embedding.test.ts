/** Embedders that are broken, die or are interrupted: words answer and say so, nothing written is lost, and it goes on. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLocalEmbedder } from '../../src/embed/local-embedder.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { failingEmbedder, slowEmbedder } from '../support/embedders.ts'
import { idsOf, noteCodes, openTestEngine } from '../support/engines.ts'
import { querentHere } from '../support/in-process.ts'
import { modelFolder } from '../support/model.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder, TOY_KEY } from '../support/toy-embedder.ts'
import { Child } from './child.ts'

let folder: TempFolder
let home: string
beforeEach(() => {
  folder = tempFolder()
  home = folder.file('home')
})
afterEach(() => folder[Symbol.dispose]())

const ENTRIES = [
  { id: 'car', content: 'The automobile needs new tyres before winter.' },
  { id: 'cat', content: 'A kitten sleeps in the sun.' },
]

/** So many one-line notes. */
const notes = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `n${at}`, content: `note ${at} of a fox` }))

describe('a model folder', () => {
  it.each<[string, (model: string) => void, RegExp]>([
    ['with a wrong hash', flipBit('model.onnx'), /model\.onnx: expected SHA-256 \w+, found SHA-256 \w+/],
    ['with another tokenizer', flipBit('tokenizer.json'), /tokenizer\.json: expected SHA-256/],
    ['without its model', model => rmSync(`${model}/model.onnx`), /model\.onnx: expected .*no such file/],
    ['with a broken manifest', model => writeFileSync(`${model}/manifest.json`, '{'), /manifest\.json: expected JSON/],
    ['that is not there', model => rmSync(model, { recursive: true }), /manifest\.json: expected .*no such file/],
  ])('%s leaves words, says so, and doctor names the file', async (_, harm, message) => {
    const model = folder.file('model')
    cpSync(modelFolder(), model, { recursive: true })
    harm(model)
    const engine = await openTestEngine({ home, embedder: { provider: 'local', folder: model } })
    writeFileSync(folder.file('car.md'), ENTRIES[0]?.content ?? '')
    const added = await engine.add({ paths: [folder.file('car.md')] })
    expect(added).toMatchObject({ added: 1, errors: [] })
    const page = await engine.query({ text: 'automobile tyres' })
    expect(page.items).toHaveLength(1)
    expect(page.notes).toContainEqual({ code: 'words_only', message: expect.stringMatching(message) })
    const { ok, findings } = await engine.doctor()
    expect(ok).toBe(false)
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'embedder', ok: false, message: expect.stringMatching(message) }),
    )
    await engine.close()
  })

  it('with a wrong hash: adding says what waits and why, and catches up when the model is repaired', async () => {
    const model = folder.file('model')
    cpSync(modelFolder(), model, { recursive: true })
    const whole = readFileSync(`${model}/model.onnx`)
    flipBit('model.onnx')(model)
    const engine = await openTestEngine({ home, embedder: { provider: 'local', folder: model } })
    writeFileSync(folder.file('car.md'), ENTRIES[0]?.content ?? '')
    const added = await engine.add({ paths: [folder.file('car.md')] })
    expect(added).toMatchObject({ added: 1, pending: 1, embedding_error: expect.stringContaining('model.onnx') })
    expect(await engine.status()).toMatchObject({ chunks: 1, embedded: 0 })
    await expect(engine.embedded()).rejects.toMatchObject({ code: 'model_invalid' })
    writeFileSync(`${model}/model.onnx`, whole)
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 1, embedded: 1 })
    const page = await engine.query({ text: 'vehicle maintenance in the cold season' })
    expect([page.items.length, noteCodes(page)]).toEqual([1, []])
    await engine.close()
  })

  it('with a wrong hash is reported by the command, which still answers', async () => {
    const model = folder.file('model')
    cpSync(modelFolder(), model, { recursive: true })
    flipBit('model.onnx')(model)
    writeFileSync(folder.file('car.md'), ENTRIES[0]?.content ?? '')
    const env = { QUERENT_HOME: home, QUERENT_EMBEDDER: 'local', QUERENT_EMBEDDER_FOLDER: model }
    await querentHere(['init', '--home', home], { cwd: folder.path, env })
    const added = await querentHere(['add', 'car.md'], { cwd: folder.path, env })
    expect(added).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^1 added, [\s\S]*1 still without a vector \(.*SHA-256/),
    })
    const asked = await querentHere(['query', 'automobile tyres', '--json'], { cwd: folder.path, env })
    expect(asked.status).toBe(0)
    expect(JSON.parse(asked.stdout)).toMatchObject({ items: [{}], notes: [{ code: 'words_only' }] })
    const examined = await querentHere(['doctor'], { cwd: folder.path, env })
    expect(examined).toMatchObject({ status: 1, stdout: expect.stringContaining('model.onnx') })
  })
})

describe('an embedding worker that dies', () => {
  /** Workers that fail at once, so many times; real ones after. */
  async function mortal(deaths: number) {
    let left = deaths
    return openLocalEmbedder({
      folder: modelFolder(),
      start: 'first-use',
      startWorker: options =>
        left-- > 0
          ? new Worker('throw new Error("out of order")', { eval: true })
          : new Worker(new URL('../../src/embed/onnx-worker.ts', import.meta.url), options),
    })
  }

  it('under a question: words answer it, with a note; the next question has its meaning again', async () => {
    const writer = await openTestEngine({ home, embedder: await mortal(0) })
    await writer.put({ entries: ENTRIES, wait: true })
    await writer.close()
    const engine = await openTestEngine({ home, embedder: await mortal(1) })
    const text = 'vehicle maintenance in the cold season'
    const first = await engine.query({ text })
    expect(first.notes).toContainEqual({ code: 'words_only', message: expect.stringContaining('out of order') })
    expect(first.mode).toBe('words')
    const second = await engine.query({ text })
    expect([idsOf(second)[0], noteCodes(second), second.mode]).toEqual(['car', [], 'hybrid'])
    await engine.close()
  })

  it('under passages: the documents are kept and found by words, what waits is counted, and it goes on', async () => {
    const engine = await openTestEngine({ home, embedder: await mortal(1) })
    writeFileSync(folder.file('car.md'), ENTRIES[0]?.content ?? '')
    const added = await engine.add({ paths: [folder.file('car.md')] })
    expect(added).toMatchObject({ added: 1, pending: 1, embedding_error: expect.stringContaining('out of order') })
    expect((await engine.query({ text: 'tyres', mode: 'words' })).items).toHaveLength(1)
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 1, embedded: 1 })
    await engine.close()
  })
})

describe('an embedding worker that runs out of memory', () => {
  /** Loads as the real one, then takes memory until there is no more. */
  const GREEDY = `
    const { parentPort } = require('node:worker_threads')
    const kept = []
    parentPort.on('message', ({ type }) => {
      if (type === 'load') parentPort.postMessage({ type: 'ready', runtime: 'wasm' })
      while (type === 'embed') kept.push(new Array(10_000).fill(Math.random()))
    })`
  const REAL = new URL('../../src/embed/onnx-worker.ts', import.meta.url)

  /** Of the threads the first have too little memory, so many of them; the real one has enough. */
  async function starved(threads: number, code: string | URL, heapMb: number) {
    let left = threads
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 2 }
    return openLocalEmbedder({
      folder: modelFolder(),
      start: 'first-use',
      startWorker: options =>
        left-- > 0
          ? new Worker(code, { ...options, eval: typeof code === 'string', resourceLimits })
          : new Worker(REAL, options),
    })
  }

  it.each<[string, string | URL, number]>([
    // Less than its own code needs: within a call of the native runtime the end of a thread would end the whole process.
    ['while it loads', REAL, 4],
    ['over a text', GREEDY, 16],
  ])('%s: words answer and say why, nothing written is lost, and it goes on', async (_, code, heapMb) => {
    const engine = await openTestEngine({ home, embedder: await starved(2, code, heapMb) })
    const put = await engine.put({ entries: ENTRIES, wait: true })
    expect(put).toMatchObject({ created: 2, embedding_error: expect.stringContaining('memory limit') })
    const text = 'vehicle maintenance in the cold season'
    const hungry = await engine.query({ text: 'automobile tyres' })
    expect([idsOf(hungry), hungry.mode]).toEqual([['car'], 'words'])
    expect(hungry.notes).toContainEqual({ code: 'words_only', message: expect.stringContaining('memory limit') })
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 2, embedded: 2 })
    expect([idsOf(await engine.query({ text }))[0], (await engine.doctor()).ok]).toEqual(['car', true])
    await engine.close()
  })

  it('again and again is given up, and keeps nobody from asking by words nor from closing', async () => {
    const engine = await openTestEngine({ home, embedder: await starved(9, GREEDY, 16) })
    await engine.put({ entries: ENTRIES, wait: true })
    for (let asked = 0; asked < 4; asked++) await engine.query({ text: `tyres ${asked}` })
    const page = await engine.query({ text: 'automobile tyres' })
    expect(page.notes).toContainEqual({ code: 'words_only', message: expect.stringContaining('is not restarted') })
    expect(idsOf(page)).toEqual(['car'])
    await engine.close()
  })
})

describe('an embedder that fails', () => {
  it('for a while keeps no document out, and what waits is embedded once it is back', async () => {
    let down = true
    const engine = await openTestEngine({ home, embedder: failingEmbedder(openToyEmbedder(), () => down) })
    await engine.put({ entries: notes(40), wait: true })
    await engine.put({ entries: [{ id: 'more', content: 'more' }] })
    expect(await engine.status()).toMatchObject({ entries: 41, chunks: 41, embedded: 0 })
    await expect(engine.embedded()).rejects.toMatchObject({ code: 'embedder_failed' })
    const { findings } = await engine.doctor()
    expect(findings.filter(finding => !finding.ok).map(finding => finding.check)).toEqual(['vectors', 'embedder'])
    down = false
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 41, embedded: 41 })
    expect((await engine.doctor()).ok).toBe(true)
    await engine.close()
  })

  it('without ever answering does not keep the engine from closing, nor a caller who goes', async () => {
    const never = { ...openToyEmbedder(), embed: () => new Promise<never>(() => {}) }
    const engine = await openTestEngine({ home, embedder: never })
    const caller = new AbortController()
    const adding = engine.put({ entries: notes(3), wait: true }, { signal: caller.signal })
    await expect.poll(async () => (await engine.list({})).total).toBe(3)
    const waiting = engine.embedded()
    caller.abort()
    await expect(adding).rejects.toMatchObject({ code: 'cancelled' })
    await engine.close()
    await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('closed') })
    const words = await openTestEngine({ home })
    expect((await words.list({})).total).toBe(3)
    await words.close()
  })

  it('with vectors of another length is reported, and its vectors are not kept', async () => {
    const wrong = { ...openToyEmbedder(), embed: async () => [new Float32Array(3).fill(1)] }
    const engine = await openTestEngine({ home, embedder: wrong })
    await engine.put({ entries: notes(1), wait: true })
    await expect(engine.embedded()).rejects.toMatchObject({
      code: 'embedder_failed',
      message: expect.stringContaining('3'),
    })
    const page = await engine.query({ text: 'note fox' })
    expect([idsOf(page), noteCodes(page)]).toEqual([['n0'], ['words_only']])
    expect((await engine.doctor()).ok).toBe(false)
    await engine.close()
  })
})

describe('embedding that is interrupted', () => {
  it('goes on where it was: nothing is embedded twice', async () => {
    let given = 0
    const some = Promise.withResolvers<void>()
    const counting = () =>
      slowEmbedder(openToyEmbedder(), 1, texts => {
        given = texts
        if (texts >= 32) some.resolve()
      })
    const first = await openTestEngine({ home, embedder: counting() })
    await first.put({ entries: notes(60) })
    await some.promise
    await first.close()
    const store = openSqliteStore({ file: `${home}/store.db` })
    const kept = store.countVectors(
      TOY_KEY,
      store.partitions().map(partition => partition.id),
    )
    store.close()
    expect(kept).toBeGreaterThanOrEqual(16)
    expect(kept).toBeLessThan(60)

    const second = await openTestEngine({ home, embedder: counting() })
    await second.embedded()
    expect(given).toBe(60 - kept)
    expect(await second.status()).toMatchObject({ chunks: 60, embedded: 60 })
    expect((await second.doctor()).ok).toBe(true)
    await second.close()
  })
})

describe('two processes on one store', () => {
  it('see what the other wrote at their next question', async () => {
    const engine = await openTestEngine({ home })
    await engine.put({ entries: [{ id: 'mine', content: 'a fox of mine' }] })
    expect(idsOf(await engine.query({ text: 'fox' }))).toEqual(['mine'])
    const run = (...args: string[]) => querentHere(args, { cwd: folder.path, env: { QUERENT_HOME: home } })
    const put = await run('call', 'put', '{"entries":[{"id":"theirs","content":"a fox of theirs"}]}')
    expect(put).toMatchObject({ status: 0, stderr: '' })
    expect(idsOf(await engine.query({ text: 'fox' }))).toEqual(expect.arrayContaining(['mine', 'theirs']))
    expect((await run('delete', 'mine')).status).toBe(0)
    expect(idsOf(await engine.query({ text: 'fox' }))).toEqual(['theirs'])
    await engine.close()
  })

  it('embed once: who comes second waits for the first, and takes the vectors over', async () => {
    let given = 0
    const engine = await openTestEngine({
      home,
      embedder: slowEmbedder(openToyEmbedder(), 0, count => (given = count)),
    })
    const words = await openTestEngine({ home })
    await words.put({ entries: notes(50) })
    await words.close()
    await using child = new Child('engine-child.ts', import.meta.url, ['embed', home, '4'])
    await child.says('embedded 16')
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 50, embedded: 50 })
    expect(given).toBe(0)
    await child.end()
    expect((await engine.doctor()).ok).toBe(true)
    await engine.close()
  })

  it('go on where the other was killed', async () => {
    const engine = await openTestEngine({ home, embedder: openToyEmbedder() })
    const words = await openTestEngine({ home })
    await words.put({ entries: notes(50) })
    await words.close()
    await using child = new Child('engine-child.ts', import.meta.url, ['embed', home, '4'])
    await child.says('embedded 32')
    await child.kill()
    await engine.embedded()
    expect(await engine.status()).toMatchObject({ chunks: 50, embedded: 50 })
    expect((await engine.doctor()).ok).toBe(true)
    await engine.close()
  })
})

function flipBit(file: string): (model: string) => void {
  return model => {
    const bytes = readFileSync(`${model}/${file}`)
    const middle = bytes.length >> 1
    bytes[middle] = (bytes[middle] as number) ^ 1
    writeFileSync(`${model}/${file}`, bytes)
  }
}
