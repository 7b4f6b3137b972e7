// all-MiniLM-L6-v2 as an ONNX graph over 8-bit weights: token ids in, one vector a token out. Activations are quantised as
// they come, over the range of the whole tensor, and there is no mask: run one text at a time.
import { ElementType, OnnxGraph } from '../onnx/onnx-graph.mjs'
import { toFloats, zeroPoint } from './weights.mjs'

const LAYERS = 6
export const HIDDEN = 384
export const HEADS = 12
/** Attention nodes of a layer. The scores of 4 heads over 256 tokens take 1 MB; those of all 12 do not fit into an L2 cache. */
const ATTENTION_PARTS = 3
const VOCABULARY = 30522
const POSITIONS = 512
const LAYER_NORM_EPSILON = 1e-12
const PREFIX = 'StatefulPartitionedCall/model/tf_bert_model/bert'
export const MICROSOFT = 'com.microsoft'

/** The form of the graph that runs fastest. Its vectors are those of `UnsignedBertBuilder` bit for bit. */
export class BertBuilder {
  graph = new OnnxGraph('all-MiniLM-L6-v2')
  #tensors
  #quantised = new Map()

  /** `tensors`: what `readWeights` returns. */
  constructor(tensors) {
    this.#tensors = tensors
  }

  /** The bytes of model.onnx. */
  build() {
    const { graph } = this
    this.addInputs()
    let hidden = this.#embeddings()
    for (let layer = 0; layer < LAYERS; layer++) hidden = this.#layer(layer, hidden)
    graph.apply('last_hidden_state', 'Identity', [hidden])
    graph.output('last_hidden_state', ElementType.FLOAT, ['batch', 'sequence', HIDDEN])
    return graph.toFile('querent', { '': 20, [MICROSOFT]: 1 })
  }

  addInputs() {
    this.graph.input('input_ids', ElementType.INT64, ['batch', 'sequence'])
  }

  /**
   * softmax(query · key) · value of all heads. Each node projects and mixes some of the heads. Without a mask, ONNX Runtime
   * does not fill the scores with zeros before it adds the products to them.
   */
  attention(layer, source, input) {
    const { graph } = this
    const { values, scale, zero } = this.quantise(input)
    const projections = ['query', 'key', 'value'].map(part => this.denseTensors(`${source}/${part}`))
    const width = HIDDEN / ATTENTION_PARTS
    const parts = Array.from({ length: ATTENTION_PARTS }, (_, part) => {
      const name = `${layer}_attention${part}`
      const cut = projections.map(({ weight, bias }) => ({
        weight: columns(weight, part * width, width),
        bias: columns(bias, part * width, width),
      }))
      const constant = (what, type, values) => graph.constant(`${name}_${what}`, type, [3 * width], values)
      const perColumn = value => cut.flatMap(({ weight }) => new Array(width).fill(value(weight)))
      const weights = graph.constant(`${name}_weight`, ElementType.INT8, [HIDDEN, 3 * width], sideBySide(cut, width))
      const biases = constant(
        'bias',
        ElementType.FLOAT,
        Float32Array.from(cut.flatMap(({ bias }) => [...toFloats(bias)])),
      )
      const scales = constant('scale', ElementType.FLOAT, Float32Array.from(perColumn(weight => weight.scale)))
      const zeros = constant('zero', ElementType.INT8, Int8Array.from(perColumn(signedZeroPoint)))
      const attributes = { num_heads: HEADS / ATTENTION_PARTS }
      const inputs = [values, weights, biases, scale, scales, '', zero, zeros]
      return graph.apply(name, 'QAttention', inputs, { attributes, domain: MICROSOFT })
    })
    return graph.apply(`${layer}_attention`, 'Concat', parts, { attributes: { axis: -1 } })
  }

  /**
   * x · W + b with W and x in 8 bits, the sum in 32 bits. Matrices are stored [in, out]: no transpose. As signed bytes:
   * 128 less in the weights and in their zero point leaves every difference as it is, and ONNX Runtime multiplies unsigned
   * activations by signed weights 1.75 times as fast (one thread, x64 with VNNI).
   */
  dense(name, source, x) {
    const { graph } = this
    const { weight, bias } = this.denseTensors(source)
    const inputs = [
      x,
      graph.constant(`${name}_weight`, ElementType.INT8, weight.shape, signed(weight.bytes)),
      graph.constant(`${name}_scale`, ElementType.FLOAT, [], Float32Array.of(weight.scale)),
      graph.constant(`${name}_zero`, ElementType.INT8, [], Int8Array.of(signedZeroPoint(weight))),
      this.floatConstant(`${name}_bias`, bias),
    ]
    return graph.apply(name, 'DynamicQuantizeMatMul', inputs, { domain: MICROSOFT })
  }

