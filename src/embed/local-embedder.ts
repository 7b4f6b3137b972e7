/** The embedder that needs no service: an ONNX model from a folder, run in a worker thread of this process. */
import { availableParallelism } from 'node:os'
import { EmbedThread } from './embed-thread.ts'
import type { Embedder, EmbedKind } from './embedder.ts'
import { type ModelFiles, type OnnxFolder, readModelFiles, readOnnxFolder } from './onnx-folder.ts'
import type { RuntimeName } from './onnx-runtime.ts'
import type { StartWorker } from './stoppable-thread.ts'

export interface LocalEmbedderOptions {
  /** Folder of the model; see `onnx-folder.ts`. */
  readonly folder: string
  /** Threads of the native runtime. Default: one a core, four at most. */
  readonly threads?: number | undefined
  /** Default: native where it is installed, else WebAssembly. */
  readonly runtime?: RuntimeName | undefined
  /**
   * `now` (default): check the files' hashes and begin to load, about 25 ms. `first-use`: read the manifest only; the
   * first `embed` does the rest, so a wrong file shows there.
   */
  readonly start?: 'now' | 'first-use' | undefined
  readonly startWorker?: StartWorker | undefined
}

export interface LocalEmbedder extends Embedder {
  /** Waits until the model is loaded; says what runs it. */
  ready(): Promise<RuntimeName>
}

const MAX_DEFAULT_THREADS = 4

/**
 * Resolves before the model is loaded: the first `embed` waits for that. Rejects with `model_invalid` when a file of
 * the folder is missing or differs from the manifest.
 */
export async function openLocalEmbedder(options: LocalEmbedderOptions): Promise<LocalEmbedder> {
  const folder = await readOnnxFolder(options.folder)
  if (options.start === 'first-use') return makeEmbedder(folder, makeThread(folder, options))
  const files = readModelFiles(folder)
  const thread = makeThread(folder, options, files)
  thread.start() // it boots while the files are read and hashed
  try {
    await files
  } catch (error) {
    await thread.close()
    throw error
  }
  return makeEmbedder(folder, thread)
}

/** `files` serve the first start: their buffer moves to the thread, so a restart reads them again. */
function makeThread(folder: OnnxFolder, options: LocalEmbedderOptions, files?: Promise<ModelFiles>): EmbedThread {
  let unused = files
  const takeFiles = () => {
    const taken = unused ?? readModelFiles(folder)
    unused = undefined
    return taken
  }
  return new EmbedThread({
    loadParts: async () => ({
      ...(await takeFiles()),
      dimensions: folder.model.dimensions,
      maxTokens: folder.model.maxTokens,
      pooling: folder.pooling,
      threads: options.threads ?? Math.min(availableParallelism(), MAX_DEFAULT_THREADS),
      runtime: options.runtime,
    }),
    startWorker: options.startWorker,
  })
}

function makeEmbedder(folder: OnnxFolder, thread: EmbedThread): LocalEmbedder {
  const { model, prefixes } = folder
  return {
    model,
    ready: () => thread.ready(),
    close: () => thread.close(),
    async embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal) {
      if (texts.length === 0) return []
      const prefixed = texts.map(text => prefixes[kind] + text)
      const values = await thread.embed(prefixed, kind, signal)
      const { dimensions } = model
      // Copies: a view would keep the vectors of the whole request in memory.
      return texts.map((_, i) => values.slice(i * dimensions, (i + 1) * dimensions))
    },
  }
}
