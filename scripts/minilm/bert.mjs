// all-MiniLM-L6-v2 as an ONNX graph over 8-bit weights: token ids and mask in, one vector a token out. Activations are
// quantised as they come (DynamicQuantizeLinear takes the range of the whole tensor, so run one text at a time).
import { ElementType, OnnxGraph } from './onnx-graph.mjs'
import { toFloats, zeroPoint } from './weights.mjs'

const LAYERS = 6
const HIDDEN = 384
const HEADS = 12
const VOCABULARY = 30522
const POSITIONS = 512
const LAYER_NORM_EPSILON = 1e-12
const PREFIX = 'StatefulPartitionedCall/model/tf_bert_model/bert'
const MICROSOFT = 'com.microsoft'

/**
 * The bytes of model.onnx. `weightType`: how the matrices are stored, INT8 or UINT8. Both give the same vectors bit for
 * bit, as 128 less in the weights and in their zero point leaves every difference as it is; ONNX Runtime multiplies
 * unsigned activations by signed weights 1.75 times as fast (one thread, x64 with VNNI).
 */
export function buildMiniLm(tensors, weightType = ElementType.INT8) {
  const builder = new BertBuilder(tensors, weightType)
  const { graph } = builder
  graph.input('input_ids', ElementType.INT64, ['batch', 'sequence'])
  graph.input('attention_mask', ElementType.INT64, ['batch', 'sequence'])
  const mask = graph.apply('mask', 'Cast', ['attention_mask'], { attributes: { to: ElementType.INT32 } })
  let hidden = builder.embeddings()
  for (let layer = 0; layer < LAYERS; layer++) hidden = builder.layer(layer, hidden, mask)
  graph.apply('last_hidden_state', 'Identity', [hidden])
  graph.output('last_hidden_state', ElementType.FLOAT, ['batch', 'sequence', HIDDEN])
  return graph.toFile('querent', { '': 20, [MICROSOFT]: 1 })
}

class BertBuilder {
  graph = new OnnxGraph('all-MiniLM-L6-v2')
  #tensors
  #weightType
  #quantised = new Map()

  constructor(tensors, weightType) {
    this.#tensors = tensors
    this.#weightType = weightType
  }

  /** Word vector + position vector + vector of the (only) token type, normalised. */
  embeddings() {
    const { graph } = this
    const words = this.#quantisedConstant('words', this.#table(VOCABULARY))
    const rows = graph.apply('word_rows', 'Gather', [words.values, 'input_ids'])
    const word = graph.apply('word_vectors', 'DequantizeLinear', [rows, words.scale, words.zero])
    const sum = graph.apply('embeddings', 'Add', [word, this.#positionVectors()])
    return this.#layerNorm('embeddings_norm', 'embeddings', sum)
  }

  layer(index, input, mask) {
    const { graph } = this
    const source = `encoder/layer_._${index}`
    const name = part => `layer${index}_${part}`
    const heads = ['query', 'key', 'value'].map(part =>
      this.#dense(name(part), `${source}/attention/self/${part}`, input),
    )
    const mixed = graph.apply(name('attention'), 'MultiHeadAttention', [...heads, '', mask], {
      attributes: { num_heads: HEADS },
      domain: MICROSOFT,
    })
    const attended = this.#residual(name('attended'), `${source}/attention/output`, mixed, input)
    const middle = this.#dense(name('middle'), `${source}/intermediate/dense`, attended)
    const active = graph.apply(name('gelu'), 'Gelu', [middle])
    return this.#residual(name('output'), `${source}/output`, active, attended)
  }

  /** The first `sequence` rows of the position table, to which the vector of token type 0 is added. */
  #positionVectors() {
    const { graph } = this
    const positions = toFloats(this.#table(POSITIONS))
    const tokenType = toFloats(this.#table(2))
    for (let i = 0; i < positions.length; i++) positions[i] += tokenType[i % HIDDEN]
    const all = graph.constant('positions', ElementType.FLOAT, [POSITIONS, HIDDEN], positions)
    const [zero, one, two] = [0, 1, 2].map(n =>
      graph.constant(`axis${n}`, ElementType.INT64, [1], BigInt64Array.of(BigInt(n))),
    )
    const shape = graph.apply('input_shape', 'Shape', ['input_ids'])
    const length = graph.apply('sequence_length', 'Slice', [shape, one, two, zero])
    return graph.apply('position_vectors', 'Slice', [all, zero, length, zero])
  }

  /** dense(x) + skipped, normalised. */
  #residual(name, source, x, skipped) {
    const projected = this.#dense(`${name}_dense`, `${source}/dense`, x)
    const sum = this.graph.apply(`${name}_sum`, 'Add', [projected, skipped])
    return this.#layerNorm(`${name}_norm`, source, sum)
  }

  /** x · W + b with W and x in 8 bits, the sum in 32 bits. Matrices are stored [in, out]: no transpose. */
  #dense(name, source, x) {
    const { graph } = this
    const weight = this.#weights(`${name}_weight`, this.#tensor(`${source}/Tensordot/ReadVariableOp`))
    const bias = this.#floatConstant(`${name}_bias`, this.#tensor(`${source}/BiasAdd/ReadVariableOp`))
    const input = this.#quantise(x)
    const whole = graph.apply(`${name}_int`, 'MatMulInteger', [input.values, weight.values, input.zero, weight.zero])
    const real = graph.apply(`${name}_float`, 'Cast', [whole], { attributes: { to: ElementType.FLOAT } })
    const scale = graph.apply(`${name}_scale`, 'Mul', [input.scale, weight.scale])
    const product = graph.apply(`${name}_product`, 'Mul', [real, scale])
    return graph.apply(name, 'Add', [product, bias])
  }

  /** Once a value, however many matrices (query, key, value) it meets. */
  #quantise(x) {
    const known = this.#quantised.get(x)
    if (known) return known
    const made = { values: `${x}_q`, scale: `${x}_q_scale`, zero: `${x}_q_zero` }
    this.graph.applyMany([made.values, made.scale, made.zero], 'DynamicQuantizeLinear', [x])
    this.#quantised.set(x, made)
    return made
  }

