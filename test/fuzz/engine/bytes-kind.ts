/** Bytes: bits flipped, numbers replaced by awkward ones, stretches cut, doubled and mixed. Kept as base64. */
import type { Chance } from './chance.ts'
import type { Kind } from './kind.ts'
import { asText } from './text-kind.ts'

export const bytesKind: Kind<Uint8Array> = {
  make: chance => Uint8Array.from({ length: chance.size(64) }, () => chance.below(256)),
  change: (bytes, chance, other) => {
    let changed = bytes
    for (let left = chance.size(6); left > 0; left--) changed = changeOnce(changed, chance, other)
    return changed
  },
  *smaller(bytes) {
    for (let size = bytes.length; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at + size <= bytes.length; at += size) yield splice(bytes, at, at + size)
    }
  },
  write: bytes => Buffer.from(bytes).toString('base64'),
  read: written => new Uint8Array(Buffer.from(asText(written), 'base64')),
}

const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] as const

function changeOnce(bytes: Uint8Array, chance: Chance, other: Uint8Array): Uint8Array {
  const at = chance.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + chance.size(Math.max(2, Math.min(64, bytes.length - at))))
  switch (chance.below(8)) {
    case 0:
      return splice(bytes, at, end)
    case 1:
      return splice(bytes, at, at, bytes.subarray(at, end))
    case 2:
      return bytes.subarray(0, at)
    case 3: {
      const from = chance.below(other.length + 1)
      return splice(bytes, at, end, other.subarray(from, from + (end - at)))
    }
    case 4: {
      const changed = bytes.slice()
      if (at + 4 <= changed.length) new DataView(changed.buffer).setUint32(at, chance.pick(EDGES), true)
      return changed
    }
    case 5:
      return splice(bytes, at, Math.min(at + 1, bytes.length), Uint8Array.of(chance.pick(EDGES) & 0xff))
    default: {
      const changed = bytes.slice()
      if (at < changed.length) changed[at] = (changed[at] as number) ^ (1 << chance.below(8))
      return changed
    }
  }
}

function splice(bytes: Uint8Array, from: number, to: number, put: Uint8Array = new Uint8Array()): Uint8Array {
  const spliced = new Uint8Array(bytes.length - (to - from) + put.length)
  spliced.set(bytes.subarray(0, from))
  spliced.set(put, from)
  spliced.set(bytes.subarray(to), from + put.length)
  return spliced
}
