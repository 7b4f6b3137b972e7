/** Ids of beliefs that come without one. */
import type { Instant } from '../../../base/clock.ts'

/** A version 7 UUID: 48 bits of Unix time in ms, then chance. */
export function timedId(now: Instant, random: (bytes: number) => Uint8Array): string {
  const bytes = new Uint8Array(16)
  bytes.set(random(10), 6)
  const time = Math.min(Math.max(now, 0), 2 ** 48 - 1)
  new DataView(bytes.buffer).setUint32(0, Math.floor(time / 2 ** 16))
  new DataView(bytes.buffer).setUint16(4, time % 2 ** 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