  denseTensors(source) {
    return {
      weight: this.#tensor(`${source}/Tensordot/ReadVariableOp`),
      bias: this.#tensor(`${source}/BiasAdd/ReadVariableOp`),
    }
  }

  /** Once a value, however many matrices it meets. */
  quantise(x) {
    const known = this.#quantised.get(x)
    if (known) return known
    const made = { values: `${x}_q`, scale: `${x}_q_scale`, zero: `${x}_q_zero` }
    this.graph.applyMany([made.values, made.scale, made.zero], 'DynamicQuantizeLinear', [x])
    this.#quantised.set(x, made)
    return made
  }

  /** The bytes of a tensor with their scale and zero point. */
  quantisedConstant(name, tensor) {
    const { graph } = this
    return {
      values: graph.constant(name, ElementType.UINT8, tensor.shape, tensor.bytes),
      scale: graph.constant(`${name}_scale`, ElementType.FLOAT, [], Float32Array.of(tensor.scale)),
      zero: graph.constant(`${name}_zero`, ElementType.UINT8, [], Uint8Array.of(zeroPoint(tensor))),
    }
  }

  floatConstant(name, tensor) {
    return this.graph.constant(name, ElementType.FLOAT, tensor.shape, toFloats(tensor))
  }

  /** Word vector + position vector + vector of the (only) token type, normalised. */
  #embeddings() {
    const { graph } = this
    const words = this.quantisedConstant('words', this.#table(VOCABULARY))
    const rows = graph.apply('word_rows', 'Gather', [words.values, 'input_ids'])
    const word = graph.apply('word_vectors', 'DequantizeLinear', [rows, words.scale, words.zero])
    const sum = graph.apply('embeddings', 'Add', [word, this.#positionVectors()])
    return this.#layerNorm('embeddings_norm', 'embeddings', sum)
  }

  #layer(index, input) {
    const { graph } = this
    const source = `encoder/layer_._${index}`
    const layer = `layer${index}`
    const mixed = this.attention(layer, `${source}/attention/self`, input)
    const attended = this.#residual(`${layer}_attended`, `${source}/attention/output`, mixed, input)
    const middle = this.dense(`${layer}_middle`, `${source}/intermediate/dense`, attended)
    const active = graph.apply(`${layer}_gelu`, 'Gelu', [middle])
    return this.#residual(`${layer}_output`, `${source}/output`, active, attended)
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

  /** dense(x) + skipped, normalised. Not SkipLayerNormalization: it rounds otherwise, and vectors would change. */
  #residual(name, source, x, skipped) {
    const projected = this.dense(`${name}_dense`, `${source}/dense`, x)
    const sum = this.graph.apply(`${name}_sum`, 'Add', [projected, skipped])
    return this.#layerNorm(`${name}_norm`, source, sum)
  }

  #layerNorm(name, source, x) {
    const gamma = this.floatConstant(`${name}_gamma`, this.#tensor(`${source}/LayerNorm/batchnorm/mul/ReadVariableOp`))
    const beta = this.floatConstant(`${name}_beta`, this.#tensor(`${source}/LayerNorm/batchnorm/ReadVariableOp`))
    return this.graph.apply(name, 'LayerNormalization', [x, gamma, beta], {
      attributes: { axis: -1, epsilon: LAYER_NORM_EPSILON },
    })
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

/** `count` columns of a matrix from `first` on; of a vector, so many elements. */
function columns(tensor, first, count) {
  const width = tensor.shape.at(-1)
  const bytes = Uint8Array.from(
    { length: (tensor.bytes.length / width) * count },
    (_, i) => tensor.bytes[Math.floor(i / count) * width + first + (i % count)],
  )
  return { ...tensor, shape: [...tensor.shape.slice(0, -1), count], bytes }
}

/** One matrix of signed bytes whose rows are the rows of all, each `width` long. */
function sideBySide(matrices, width) {
  const joined = new Int8Array(HIDDEN * matrices.length * width)
  matrices.forEach(({ weight }, at) => {
    const bytes = signed(weight.bytes)
    for (let row = 0; row < HIDDEN; row++) {
      joined.set(bytes.subarray(row * width, (row + 1) * width), (row * matrices.length + at) * width)
    }
  })
  return joined
}

function signed(bytes) {
  return Int8Array.from(bytes, byte => byte - 128)
}

function signedZeroPoint(tensor) {
  return zeroPoint(tensor) - 128
}