  #layerNorm(name, source, x) {
    const gamma = this.#floatConstant(`${name}_gamma`, this.#tensor(`${source}/LayerNorm/batchnorm/mul/ReadVariableOp`))
    const beta = this.#floatConstant(`${name}_beta`, this.#tensor(`${source}/LayerNorm/batchnorm/ReadVariableOp`))
    return this.graph.apply(name, 'LayerNormalization', [x, gamma, beta], {
      attributes: { axis: -1, epsilon: LAYER_NORM_EPSILON },
    })
  }

  /** A matrix, in the type that was asked for. */
  #weights(name, tensor) {
    if (this.#weightType === ElementType.UINT8) return this.#quantisedConstant(name, tensor)
    const values = new Int8Array(tensor.bytes.length)
    for (let i = 0; i < values.length; i++) values[i] = tensor.bytes[i] - 128
    return this.#constants(name, tensor, ElementType.INT8, values, Int8Array.of(zeroPoint(tensor) - 128))
  }

  #quantisedConstant(name, tensor) {
    return this.#constants(name, tensor, ElementType.UINT8, tensor.bytes, Uint8Array.of(zeroPoint(tensor)))
  }

  #constants(name, { shape, scale }, type, values, zero) {
    const { graph } = this
    return {
      values: graph.constant(name, type, shape, values),
      scale: graph.constant(`${name}_scale`, ElementType.FLOAT, [], Float32Array.of(scale)),
      zero: graph.constant(`${name}_zero`, type, [], zero),
    }
  }

  #floatConstant(name, tensor) {
    return this.graph.constant(name, ElementType.FLOAT, tensor.shape, toFloats(tensor))
  }

  #tensor(path) {
    const tensor = this.#tensors.get(`${PREFIX}/${path}`)
    if (!tensor) throw new Error(`the weights hold no ${PREFIX}/${path}`)
    return tensor
  }

  /** The three embedding tables come as unnamed tensors and are told apart by their number of rows. */
  #table(rows) {
    for (const [name, tensor] of this.#tensors) {
      if (name.includes('unknown') && tensor.shape[0] === rows && tensor.shape[1] === HIDDEN) return tensor
    }
    throw new Error(`the weights hold no table of ${rows} × ${HIDDEN}`)
  }
}
