/** Texts: changed by cutting, doubling, moving and mixing, and by putting in words of the language in question. */
import type { Json } from '../../../src/base/canonical.ts'
import type { Chance } from './chance.ts'
import type { Kind } from './kind.ts'
import { NASTY_PIECES } from './nasty.ts'

export interface TextOptions {
  /** Words and signs of the language. */
  readonly words?: readonly string[]
  /** Longest, in UTF-16 units. Default 4,000. */
  readonly longest?: number
}

export function textKind({ words = [], longest = 4000 }: TextOptions = {}): Kind<string> {
  return {
    make: chance => {
      let text = ''
      for (let left = chance.size(12); left > 0; left--) text += piece(chance, words)
      return text.slice(0, longest)
    },
    change: (text, chance, other) => changeText(text, chance, other, words).slice(0, longest),
    smaller: smallerTexts,
    write: text => text,
    read: asText,
  }
}

/** One to a few changes. */
export function changeText(text: string, chance: Chance, other = '', words: readonly string[] = []): string {
  let changed = text
  for (let left = chance.size(4); left > 0; left--) changed = changeOnce(changed, chance, other, words)
  return changed
}

function changeOnce(text: string, chance: Chance, other: string, words: readonly string[]): string {
  const at = chance.below(text.length + 1)
  const end = Math.min(text.length, at + chance.size(Math.max(2, text.length - at)))
  const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)]
  switch (chance.below(9)) {
    case 0:
    case 1:
      return before + piece(chance, words) + part + after
    case 2:
      return before + piece(chance, words) + after
    case 3:
      return before + after
    case 4:
      return before + part + part + after
    case 5: // once in a while very often: depth and size
      return before + part.repeat(chance.oneIn(4) ? Math.min(1000, Math.ceil(20_000 / (part.length + 1))) : 8) + after
    case 6:
      return part + before + after
    case 7: {
      const from = chance.below(other.length + 1)
      return before + other.slice(from, from + chance.size(Math.max(2, other.length - from))) + after
    }
    default:
      return before + String.fromCharCode(chance.oneIn(3) ? chance.below(0x1_0000) : chance.below(128)) + part + after
  }
}

function piece(chance: Chance, words: readonly string[]): string {
  if (words.length > 0 && !chance.oneIn(3)) return chance.pick(words)
  return chance.oneIn(3) ? String.fromCharCode(32 + chance.below(95)) : chance.pick(NASTY_PIECES)
}

/** Halves away, then quarters, down to single characters; then characters made plain. */
export function* smallerTexts(text: string): Iterable<string> {
  for (let size = text.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= text.length; at += size) yield text.slice(0, at) + text.slice(at + size)
  }
  if (text.length > 200) return
  for (let at = 0; at < text.length; at++) if (text[at] !== 'a') yield `${text.slice(0, at)}a${text.slice(at + 1)}`
}

export function asText(written: Json): string {
  if (typeof written !== 'string') throw new Error('a text must be kept as a text')
  return written
}
