import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Embedder } from '../../../src/embed/embedder.ts'
import { type LocalEmbedder, type LocalEmbedderOptions, openLocalEmbedder } from '../../../src/embed/local-embedder.ts'
import { modelFolder } from '../../support/model.ts'

const folder = modelFolder()
const opened: Embedder[] = []
afterAll(async () => {
  for (const embedder of opened) await embedder.close()
})

async function open(options: Partial<LocalEmbedderOptions> = {}): Promise<LocalEmbedder> {
  const embedder = await openLocalEmbedder({ folder, ...options })
  opened.push(embedder)
  return embedder
}

/** The real worker, watched. */
function watchedWorkers(): { workers: Worker[]; startWorker: (options: WorkerOptions) => Worker } {
  const workers: Worker[] = []
  const startWorker = (options: WorkerOptions) => {
    const worker = new Worker(new URL('../../../src/embed/onnx-worker.ts', import.meta.url), options)
    workers.push(worker)
    return worker
  }
  return { workers, startWorker }
}

/** Speaks the protocol of the worker; what begins with "Stall" waits until it is released. */
const STALLING_WORKER = `
  const { parentPort } = require('node:worker_threads')
  const held = []
  const answer = ({ id }) => parentPort.postMessage({ type: 'vectors', id, values: new Float32Array(384) })
  parentPort.on('message', message => {
    if (message.type === 'load') parentPort.postMessage({ type: 'ready', runtime: 'native' })
    else if (message.type === 'release') held.forEach(answer)
    else if (message.texts[0].startsWith('Stall')) held.push(message)
    else answer(message)
  })`

const passages = Array.from({ length: 12 }, (_, i) =>
  `Passage ${i} on the boundary layer of a slender wing. `.repeat(10),
)

describe.each(['native', 'wasm'] as const)('the default model, %s runtime', runtime => {
  it('gives the vector of the reference', async () => {
    const embedder = await open({ runtime })
    expect(await embedder.ready()).toBe(runtime)
    const [vector] = await embedder.embed(['This is an example sentence'], 'passage')
    const expected = [0.0472, 0.044, 0.0454, 0.0547]
    expected.forEach((value, i) => {
      expect(vector?.[i]).toBeCloseTo(value, 4)
    })
  })
})

