/**
 * The only module that imports ONNX Runtime: the native package if it is installed (optional dependency), otherwise the WebAssembly build
 * that this package contains. The two round 8-bit sums differently: their vectors of one text have a cosine above 0.999.
 */
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type * as Ort from 'onnxruntime-web'
import { must } from '../base/assert.ts'
import type { RuntimeName } from './embedder.ts'

export interface OnnxRuntime {
  readonly name: RuntimeName
  readonly Tensor: typeof Ort.Tensor
  /** Creates an inference session that uses one thread. */
  open(model: Uint8Array): Promise<Ort.InferenceSession>
}

/** Session option: log errors only. ONNX Runtime writes warnings to standard error, which the program's own messages use. */
const LOG_ERRORS_ONLY = 3

const ONE_THREAD = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: LOG_ERRORS_ONLY } as const

/**
 * Loads the ONNX Runtime of this name, native or WebAssembly. Without `name`: the native one, or WebAssembly if the native one cannot be
 * loaded.
 */
export async function loadOnnxRuntime(name?: RuntimeName): Promise<OnnxRuntime> {
  if (name === 'native') return loadNative()
  if (name === 'wasm') return loadWasm()
  try {
    return await loadNative()
  } catch {
    return loadWasm()
  }
}

/**
 * Session option: multiply signed weights as unsigned ones. The sums are the same, at the speed of unsigned weights. Set only where needed,
 * because ONNX Runtime would then not use its fast exact instructions (VNNI) either.
 */
const UNSIGNED_WEIGHTS = { session: { x64quantprecision: '1' } }

/**
 * Session option that turns off the KleidiAI kernels: on Apple processors with SME they quantise activations row by row, which gives
 * different vectors.
 */
const NO_KLEIDIAI = { mlas: { disable_kleidiai: '1' } }

/**
 * A minimal ONNX graph of one MatMulInteger: four unsigned bytes `a` times a matrix of 4 × 16 signed bytes, all 127. The test of this
 * module builds the same bytes.
 */
export const PROBE_MODEL: string =
  'CAkSB3F1ZXJlbnQ6mwEKGwoBYQoBYhIBYxoBYyINTWF0TXVsSW50ZWdlchIFcHJvYmUqSwgECBAQA0IBYkpAf39/f39/f39/f39/f39/f39/f39/' +
  'f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f1oTCgFhEg4KDAgCEggKAggBCgIIBGITCgFjEg4KDAgGEggKAggBCgIIEEIECgAQFA=='

type NativeRuntime = typeof import('onnxruntime-node')

/**
 * Name of the ONNX Runtime that would be loaded by default, native if its package is installed, determined without loading it. An installed
 * library may still fail to load.
 */
export function expectedRuntime(): RuntimeName {
  try {
    const binaries = `../bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`
    return existsSync(new URL(binaries, import.meta.resolve('onnxruntime-node'))) ? 'native' : 'wasm'
  } catch {
    return 'wasm'
  }
}

/**
 * Environment variable that keeps the native ONNX Runtime from collecting usage data. Otherwise it writes each session, with the path of
 * the program and names from the model, to a database in the user's cache folder and sends it to Microsoft. It also reads the command line
 * with a recursive regular expression, which crashes the process when that is longer than some 12,000 characters.
 */
const NO_TELEMETRY = 'ORT_DISABLE_TELEMETRY'

/**
 * Turns off the usage data of the native ONNX Runtime. Must be called in the main thread before a worker that loads the runtime is started:
 * only there do changes of `process.env` reach native code, and a worker gets a copy.
 */
export function turnOffTelemetry(): void {
  if (isMainThread) process.env[NO_TELEMETRY] = '1'
}

/**
 * Loads the native ONNX Runtime. Throws where its usage data cannot be turned off: in a worker of a program that did not set
 * `ORT_DISABLE_TELEMETRY` before it started the worker.
 *
 * `unsignedWeights`: whether to multiply signed weights as unsigned ones (the session option UNSIGNED_WEIGHTS). Default: only if this
 * processor needs it.
 */
export async function loadNative(unsignedWeights?: boolean): Promise<OnnxRuntime> {
  turnOffTelemetry()
  if (process.env[NO_TELEMETRY] !== '1') {
    throw new Error(`the native ONNX Runtime would send usage data; set ${NO_TELEMETRY}=1 before the process starts`)
  }
  const ort = (await import('onnxruntime-node')).default
  const unsigned = unsignedWeights ?? (await clampsProducts(ort))
  return {
    name: 'native',
    Tensor: ort.Tensor,
    open: model =>
      ort.InferenceSession.create(model, {
        ...ONE_THREAD,
        extra: { ...NO_KLEIDIAI, ...(unsigned ? UNSIGNED_WEIGHTS : {}) },
      }),
  }
}

/**
 * Whether this processor clamps the sum of two products of unsigned and signed bytes to 16 bits: x64 without VNNI does, which makes vectors
 * wrong (a component by up to 0.5, measured with VNNI patched out of the library). The check takes 2 ms.
 */
async function clampsProducts(ort: NativeRuntime): Promise<boolean> {
  const session = await ort.InferenceSession.create(Buffer.from(PROBE_MODEL, 'base64'), ONE_THREAD)
  const results = await session.run({ a: new ort.Tensor('uint8', new Uint8Array(4).fill(255), [1, 4]) })
  await session.release()
  const [product] = must(results['c'], 'the product').data
  return product !== 4 * 255 * 127
}

/**
 * Path of the bundled WebAssembly build of ONNX Runtime, relative to any folder in `dist`. Code run from source uses the npm package
 * instead, which is a development dependency.
 */
const PACKAGED_WASM = '../onnx/ort.mjs'

async function loadWasm(): Promise<OnnxRuntime> {
  const packaged = new URL(PACKAGED_WASM, import.meta.url)
  // The import of the bare package name, in Node, gives the build of ONNX Runtime Web that reads its .wasm file from disk.
  const ort: typeof Ort = existsSync(packaged) ? await import(packaged.href) : await import('onnxruntime-web')
  ort.env.wasm.numThreads = 1
  return {
    name: 'wasm',
    Tensor: ort.Tensor,
    open: model =>
      ort.InferenceSession.create(model, { executionProviders: ['wasm'], logSeverityLevel: LOG_ERRORS_ONLY }),
  }
}
