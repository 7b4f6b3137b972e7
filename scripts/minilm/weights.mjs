// Reads the weights of a tensorflow.js graph model: one shard that holds the tensors in the order of its manifest.
// Real numbers are stored as one byte each with a linear scale: value = byte · scale + min.

/** Tensors by name: `{ shape, bytes, scale, min }`. Only quantised ones: the others are shapes and axes of the graph. */
export function readWeights(shard, modelJson) {
  const tensors = new Map()
  let offset = 0
  for (const { name, shape, quantization } of modelJson.weightsManifest[0].weights) {
    const elements = shape.reduce((product, size) => product * size, 1)
    const length = quantization ? elements : elements * 4
    if (quantization) {
      const bytes = shard.subarray(offset, offset + length)
      tensors.set(name, { shape, bytes, scale: quantization.scale, min: quantization.min })
    }
    offset += length
  }
  if (offset !== shard.length) throw new Error(`the shard holds ${shard.length} bytes, its manifest says ${offset}`)
  return tensors
}

/** The real numbers of a tensor. */
export function toFloats(tensor) {
  return Float32Array.from(tensor.bytes, byte => byte * tensor.scale + tensor.min)
}

/** The byte that stands for 0. Whole (but for rounding of `min`) in matrices and tables, so ONNX holds them exactly. */
export function zeroPoint(tensor) {
  const exact = -tensor.min / tensor.scale
  const whole = Math.round(exact)
  if (Math.abs(exact - whole) > 1e-3) throw new Error(`the zero point ${exact} is not a whole number`)
  return whole
}
