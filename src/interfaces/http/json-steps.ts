/** A large answer as one JSON document, written in pieces so that others on this thread have their turn (QE-019). */
import { isRecord } from '../../base/record.ts'
import type { Steps } from '../../base/turns.ts'

/** UTF-16 units of a piece: well under a millisecond of work. */
const PIECE = 64 * 1024

/**
 * The text of `JSON.stringify(value)` in pieces, a step for each. A list in the value itself is written element by element; what
 * lies deeper is written at once.
 */
export function* jsonInSteps(value: unknown): Steps<readonly string[]> {
  const pieces: string[] = []
  let piece = ''
  for (const part of partsOf(value)) {
    piece += part
    if (piece.length < PIECE) continue
    pieces.push(piece)
    piece = ''
    yield
  }
  return [...pieces, piece]
}

function* partsOf(value: unknown): Generator<string> {
  if (!isRecord(value) || 'toJSON' in value) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  yield '{'
  let isFirst = true
  for (const [name, member] of Object.entries(value)) {
    const written = Array.isArray(member) ? '' : JSON.stringify(member)
    if (written === undefined) continue
    yield `${isFirst ? '' : ','}${JSON.stringify(name)}:${written}`
    isFirst = false
    if (Array.isArray(member)) yield* elementsOf(member)
  }
  yield '}'
}

function* elementsOf(list: readonly unknown[]): Generator<string> {
  yield '['
  for (const [at, element] of list.entries()) yield `${at === 0 ? '' : ','}${JSON.stringify(element) ?? 'null'}`
  yield ']'
}
