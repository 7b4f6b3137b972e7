// Builds an ONNX graph step by step and writes it as an ONNX file. Field numbers are those of onnx.proto3.
import { bytesField, floatField, intField, messageField, stringField } from './protobuf.mjs'

/** TensorProto.DataType */
export const ElementType = { FLOAT: 1, UINT8: 2, INT8: 3, INT32: 6, INT64: 7 }
/** AttributeProto.AttributeType */
const AttributeKind = { FLOAT: 1, INT: 2 }
const IR_VERSION = 9

export class OnnxGraph {
  #name
  #nodes = []
  #constants = []
  #inputs = []
  #outputs = []

  constructor(name) {
    this.#name = name
  }

  /** `shape` holds sizes, or names for sizes known only at run time. */
  input(name, elementType, shape) {
    this.#inputs.push(valueInfo(11, name, elementType, shape))
    return name
  }

  output(name, elementType, shape) {
    this.#outputs.push(valueInfo(12, name, elementType, shape))
    return name
  }

  /** A constant tensor; `values` is a typed array of the element type, written little-endian. Returns its name. */
  constant(name, elementType, shape, values) {
    const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    const sizes = shape.map(size => intField(1, size))
    this.#constants.push(
      messageField(5, [...sizes, intField(2, elementType), stringField(8, name), bytesField(9, raw)]),
    )
    return name
  }

  /** Applies an operator and returns the name of its result, which is also the name of the node. */
  apply(name, operator, inputs, options = {}) {
    this.applyMany([name], operator, inputs, options)
    return name
  }

  /** The same for an operator of several results; the first names the node. An unused input is ''. */
  applyMany(outputs, operator, inputs, { attributes = {}, domain = '' } = {}) {
    this.#nodes.push(
      messageField(1, [
        ...inputs.map(input => stringField(1, input)),
        ...outputs.map(output => stringField(2, output)),
        stringField(3, outputs[0]),
        stringField(4, operator),
        ...Object.entries(attributes).map(([key, value]) => attribute(key, value)),
        ...(domain === '' ? [] : [stringField(7, domain)]),
      ]),
    )
    return outputs
  }

  /** The whole file. `opsets` maps an operator domain to its version. */
  toFile(producer, opsets) {
    const graph = [...this.#nodes, stringField(2, this.#name), ...this.#constants, ...this.#inputs, ...this.#outputs]
    return Buffer.concat([
      intField(1, IR_VERSION),
      stringField(2, producer),
      messageField(7, graph),
      ...Object.entries(opsets).map(([domain, version]) =>
        messageField(8, [stringField(1, domain), intField(2, version)]),
      ),
    ])
  }
}

/** Whole numbers are written as INT, others as FLOAT. */
function attribute(name, value) {
  const [payload, kind] = Number.isInteger(value)
    ? [intField(3, value), AttributeKind.INT]
    : [floatField(2, value), AttributeKind.FLOAT]
  return messageField(5, [stringField(1, name), payload, intField(20, kind)])
}

function valueInfo(field, name, elementType, shape) {
  const dimensions = shape.map(size =>
    messageField(1, [typeof size === 'number' ? intField(1, size) : stringField(2, size)]),
  )
  const tensorType = messageField(1, [intField(1, elementType), messageField(2, dimensions)])
  return messageField(field, [stringField(1, name), messageField(2, [tensorType])])
}
