/**
 * What a query asks for besides its words: a time, statements of the assistant, or the present state of something. Recognised in English
 * and Spanish.
 */

import type { Bitset } from '../../../base/bitset.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'
import type { Role } from '../model.ts'
import { type AskedTexts, type AskedWord, type WordCounts, WordStems } from './bm25.ts'

export interface Question {
  /** Whether the query asks for a time or a date. */
  readonly when: boolean
  /** Whether the query is about what the assistant itself said or did. */
  readonly ofAssistant: boolean
  /** Whether the query asks how something is now, rather than how it was. */
  readonly now: boolean
  /** Words of the query in order, folded (without case and accents). */
  readonly words: readonly string[]
  /** Words of the query that begin with a capital letter, folded (without case and accents). */
  readonly capitals: ReadonlySet<string>
}

export function questionOf(text: string): Question {
  const plain = text.normalize('NFC').toLowerCase()
  const tokens = tokenise(text).filter(({ alias }) => !alias)
  const isCapital = (start: number) => /^\p{Lu}/u.test(text.slice(start, start + 2))
  return {
    when: WHEN.test(plain),
    ofAssistant: isOfAssistant(plain),
    now: NOW.test(plain),
    words: tokens.map(({ term }) => term),
    capitals: new Set(tokens.filter(({ start }) => isCapital(start)).map(({ term }) => term)),
  }
}

export interface Speaker {
  readonly speaker: string
  /** Words of the speaker's name, folded (without case and accents), the first name first. */
  readonly names: readonly string[]
}

/** The distinct speakers of a conversation. */
export function speakersOf(speakers: Iterable<string>): readonly Speaker[] {
  return [...new Set(speakers)].map(speaker => {
    const tokens = tokenise(speaker).filter(({ alias }) => !alias)
    return { speaker, names: tokens.map(({ term }) => term) }
  })
}

/**
 * The one speaker whom the query names, by first name or in full; null when it names no speaker, or several. A first name that is also a
 * common word ("Will", "May") counts only with a capital letter.
 */
export function namedSpeaker(speakers: readonly Speaker[], { words, capitals }: Question): string | null {
  const named = speakers.filter(({ names }) => {
    const first = names[0]
    return first !== undefined && words.includes(first) && (!isCommon(first) || capitals.has(first))
  })
  if (named.length === 0 || named.some(({ names }) => names[0] !== named[0]?.names[0])) return null
  const meant = named.length === 1 ? named : named.filter(({ names }) => names.every(name => words.includes(name)))
  return meant.length === 1 ? (meant[0]?.speaker ?? null) : null
}

function isCommon(word: string): boolean {
  return isStopWord(word, 'en') || isStopWord(word, 'es')
}

const WHEN = new RegExp(
  String.raw`^[\s¿¡"']*(?:(?:and|so|but|y|pero|entonces),? )?(?:` +
    String.raw`when\b|(?:since|until) when\b|how long\b|(?:(?:in|on|at) )?(?:what|which) (?:date|day|month|year|time)s?\b|` +
    String.raw`(?:desde |hasta |para )?cu[áa]ndo(?!\p{L})|(?:(?:desde |hasta )?hace )?cu[áa]nto (?:tiempo|hace)(?!\p{L})|hace cu[áa]nto(?!\p{L})|` +
    String.raw`(?:(?:en|de|a|desde|hasta) )?(?:qu[ée]|cu[áa]l) (?:fecha|d[íi]a|mes|año|hora)(?!\p{L}))`,
  'u',
)

/** Whether "you" in the query refers to the assistant and what it said; polite phrases such as "can you tell me" do not count. */
function isOfAssistant(plain: string): boolean {
  const left = plain
    .replace(/\b(?:can|could|would|will) you\b|\byou (?:please )?(?:tell|remind)\b|\bdo you (?:know|remember)\b/g, ' ')
    .replace(/(?<!\p{L})(?:me )?(?:puedes|podr[íi]as|quieres)(?!\p{L})/gu, ' ')
  return ADDRESSED.test(left)
}

