// The part of the protobuf wire format that an ONNX file needs: every function returns the bytes of one field.
// https://protobuf.dev/programming-guides/encoding

const VARINT = 0
const BYTES = 2
const FIXED32 = 5

/** int32, int64 and enum fields. Negative numbers take ten bytes: two's complement of 64 bits. */
export function intField(number, value) {
  return Buffer.concat([tag(number, VARINT), varint(value)])
}

export function floatField(number, value) {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([tag(number, FIXED32), bytes])
}

export function bytesField(number, bytes) {
  return Buffer.concat([tag(number, BYTES), varint(bytes.length), bytes])
}

export function stringField(number, text) {
  return bytesField(number, Buffer.from(text, 'utf8'))
}

/** A nested message, made of its own fields. */
export function messageField(number, fields) {
  return bytesField(number, Buffer.concat(fields))
}

function tag(number, wireType) {
  return varint((number << 3) | wireType)
}

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes = []
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}
