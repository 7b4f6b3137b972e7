/** The embedder that needs no service: an ONNX model from a folder, run in a worker thread of this process. */

import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { EmbedWorker } from './embed-worker.ts'
import type { Embedder, EmbedKind } from './embedder.ts'
import { type ModelFiles, type OnnxFolder, readModelFiles, readOnnxFolder } from './onnx-folder.ts'
import type { RuntimeName } from './onnx-runtime.ts'

export interface LocalEmbedderOptions {
  /** Folder of the model; see `onnx-folder.ts`. */
  readonly folder: string
  /** Threads of the native runtime. Default: one a core, four at most. */
  readonly threads?: number | undefined
  /** Default: native where it is installed, else WebAssembly. */
  readonly runtime?: RuntimeName | undefined
  readonly startThread?: (() => Worker) | undefined
}

export interface LocalEmbedder extends Embedder {
  /** Waits until the model is loaded; says what runs it. */
  ready(): Promise<RuntimeName>
}

const MAX_DEFAULT_THREADS = 4

/**
 * Checks the folder and begins to load the model. Resolves before it is loaded: the first `embed` waits for that.
 * Rejects with `model_invalid` when a file is missing or differs from the manifest.
 */
export async function openLocalEmbedder(options: LocalEmbedderOptions): Promise<LocalEmbedder> {
  const folder = await readOnnxFolder(options.folder)
  let firstFiles: Promise<ModelFiles> | null = readModelFiles(folder)
  const takeFiles = () => {
    const files = firstFiles ?? readModelFiles(folder)
    firstFiles = null // its buffer goes to the worker; a restart reads again
    return files
  }
  const worker = new EmbedWorker({
    loadParts: async () => ({
      ...(await takeFiles()),
      dimensions: folder.model.dimensions,
      maxTokens: folder.model.maxTokens,
      pooling: folder.pooling,
      threads: options.threads ?? Math.min(availableParallelism(), MAX_DEFAULT_THREADS),
      runtime: options.runtime,
    }),
    startThread: options.startThread,
  })
  const checked = firstFiles
  worker.start() // the thread boots while the files are read and hashed
  await checked.catch(async error => {
    await worker.close()
    throw error
  })
  return makeEmbedder(folder, worker)
}

function makeEmbedder(folder: OnnxFolder, worker: EmbedWorker): LocalEmbedder {
  const { model, prefixes } = folder
  return {
    model,
    ready: () => worker.ready(),
    close: () => worker.close(),
    async embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal) {
      if (texts.length === 0) return []
      const prefixed = texts.map(text => prefixes[kind] + text)
      const values = await worker.embed(prefixed, kind, signal)
      const { dimensions } = model
      // Copies: a view would keep the vectors of the whole request in memory.
      return texts.map((_, i) => values.slice(i * dimensions, (i + 1) * dimensions))
    },
  }
}