const ADDRESSED = new RegExp(
  String.raw`\b(?:you|your|yours|yourself)\b|(?<!\p{L})(?:tú|tus?|ti|contigo|tuy[oa]s?|usted)(?!\p{L})|` +
    String.raw`(?<!\p{L})(?:(?:me|nos) \p{L}+[ai]ste|dijiste|recomendaste|sugeriste|explicaste|propusiste|escribiste|` +
    String.raw`hiciste|preparaste|calculaste|resumiste|has (?:dicho|hecho|dado|escrito|\p{L}+[ai]do))(?!\p{L})`,
  'u',
)

const NOW = new RegExp(
  String.raw`(?<!\p{L})(?:now|current|currently|latest|these days|at the moment|nowadays|` +
    String.raw`ahora|actual|actuales|actualmente|hoy en d[íi]a|[úu]ltim[oa]s?)(?!\p{L})`,
  'u',
)

// A conversation at one moment: the messages that existed at that moment, and the text units (messages or pieces of them) in which words
// are searched.

export interface Spoken {
  readonly entry: EntryKey
  readonly session: string
  readonly position: number
  readonly speaker: string
  readonly role: Role | null
  /** Whether the message mentions a date, an hour, or a time such as "last weekend". */
  readonly saysTime: boolean
  /** Index of the message's text unit in the conversation's `units`; where the message has several units, of the first. */
  readonly unit: number
}

/** All messages of a conversation with their word counts. */
export interface Recorded {
  /** Messages in the order in which they were said. */
  readonly spoken: readonly Spoken[]
  /**
   * `units`: word counts of the text units in which words are searched, which are whole messages or pieces of them. `unitMessages`: the
   * message of each unit. Between people, each message is one unit, counted with its surrounding text.
   */
  readonly units: WordCounts
  readonly unitMessages: readonly number[]
  readonly isOfPeople: boolean
}

export interface Moment {
  /** Messages that existed at that moment, in the order in which they were said. */
  readonly said: readonly Spoken[]
  readonly sessions: Int32Array
  readonly speakers: readonly Speaker[]
  /** Word counts of the text units in which words are searched: whole messages, or pieces of them in a chat with an assistant. */
  readonly units: AskedTexts
  /** `unitMessage`: for each text unit, the position of its message; `unitOrdinal`: the unit's index among those of its message, from 0. */
  readonly unitMessage: Int32Array
  readonly unitOrdinal: Int32Array
  /** Blocks of neighbouring messages, which are scored as one text; null in a chat with an assistant, which has none. */
  readonly blocks: { readonly of: Blocks; readonly texts: AskedTexts } | null
}

/**
 * The conversation without the entries `left`, which did not exist at the moment in question; null: all existed. Pauses between steps for
 * other work, and covers the messages that exist at the start.
 */
export function* momentOf(recorded: Recorded, left: Bitset | null): Steps<Moment> {
  const { units, isOfPeople } = recorded
  const spoken = recorded.spoken.slice()
  const unitMessages = Int32Array.from(recorded.unitMessages)
  const placeOf = new Int32Array(spoken.length).fill(-1)
  const said: Spoken[] = []
  for (const [at, message] of spoken.entries()) {
    if (left?.has(message.entry) === true) continue
    placeOf[at] = said.length
    said.push(message)
  }
  yield
  const sessions = sessionNumbers(said)
  const speakers = speakersOf(said.map(({ speaker }) => speaker))
  yield
  const asked: number[] = []
  const unitOf = unitMessages.map((message, unit) => ((placeOf[message] as number) < 0 ? -1 : asked.push(unit) - 1))
  const lengths = Float64Array.from(asked, unit => units.lengthOf(unit, isOfPeople))
  yield
  return {
    said,
    sessions,
    speakers,
    units: {
      ...{ counts: units, withAround: isOfPeople, lengths, meanLength: mean(lengths) },
      ...{ textOf: unitOf, alsoTextOf: null },
    },
    unitMessage: Int32Array.from(asked, unit => placeOf[unitMessages[unit] as number] as number),
    unitOrdinal: Int32Array.from(asked, unit => unit - (spoken[unitMessages[unit] as number] as Spoken).unit),
    blocks: isOfPeople ? yield* blockTexts(units, placeOf, sessions) : null,
  }
}

