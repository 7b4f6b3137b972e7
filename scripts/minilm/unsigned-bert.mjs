// The model as it was built at first, to compare vectors and speed with: unsigned weights, a mask, and operators of the
// ONNX standard where there are any.

import { ElementType } from '../onnx/onnx-graph.mjs'
import { BertBuilder, HEADS, MICROSOFT } from './bert.mjs'

export class UnsignedBertBuilder extends BertBuilder {
  #mask

  addInputs() {
    super.addInputs()
    this.graph.input('attention_mask', ElementType.INT64, ['batch', 'sequence'])
    this.#mask = this.graph.apply('mask', 'Cast', ['attention_mask'], { attributes: { to: ElementType.INT32 } })
  }

  attention(layer, source, input) {
    const heads = ['query', 'key', 'value'].map(part => this.dense(`${layer}_${part}`, `${source}/${part}`, input))
    return this.graph.apply(`${layer}_attention`, 'MultiHeadAttention', [...heads, '', this.#mask], {
      attributes: { num_heads: HEADS },
      domain: MICROSOFT,
    })
  }

  dense(name, source, x) {
    const { graph } = this
    const tensors = this.denseTensors(source)
    const weight = this.quantisedConstant(`${name}_weight`, tensors.weight)
    const bias = this.floatConstant(`${name}_bias`, tensors.bias)
    const input = this.quantise(x)
    const whole = graph.apply(`${name}_int`, 'MatMulInteger', [input.values, weight.values, input.zero, weight.zero])
    const real = graph.apply(`${name}_float`, 'Cast', [whole], { attributes: { to: ElementType.FLOAT } })
    const scale = graph.apply(`${name}_scale`, 'Mul', [input.scale, weight.scale])
    const product = graph.apply(`${name}_product`, 'Mul', [real, scale])
    return graph.apply(name, 'Add', [product, bias])
  }
}
