/**
 * The one place that imports ONNX Runtime: the native package where it installed (optional dependency), else the
 * WebAssembly one. They agree to a cosine of 1.000000 but not bit for bit.
 */
import type * as Ort from 'onnxruntime-web'

export type RuntimeName = 'native' | 'wasm'

export interface OnnxRuntime {
  readonly name: RuntimeName
  readonly Tensor: typeof Ort.Tensor
  /** `threads` counts for the native one; WebAssembly uses one thread (more were slower when measured). */
  open(model: Uint8Array, threads: number): Promise<Ort.InferenceSession>
}

/** Session option: errors only. ONNX Runtime writes warnings to standard error, where a door's messages go. */
const LOG_ERRORS_ONLY = 3

/**
 * Idle threads sleep instead of spinning. Measured on two busy cores: 24 to 41 texts/s and 44 ms of processor time a
 * text, against 12 to 30 and 66 ms with spinning.
 */
const NO_SPINNING = { session: { intra_op: { allow_spinning: '0' } } }

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

async function loadNative(): Promise<OnnxRuntime> {
  const ort = (await import('onnxruntime-node')).default
  return {
    name: 'native',
    Tensor: ort.Tensor,
    open: (model, threads) =>
      ort.InferenceSession.create(model, {
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        logSeverityLevel: LOG_ERRORS_ONLY,
        extra: NO_SPINNING,
      }),
  }
}

async function loadWasm(): Promise<OnnxRuntime> {
  // The bare name: in Node it resolves to the build that reads its .wasm from disk.
  const ort = await import('onnxruntime-web')
  ort.env.wasm.numThreads = 1
  return {
    name: 'wasm',
    Tensor: ort.Tensor,
    open: model =>
      ort.InferenceSession.create(model, { executionProviders: ['wasm'], logSeverityLevel: LOG_ERRORS_ONLY }),
  }
}
