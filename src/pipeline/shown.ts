/**
 * What the pages of an answer have shown so far, short enough for a cursor: where the order is not held (in another process,
 * after a restart), nothing of it comes again, wherever it would stand by now.
 */
import { sha256 } from '../base/canonical.ts'
import type { Named } from '../model/candidate.ts'

/** The last ones: cursors should not grow for ever. Those before stand far above where the next page begins. */
const MOST = 200
/** Of an entry's hash: among a thousand entries one in ten thousand questions takes one for another. */
const BYTES = 4

/** With these shown too. */
export function alsoShown(before: string, items: readonly Named[]): string {
  const hashes = [Buffer.from(before, 'base64url'), ...items.map(hashOf)]
  return Buffer.concat(hashes)
    .subarray(-MOST * BYTES)
    .toString('base64url')
}

/** Whether something was among the last that were shown. */
export function wasShown(shown: string): (item: Named) => boolean {
  const bytes = Buffer.from(shown, 'base64url')
  const hashes = new Set<number>()
  for (let at = 0; at < bytes.length; at += BYTES) hashes.add(bytes.readUInt32BE(at))
  return item => hashes.has(hashOf(item).readUInt32BE(0))
}

function hashOf({ id, holder }: Named): Buffer {
  return Buffer.from(sha256(JSON.stringify([id, holder])).slice(0, 2 * BYTES), 'hex')
}