describe('several workers', () => {
  const many = Array.from({ length: 24 }, (_, i) => `Passage ${i}: ${'a slender wing '.repeat((i * 7) % 11)}`)

  it('do not change a bit of a vector, nor the order of vectors', async () => {
    const [one, three] = await Promise.all([open({ threads: 1 }), open({ threads: 3 })])
    const expected = await one.embed(many, 'passage')
    expect(await three.embed(many, 'passage')).toEqual(expected)
    const halves = await Promise.all([
      three.embed(many.slice(0, 12), 'passage'),
      three.embed(many.slice(12), 'passage'),
    ])
    expect(halves.flat()).toEqual(expected)
  })

  it('start when many passages come, not for questions or a few passages, and end when none have come for a while', async () => {
    const { workers, startWorker } = watchedWorkers()
    const embedder = await open({ threads: 3, startWorker, idleMs: 50 })
    expect(embedder.runsOn()).toMatchObject({ workers: 3 })
    await embedder.embed(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'], 'query')
    await embedder.embed(['a', 'b', 'c'], 'passage')
    expect(workers.length).toBe(1)
    const ended = workers.length
    await embedder.embed(many, 'passage')
    expect(workers.length).toBe(3)
    const extra = workers.slice(ended)
    await vi.waitFor(() => expect(extra.map(({ threadId }) => threadId)).toEqual([-1, -1]), { timeout: 300_000 })
    expect(workers[0]?.threadId).toBeGreaterThan(0)
    await embedder.embed(many, 'passage')
    expect(workers.length).toBe(5)
  })

  it('answer a question before the passages that wait', async () => {
    const embedder = await open({ threads: 2 })
    await embedder.ready()
    const order: string[] = []
    await Promise.all([
      embedder.embed([...many, ...passages], 'passage').then(() => order.push('passages')),
      embedder.embed(['a question'], 'query').then(() => order.push('question')),
    ])
    expect(order).toEqual(['question', 'passages'])
  })

  it('stop at a failure and at a cancelled signal, and go on afterwards', async () => {
    const embedder = await open({ threads: 2 })
    const controller = new AbortController()
    const cancelled = embedder.embed(
      Array.from({ length: 20_000 }, () => 'word '.repeat(200)),
      'passage',
      controller.signal,
    )
    const next = embedder.embed(many, 'passage')
    controller.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })
    expect((await next).length).toBe(many.length) // would take minutes behind 20,000 passages
    await expect(embedder.embed(many, 'passage', controller.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('leave the work of one that dies at every start to the others', async () => {
    let started = 0
    const startWorker = (options: WorkerOptions) =>
      started++ === 0
        ? new Worker(new URL('../../../src/embed/onnx-worker.ts', import.meta.url), options)
        : new Worker('throw new Error("out of order")', { eval: true })
    const embedder = await open({ threads: 2, startWorker })
    let failures = 0
    let vectors: readonly Float32Array[] = []
    while (vectors.length === 0 && failures < 10) {
      vectors = await embedder.embed(many, 'passage').catch(() => {
        failures++
        return []
      })
    }
    expect(vectors.length).toBe(many.length)
    expect(failures).toBeLessThanOrEqual(3)
  })

  it('hold no more than their share of what waits, so that a slow one keeps few texts from the others', async () => {
    const workers: Worker[] = []
    const startWorker = (options: WorkerOptions) => {
      const worker =
        workers.length === 0
          ? new Worker(new URL('../../../src/embed/onnx-worker.ts', import.meta.url), options)
          : new Worker(STALLING_WORKER, { ...options, eval: true })
      vi.spyOn(worker, 'postMessage')
      workers.push(worker)
      return worker
    }
    const embedder = await open({ threads: 2, startWorker })
    await embedder.embed(many, 'passage') // starts both
    for (const worker of workers) vi.mocked(worker.postMessage).mockClear()
    const held = embedder.embed(
      many.slice(0, 8).map(text => `Stall. ${text}`),
      'passage',
    )
    const given = () => workers.map(worker => vi.mocked(worker.postMessage).mock.calls.length)
    await vi.waitFor(() => expect(given()).toEqual([6, 2]), { timeout: 300_000 })
    workers[1]?.postMessage({ type: 'release' })
    expect((await held).length).toBe(8)
  })
})

describe('the queue', () => {
  it('answers a question before the passages that wait, and passages in the order they came', async () => {
    const embedder = await open({ threads: 1 })
    await embedder.ready()
    const order: string[] = []
    const note = (name: string) => () => order.push(name)
    await Promise.all([
      embedder.embed(passages, 'passage').then(note('first passages')),
      embedder.embed(passages.slice(0, 2), 'passage').then(note('second passages')),
      embedder.embed(['a question'], 'query').then(note('question')),
    ])
    expect(order).toEqual(['question', 'first passages', 'second passages'])
  })

  it('drops what was cancelled', async () => {
    const embedder = await open()
    const controller = new AbortController()
    const many = Array.from({ length: 20_000 }, () => passages[0] as string)
    const cancelled = embedder.embed(many, 'passage', controller.signal)
    const next = embedder.embed(['next'], 'passage')
    controller.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })
    await next // would take minutes behind 20,000 passages
  })
})

describe('a dead worker', () => {
  it('rejects what was under way; the next call starts another', async () => {
    const { workers, startWorker } = watchedWorkers()
    const embedder = await open({ startWorker, threads: 1 })
    const before = await embedder.embed(['cats'], 'query')
    const pending = [embedder.embed(passages, 'passage'), embedder.embed(passages, 'passage')]
    workers[0]?.postMessage(null) // not a message: an error that nothing catches
    // Whose text it was is not known: each should be tried by itself.
    for (const promise of pending) {
      await expect(promise).rejects.toMatchObject({ code: 'embedder_failed', details: { refused: 'text' } })
    }
    expect(await embedder.embed(['cats'], 'query')).toEqual(before)
    expect(workers.length).toBe(2)
  })

  it('is started again however many single passages it dies on', async () => {
    const { workers, startWorker } = watchedWorkers()
    const embedder = await open({ startWorker })
    for (let death = 0; death < 4; death++) {
      await embedder.ready()
      // Not ended from outside: in the middle of native code that would take the process with it.
      workers.at(-1)?.postMessage(null)
      await expect(embedder.embed(['cats'], 'passage')).rejects.toMatchObject({ details: { refused: 'text' } })
    }
    expect((await embedder.embed(['cats'], 'passage')).length).toBe(1)
  })

  it('that died idle is replaced without a failed call', async () => {
    const { workers, startWorker } = watchedWorkers()
    const embedder = await open({ startWorker })
    await embedder.ready()
    await workers[0]?.terminate()
    expect((await embedder.embed(['cats'], 'query')).length).toBe(1)
    expect(workers.length).toBe(2)
  })

  it('is given up after three deaths in a row', async () => {
    let started = 0
    const startWorker = () => {
      started++
      return new Worker('throw new Error("out of order")', { eval: true })
    }
    const embedder = await open({ start: 'first-use', startWorker })
    for (let i = 0; i < 3; i++) {
      await expect(embedder.embed(['cats'], 'query')).rejects.toMatchObject({ code: 'embedder_failed' })
    }
    const error = await embedder.embed(['cats'], 'query').catch(error => error)
    expect(error.code).toBe('embedder_failed')
    expect(error.message).toContain('out of order')
    expect(started).toBe(3)
  })
})

describe('close', () => {
  it('in the middle of native code leaves the process alone', async () => {
    for (let i = 0; i < 5; i++) {
      const embedder = await open()
      if (i > 0) await embedder.ready() // the first is closed while it loads
      const pending = embedder.embed(passages, 'passage')
      const closed = embedder.close()
      await expect(pending).rejects.toMatchObject({ code: 'embedder_failed' })
      await closed
    }
  })

  it('rejects what is under way and all that comes later', async () => {
    const embedder = await open()
    const pending = embedder.embed(passages, 'passage')
    const closing = embedder.close()
    await expect(pending).rejects.toMatchObject({ code: 'embedder_failed', message: 'the embedder is closed' })
    await closing
    await expect(embedder.embed(['cats'], 'query')).rejects.toMatchObject({ code: 'embedder_failed' })
    await expect(embedder.ready()).rejects.toMatchObject({ code: 'embedder_failed' })
  })
})

describe('a process with an open embedder', () => {
  it('ends by itself when nothing is under way', async () => {
    expect(await run(`await embedder.ready(); console.log('ready')`)).toBe('ready\n')
    expect(await run(`console.log('opened')`)).toBe('opened\n')
  })

  it('lives until work under way is done', async () => {
    const script = `embedder.embed(['a', 'b'], 'passage').then(vectors => console.log(vectors.length))`
    expect(await run(script)).toBe('2\n')
  })

  it('can exit in the middle of work', async () => {
    const script = `embedder.embed(Array(500).fill('word '.repeat(200)), 'passage'); await embedder.embed(['a'], 'query')
      console.log('answered'); process.exit(0)`
    for (let i = 0; i < 3; i++) expect(await run(script)).toBe('answered\n')
  })

  it('can exit while the model loads', async () => {
    expect(await run(`setTimeout(() => { console.log('away'); process.exit(0) }, 60)`)).toBe('away\n')
  })

  it('runs WebAssembly where the native package did not install', async () => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) {
        if (name === 'onnxruntime-node') throw new Error('not installed')
        return next(name, context)
      } })`
    const preload = `data:text/javascript,${encodeURIComponent(hook)}`
    expect(await run(`console.log(await embedder.ready())`, `--import=${preload}`)).toBe('wasm\n')
    expect(await run(`console.log(await embedder.ready())`)).toBe('native\n')
  })
})

/** Runs a script that finds an open `embedder`, in a process of its own, and gives what it printed. */
async function run(script: string, nodeOptions = ''): Promise<string> {
  const module = new URL('../../../src/embed/local-embedder.ts', import.meta.url).href
  const program = `import { openLocalEmbedder } from ${JSON.stringify(module)}
    const embedder = await openLocalEmbedder({ folder: ${JSON.stringify(folder)} })
    ${script}`
  const options = { timeout: 300_000, env: { ...process.env, NODE_OPTIONS: nodeOptions } }
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program],
    options,
  )
  expect(stderr).toBe('')
  return stdout
}