/** Joins the texts of the messages of each block of neighbouring messages, without their surrounding texts. */
function* blockTexts(messages: WordCounts, placeOf: Int32Array, sessions: Int32Array): Steps<Moment['blocks']> {
  const blocks = blocksOf(sessions)
  yield
  const of = (side: Int32Array) => placeOf.map(place => (place < 0 ? -1 : (side[place] as number)))
  const [textOf, alsoTextOf] = [of(blocks.first), of(blocks.second)]
  const lengths = new Float64Array(blocks.count)
  for (let at = 0; at < placeOf.length; at++) {
    const length = messages.lengthOf(at, false)
    for (const block of [textOf[at] as number, alsoTextOf[at] as number]) {
      if (block >= 0) lengths[block] = (lengths[block] as number) + length
    }
  }
  return {
    of: blocks,
    texts: { counts: messages, withAround: false, lengths, meanLength: mean(lengths), textOf, alsoTextOf },
  }
}

function sessionNumbers(said: readonly Spoken[]): Int32Array {
  const numbers = new Map<string, number>()
  return Int32Array.from(said, ({ session }) => {
    const known = numbers.get(session)
    if (known !== undefined) return known
    numbers.set(session, numbers.size)
    return numbers.size - 1
  })
}

/** Mean length of the texts; 1 where all are empty, so that lengths can be divided by it. */
function mean(lengths: Float64Array): number {
  let sum = 0
  for (const length of lengths) sum += length
  return sum > 0 ? sum / lengths.length : 1
}

/**
 * Number of messages in a block of neighbouring messages (BLOCK), and distance in messages between the starts of consecutive blocks
 * (STRIDE).
 */
const BLOCK = 8
const STRIDE = 4

/**
 * Overlapping blocks of neighbouring messages of a session. They are scored as one text, since the subject of a message is often named only
 * by the messages around it.
 */
export interface Blocks {
  readonly count: number
  /** For each message, the number of the block that contains it, and of a second such block in `second`; -1: there is no second block. */
  readonly first: Int32Array
  readonly second: Int32Array
  /** For each block, the positions of its messages. */
  readonly members: readonly (readonly number[])[]
}

/**
 * Divides the messages into overlapping blocks, each within one session. `sessions`: the number of each message's session, in order. A
 * block is made only if it contains a message that the block before it does not.
 */
function blocksOf(sessions: Int32Array): Blocks {
  const first = new Int32Array(sessions.length)
  const second = new Int32Array(sessions.length).fill(-1)
  const sizes = new Map<number, number>()
  for (const session of sessions) sizes.set(session, (sizes.get(session) ?? 0) + 1)
  const firstBlocks = new Map<number, number>()
  let count = 0
  for (const [session, size] of sizes) {
    firstBlocks.set(session, count)
    count += blocksIn(size)
  }
  const members = Array.from({ length: count }, (): number[] => [])
  const passed = new Map<number, number>()
  for (const [at, session] of sessions.entries()) {
    const place = passed.get(session) ?? 0
    passed.set(session, place + 1)
    const base = firstBlocks.get(session) as number
    const last = blocksIn(sizes.get(session) as number) - 1
    const newest = Math.min(Math.floor(place / STRIDE), last)
    first[at] = base + newest
    members[base + newest]?.push(at)
    const before = newest - 1
    if (before < 0 || place >= before * STRIDE + BLOCK) continue
    second[at] = base + before
    members[base + before]?.push(at)
  }
  return { count, first, second, members }
}

function blocksIn(size: number): number {
  return size <= BLOCK ? 1 : 1 + Math.ceil((size - BLOCK) / STRIDE)
}

// Prepares the words of a query by which messages are ranked.

/** Query words without duplicates, their boosts added up; stop words of the query's language are left out. */
export function askedWords(terms: readonly { readonly text: string; readonly boost: number }[]): readonly AskedWord[] {
  const boosts = new Map<string, number>()
  for (const { text, boost } of terms) {
    for (const { term } of tokenise(text)) boosts.set(term, (boosts.get(term) ?? 0) + boost)
  }
  const languages = languagesOfQuestion([...boosts.keys()])
  return [...boosts].flatMap(([word, boost]) =>
    languages.some(language => isStopWord(word, language)) ? [] : [{ word, boost, stems: new WordStems(word) }],
  )
}
