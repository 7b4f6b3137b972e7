/** Cards as the store keeps them. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { READING_VERSION } from '../extract/concept.ts'
import type { Card } from '../extract/resolve/card.ts'

export function cardRow(entry: EntryKey, card: Card): Row {
  const { hash, surfaceHash: surface, named, asked } = card
  return {
    entry,
    version: READING_VERSION,
    hash,
    surface,
    named: bytesOf(named),
    asked: bytesOf(asked),
    package: card.package,
  }
}

export function cardIn(row: Row): Card {
  return {
    hash: row['hash'] as string,
    surfaceHash: row['surface'] as string,
    named: hashesIn(row['named'] as Uint8Array),
    asked: hashesIn(row['asked'] as Uint8Array),
    package: row['package'] as string | null,
  }
}

function bytesOf(hashes: Uint32Array): Uint8Array {
  return new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength)
}

/** A copy: bytes out of a store may begin anywhere. */
function hashesIn(bytes: Uint8Array): Uint32Array {
  const hashes = new Uint32Array(bytes.length >> 2)
  bytesOf(hashes).set(bytes.subarray(0, hashes.byteLength))
  return hashes
}
