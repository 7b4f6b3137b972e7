/**
 * Which of some messages say anew what another of them said before: later, by the same speaker, on the same subject. Both are
 * shown: to leave the older one out cost a quarter of what was found when it was measured.
 */
import { cosine } from '../../../math/vector.ts'
import { language } from '../../../text/language.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'

/** Cosine of two messages from which on they are about the same. */
const SAME_MEANING = 0.6
/** Without vectors: share of the words of both that they have in common (Dice). */
const SAME_WORDS = 0.5

export interface Statement {
  readonly id: string
  readonly conversation: string
  /** Empty: nobody is named, so nobody said both. */
  readonly speaker: string
  readonly position: number
  readonly text: string
  readonly vector: Float32Array | null
}

/** By message, the ids of those that it is newer than, the oldest first. */
export function newerStatements(said: readonly Statement[]): ReadonlyMap<Statement, readonly string[]> {
  const words = new Map(said.map(each => [each, wordsOf(each.text)]))
  const isSameSubject = (a: Statement, b: Statement): boolean => {
    if (a.vector !== null && b.vector !== null) return cosine(a.vector, b.vector) >= SAME_MEANING
    return dice(words.get(a) as ReadonlySet<string>, words.get(b) as ReadonlySet<string>) >= SAME_WORDS
  }
  return new Map(
    said.map(newer => {
      const older = said.filter(other => isBySame(other, newer) && other.position < newer.position)
      const same = older.filter(other => isSameSubject(other, newer)).sort((a, b) => a.position - b.position)
      return [newer, same.map(({ id }) => id)]
    }),
  )
}

/** Messages from the best on among which order is changed: one that is far behind says little about the question. */
const MOST_MOVED = 10

/** The same messages, each newer statement before the older ones that it stands behind; the others keep their order. */
export function newestFirst<T>(items: readonly T[], isNewer: (item: T, than: T) => boolean): readonly T[] {
  const ordered: T[] = []
  for (const item of items.slice(0, MOST_MOVED)) {
    const before = ordered.findIndex(other => isNewer(item, other))
    if (before < 0) ordered.push(item)
    else ordered.splice(before, 0, item)
  }
  return [...ordered, ...items.slice(MOST_MOVED)]
}

function isBySame(a: Statement, b: Statement): boolean {
  return a.speaker !== '' && a.speaker === b.speaker && a.conversation === b.conversation
}

function wordsOf(text: string): ReadonlySet<string> {
  const of = language(text)
  const words = tokenise(text).filter(({ term, alias }) => !alias && !isStopWord(term, of))
  return new Set(words.map(({ term }) => stem(term, of)))
}

function dice(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return (2 * common) / (a.size + b.size)
}
