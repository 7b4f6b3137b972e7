/**
 * The one place that imports ONNX Runtime: the native package where it is installed (optional dependency), else the
 * WebAssembly build that this package carries. Both
 * round 8-bit sums in their own order: vectors of one text have a cosine above 0.999.
 */
import { existsSync } from 'node:fs'
import type * as Ort from 'onnxruntime-web'
import { must } from '../base/assert.ts'
import type { RuntimeName } from './embedder.ts'

export interface OnnxRuntime {
  readonly name: RuntimeName
  readonly Tensor: typeof Ort.Tensor
  /** A session of one thread. */
  open(model: Uint8Array): Promise<Ort.InferenceSession>
}

/** Session option: errors only. ONNX Runtime writes warnings to standard error, where an interface's messages go. */
const LOG_ERRORS_ONLY = 3

const ONE_THREAD = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: LOG_ERRORS_ONLY } as const

/** Without `name`: the best there is. */
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
 * Session option: multiply signed weights as unsigned ones. The same sums, at the speed of unsigned weights.
 * Applied only where needed, because ONNX Runtime would also give up its fast exact instructions (VNNI) for it.
 */
const UNSIGNED_WEIGHTS = { session: { x64quantprecision: '1' } }

/** Apple processors with SME would quantise activations row by row instead, which gives other vectors. */
const NO_KLEIDIAI = { mlas: { disable_kleidiai: '1' } }

/**
 * A graph of one MatMulInteger: four unsigned bytes `a` times a matrix of 4 × 16 signed bytes, all 127. The test of this
 * module builds the same bytes.
 */
export const PROBE_MODEL: string =
  'CAkSB3F1ZXJlbnQ6mwEKGwoBYQoBYhIBYxoBYyINTWF0TXVsSW50ZWdlchIFcHJvYmUqSwgECBAQA0IBYkpAf39/f39/f39/f39/f39/f39/f39/' +
  'f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f39/f1oTCgFhEg4KDAgCEggKAggBCgIIBGITCgFjEg4KDAgGEggKAggBCgIIEEIECgAQFA=='

type NativeRuntime = typeof import('onnxruntime-node')

/** The runtime that `loadOnnxRuntime` will find, without loading it: a library that is there may still fail to load. */
export function expectedRuntime(): RuntimeName {
  try {
    const binaries = `../bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`
    return existsSync(new URL(binaries, import.meta.resolve('onnxruntime-node'))) ? 'native' : 'wasm'
  } catch {
    return 'wasm'
  }
}

/** `unsignedWeights`: see `UNSIGNED_WEIGHTS`. Default: where this processor needs it. */
export async function loadNative(unsignedWeights?: boolean): Promise<OnnxRuntime> {
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
 * Whether this processor clamps the sum of two products of unsigned by signed bytes to 16 bits: x64 without VNNI does,
 * and vectors come out wrong (a component by up to 0.5, measured with VNNI patched out of the library). Costs 2 ms.
 */
async function clampsProducts(ort: NativeRuntime): Promise<boolean> {
  const session = await ort.InferenceSession.create(Buffer.from(PROBE_MODEL, 'base64'), ONE_THREAD)
  const results = await session.run({ a: new ort.Tensor('uint8', new Uint8Array(4).fill(255), [1, 4]) })
  await session.release()
  const [product] = must(results['c'], 'the product').data
  return product !== 4 * 255 * 127
}

/** Made by scripts/bundle-onnx.ts, relative to any folder of `dist`. Sources have the development dependency instead. */
const PACKAGED_WASM = '../onnx/ort.mjs'

async function loadWasm(): Promise<OnnxRuntime> {
  const packaged = new URL(PACKAGED_WASM, import.meta.url)
  // The bare name resolves in Node to the build that reads its .wasm from disk.
  const ort: typeof Ort = existsSync(packaged) ? await import(packaged.href) : await import('onnxruntime-web')
  ort.env.wasm.numThreads = 1
  return {
    name: 'wasm',
    Tensor: ort.Tensor,
    open: model =>
      ort.InferenceSession.create(model, { executionProviders: ['wasm'], logSeverityLevel: LOG_ERRORS_ONLY }),
  }
}
