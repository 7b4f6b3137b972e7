// Reads arrays of an .npz file: a zip of .npy files, each a header and the values in C order.
import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'

const MAGIC = '\x93NUMPY'
const TYPES = { '|u1': Uint8Array, '|i1': Int8Array, '<f4': Float32Array, '<f8': Float64Array }

/** Content of the wanted entries of a zip by their names. */
export async function unzip(bytes, isWanted) {
  const zip = await fromBufferPromise(bytes, { autoClose: false })
  const found = new Map()
  for await (const entry of zip.eachEntry()) {
    if (isWanted(entry.fileName)) found.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  return found
}

/** Arrays by name: `{ shape, values }`. */
export async function readArrays(npz) {
  const files = await unzip(npz, () => true)
  return new Map([...files].map(([name, bytes]) => [name.replace(/\.npy$/, ''), readArray(name, bytes)]))
}

function readArray(name, bytes) {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC || bytes[6] !== 1)
    throw new Error(`${name}: not a .npy file of version 1`)
  const end = 10 + bytes.readUInt16LE(8)
  const header = bytes.toString('latin1', 10, end)
  const [, type] = /'descr': '([^']+)'/.exec(header) ?? []
  const [, sizes] = /'shape': \(([^)]*)\)/.exec(header) ?? []
  const Values = TYPES[type]
  if (Values === undefined || sizes === undefined || !header.includes("'fortran_order': False")) {
    throw new Error(`${name}: expected an array of ${Object.keys(TYPES).join(', ')} in C order, found ${header.trim()}`)
  }
  const data = bytes.subarray(end)
  const values = new Values(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
  return {
    shape: sizes
      .split(',')
      .filter(size => size.trim() !== '')
      .map(Number),
    values,
  }
}
