/** The order in which some messages were said, and which of them say again what another of them said before. */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { cosine } from '../../../math/vector.ts'
import { language } from '../../../text/language.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { eachToken } from '../../../text/tokenise.ts'

export interface SaidAt {
  /** Only messages of one thread have positions in one order. */
  readonly thread: string
  readonly position: number
  readonly at: Instant | null
}

/**
 * Their places in the list, the earliest first. What bears no time was said with the one before it in its thread, or else
 * with the one after it; a thread without any time comes last. Of one moment, the thread that is first in the list.
 */
export function saidOrder(messages: readonly SaidAt[]): readonly number[] {
  const threads = Map.groupBy(messages.keys(), place => (messages[place] as SaidAt).thread)
  const placed = [...threads.values()].flatMap((places, thread) => {
    const ordered = places.map(place => ({ place, ...(messages[place] as SaidAt) })).sort(byPosition)
    let last = ordered.find(({ at }) => at !== null)?.at ?? Number.POSITIVE_INFINITY
    return ordered.map(({ place, position, at }) => {
      last = at ?? last
      return { place, thread, position, at: last }
    })
  })
  const byTime = placed.sort((a, b) => compare(a.at, b.at) || a.thread - b.thread || byPosition(a, b))
  return byTime.map(({ place }) => place)
}

function byPosition(a: Pick<SaidAt, 'position'>, b: Pick<SaidAt, 'position'>): number {
  return a.position - b.position
}

/** Of infinities too, whose difference is no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/**
 * Two messages are on one subject when they share so many words of content, which are such a share of theirs (Dice), and,
 * where both have vectors, are as near as this. A cosine alone says little: in one conversation all is near.
 */
const MIN_SHARED = 2
const MIN_SHARE = 0.15
const MIN_COSINE = 0.35

export interface Statement extends SaidAt {
  readonly id: string
  /** Empty: nobody is named, so nobody said both. */
  readonly speaker: string
  readonly text: string
  readonly vector: Float32Array | null
}

/**
 * By message, the ids of those that it is newer than, the oldest first: of the same speaker, on the same subject. Both are shown:
 * to leave the older one out cost a quarter of what was found when it was measured. A step for each message: all before it are
 * looked at.
 */
export function* newerStatements(said: readonly Statement[]): Steps<ReadonlyMap<Statement, readonly string[]>> {
  const known = new Map<Statement, ReadonlySet<string>>()
  let of: Language | undefined
  const words = (each: Statement): ReadonlySet<string> => {
    of ??= language(said.map(({ text }) => text.slice(0, SAMPLED)).join('\n'))
    const found = known.get(each) ?? wordsOf(each.text, of)
    known.set(each, found)
    return found
  }
  const isSameSubject = (a: Statement, b: Statement): boolean => {
    if (!isShared(words(a), words(b))) return false
    return a.vector === null || b.vector === null || cosine(a.vector, b.vector) >= MIN_COSINE
  }
  const ordered = saidOrder(said).map(place => said[place] as Statement)
  const idsOfOlder = new Map<Statement, readonly string[]>()
  for (const [at, newer] of ordered.entries()) {
    const older = ordered.slice(0, at).filter(other => isBySame(other, newer) && isSameSubject(other, newer))
    idsOfOlder.set(
      newer,
      older.map(({ id }) => id),
    )
    yield
  }
  return idsOfOlder
}

/** Messages from the best on among which order is changed: one that is far behind says little about the question. */
const MAX_MOVED = 10

/** The same messages, each newer statement before the older ones that it stands behind; the others keep their order. */
export function newestFirst<T>(items: readonly T[], isNewer: (item: T, than: T) => boolean): readonly T[] {
  const ordered: T[] = []
  for (const item of items.slice(0, MAX_MOVED)) {
    const before = ordered.findIndex(other => isNewer(item, other))
    if (before < 0) ordered.push(item)
    else ordered.splice(before, 0, item)
  }
  return [...ordered, ...items.slice(MAX_MOVED)]
}

function isBySame(a: Statement, b: Statement): boolean {
  return a.speaker !== '' && a.speaker === b.speaker && a.thread === b.thread
}

/** Characters of each message by which their language is recognised. */
const SAMPLED = 100

function wordsOf(text: string, of: Language): ReadonlySet<string> {
  const words = new Set<string>()
  eachToken(text, (term, _start, _end, alias) => {
    if (!alias && !isStopWord(term, of)) words.add(stem(term, of))
  })
  return words
}

function isShared(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  let common = 0
  for (const word of a) if (b.has(word)) common++
  return common >= MIN_SHARED && (2 * common) / (a.size + b.size) >= MIN_SHARE
}
