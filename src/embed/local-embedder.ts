/** The embedder that needs no service: an ONNX model from a folder, run in worker threads of this process. */
import { availableParallelism, totalmem } from 'node:os'
import { EmbedPool } from './embed-pool.ts'
import { EmbedThread } from './embed-thread.ts'
import type { Embedder, LocalRun, RuntimeName } from './embedder.ts'
import { type ModelFiles, type OnnxFolder, readModelFiles, readOnnxFolder } from './onnx-folder.ts'
import { expectedRuntime } from './onnx-runtime.ts'
import type { StartWorker } from './stoppable-thread.ts'

export interface LocalEmbedderOptions {
  /** Path of the model's folder, which contains a manifest, the ONNX model and its tokenizer. */
  readonly folder: string
  /**
   * Number of passages embedded in parallel: one worker with one thread and its own copy of the model for each. Default: one for each core
   * and each gigabyte of memory, at most four. Queries use one thread.
   */
  readonly threads?: number | undefined
  /** Runtime of the model. Default: native if it is installed, otherwise WebAssembly. */
  readonly runtime?: RuntimeName | undefined
  /**
   * When the model's files are read. `now` (default): when the embedder is opened, the hashes of the files are checked and the model begins
   * to load, in about 25 ms. `first-use`: opening reads the manifest only; the first call of `embed` does the rest, so a wrong file is
   * reported only then.
   */
  readonly start?: 'now' | 'first-use' | undefined
  readonly startWorker?: StartWorker | undefined
  /** Milliseconds without new passages after which all workers except the first end and free their copies of the model. */
  readonly idleMs?: number | undefined
}

export interface LocalEmbedder extends Embedder {
  readonly runsOn: () => LocalRun
  /** Resolves when the model is loaded, with the runtime that runs it. */
  ready(): Promise<RuntimeName>
}

const MAX_DEFAULT_THREADS = 4
const MEMORY_A_THREAD = 2 ** 30

/**
 * Opens the model in the folder. Resolves before the model is loaded: the first `embed` waits for that. Rejects with `model_invalid` if a
 * file of the folder is missing or differs from the manifest.
 */
export async function openLocalEmbedder(options: LocalEmbedderOptions): Promise<LocalEmbedder> {
  const folder = await readOnnxFolder(options.folder)
  if (options.start === 'first-use') return makeEmbedder(folder, options, makePool(folder, options))
  const files = readModelFiles(folder)
  const pool = makePool(folder, options, files)
  pool.start() // the worker boots while the files are read and hashed
  try {
    await files
  } catch (error) {
    await pool.close()
    throw error
  }
  return makeEmbedder(folder, options, pool)
}

/**
 * Makes the pool of embedding workers. `files` are used for the first start of a worker only, because their buffers move to the worker
 * thread; later starts read the files again.
 */
function makePool(folder: OnnxFolder, options: LocalEmbedderOptions, files?: Promise<ModelFiles>): EmbedPool {
  let unused = files
  const takeFiles = () => {
    const taken = unused ?? readModelFiles(folder)
    unused = undefined
    return taken
  }
  const makeThread = () =>
    new EmbedThread({
      loadParts: async () => ({
        ...(await takeFiles()),
        dimensions: folder.model.dimensions,
        maxTokens: folder.model.maxTokens,
        pooling: folder.pooling,
        runtime: options.runtime,
      }),
      startWorker: options.startWorker,
    })
  return new EmbedPool(options.threads ?? defaultThreads(), makeThread, options.idleMs)
}

function defaultThreads(): number {
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
  const fitting = Math.min(availableParallelism(), Math.floor(memory / MEMORY_A_THREAD), MAX_DEFAULT_THREADS)
  return Math.max(1, fitting)
}

function makeEmbedder(folder: OnnxFolder, { runtime }: LocalEmbedderOptions, pool: EmbedPool): LocalEmbedder {
  const { model, prefixes } = folder
  return {
    model,
    ready: () => pool.ready(),
    close: () => pool.close(),
    runsOn: () => ({ runtime: pool.runtime ?? runtime ?? expectedRuntime(), workers: pool.size }),
    async embed(texts, kind, signal) {
      if (texts.length === 0) return []
      const prefixed = texts.map(text => prefixes[kind] + text)
      return kind === 'query' ? pool.questions(prefixed, signal) : pool.passages(prefixed, signal)
    },
  }
}
