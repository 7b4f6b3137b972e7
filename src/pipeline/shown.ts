/**
 * What the pages of an answer have shown so far, short enough for a cursor: where the order is not held (in another process,
 * after a restart), nothing of it comes again, wherever it would stand by now.
 */
import { sha256 } from '../base/canonical.ts'
import type { Named } from '../model/candidate.ts'
import type { Position } from '../model/query.ts'

/** The last ones: cursors should not grow for ever. Those before stand far above where the next page begins. */
const MOST = 200
/** Of an entry's hash: among ten thousand entries one in a hundred million questions takes one for another by chance. */
const BYTES = 6

/** With these shown too. Hashed with the store's secret: or who chooses ids could make one that stands for another's. */
export function alsoShown(before: string, items: readonly Named[], secret: string): string {
  const hashes = [Buffer.from(before, 'base64url'), ...items.map(item => hashOf(item, secret))]
  return Buffer.concat(hashes)
    .subarray(-MOST * BYTES)
    .toString('base64url')
}

/** Whether something was among the last that were shown. */
export function wasShown(shown: string, secret: string): (item: Named) => boolean {
  const bytes = Buffer.from(shown, 'base64url')
  const hashes = new Set<number>()
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) hashes.add(bytes.readUIntBE(at, BYTES))
  return item => hashes.has(hashOf(item, secret).readUIntBE(0, BYTES))
}

/** Whether all that the pages so far have shown can be known again: then what has sunk since does not come twice. */
export function allKnown(after: Position | null): boolean {
  return after === null || forgotten(after) === 0
}

/** Of how many that were shown it is not known any more which they are. */
export function forgotten({ rank }: Position): number {
  return Math.max(0, rank - MOST)
}

function hashOf({ id, holder, passage }: Named, secret: string): Buffer {
  const name = [id, holder, ...(passage === undefined ? [] : [passage])]
  return Buffer.from(sha256(JSON.stringify([secret, 'shown', ...name])).slice(0, 2 * BYTES), 'hex')
}
