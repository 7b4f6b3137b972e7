/** Writes ZIP archives as programs do, and as those who mean harm do. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipPart {
  readonly content: string | Uint8Array
  /** What the archive says instead of the truth. */
  readonly saysSize?: number
  readonly isEncrypted?: boolean
}

export function zipOf(parts: Readonly<Record<string, string | Uint8Array | ZipPart>>): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const [path, part] of Object.entries(parts)) {
    const { content, saysSize, isEncrypted }: ZipPart =
      typeof part === 'string' || part instanceof Uint8Array ? { content: part } : part
    const data = Buffer.from(content as Uint8Array)
    const packed = deflateRawSync(data, { level: 9 })
    const name = Buffer.from(path)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(0x800 | (isEncrypted === true ? 1 : 0), 2)
    about.writeUInt16LE(8, 4)
    about.writeUInt32LE(crc32(data), 10)
    about.writeUInt32LE(packed.length, 14)
    about.writeUInt32LE(saysSize ?? data.length, 18)
    about.writeUInt16LE(name.length, 22)
    local.push(Buffer.from('PK\x03\x04'), about, name, packed)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    central.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), about, rest, name)
    at += 4 + about.length + name.length + packed.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  const count = Object.keys(parts).length
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...local, directory, Buffer.from('PK\x05\x06'), end])
}
