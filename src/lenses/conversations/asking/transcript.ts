/**
 * The messages of one conversation that one audience may see, as they are asked: in order, with the words they are found by.
 * Made from that conversation alone, so nothing that anybody else holds shows in its scores.
 */
import { Bitset } from '../../../base/bitset.ts'
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { Entry } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { language } from '../../../text/language.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'
import { pieces, type Said, spokenText, surroundingText, unitOf } from '../indexed-text.ts'
import type { Profile, Role } from '../model.ts'
import { saysTime } from '../reading/dates-in-text.ts'
import { type CountedText, countWords, WordCounts } from './bm25.ts'
import { type Moment, momentOf, type Recorded, type Spoken } from './moment.ts'

/** A message with its row. */
export interface Stored {
  readonly row: Row
  readonly entry: Entry
}

export class Transcript implements Recorded {
  readonly partition: PartitionId
  readonly profile: Profile
  readonly spoken: Spoken[] = []
  readonly units: WordCounts = new WordCounts()
  readonly unitMessages: number[] = []
  readonly entries: Bitset = new Bitset()
  readonly #language: Language
  readonly #names = new Map<string, string>()
  #before: (Said & { readonly session: string }) | null = null
  #whole: Moment | null = null

  /** Of these messages, in steps: at least one, by position, of one partition. */
  static *of(messages: readonly Stored[]): Steps<Transcript> {
    const transcript = new Transcript(messages)
    yield* transcript.#addAll(messages)
    return transcript
  }

  /** Without a message yet; these are those that will be added. */
  private constructor(messages: readonly Stored[]) {
    const [first] = messages as [Stored]
    this.partition = first.entry.partition
    this.profile = first.row['profile'] as Profile
    this.#language = language(
      messages
        .slice(0, SAMPLED)
        .map(({ entry }) => entry.content)
        .join('\n'),
    )
  }

  /** More messages, behind those that are there. */
  append(messages: readonly Stored[]): void {
    atOnce(this.#addAll(messages))
    this.#whole = null
  }

  /** A step for every `STEP` characters. */
  *#addAll(messages: readonly Stored[]): Steps<void> {
    let read = 0
    for (const message of messages) {
      this.#add(message)
      read += message.entry.content.length + PER_MESSAGE
      if (read < STEP) continue
      read = 0
      yield
    }
  }

  get isOfPeople(): boolean {
    return this.profile === 'people'
  }

  get lastPosition(): number {
    return this.spoken.at(-1)?.position ?? -1
  }

  /** Without those of these entries that are in it. In steps: as it is at the first one, whatever is added later. */
  *at(invalid: Bitset): Steps<Moment> {
    const isMissing = invalid.size > 0 && this.spoken.some(({ entry }) => invalid.has(entry))
    if (isMissing) return yield* momentOf(this, invalid)
    if (this.#whole !== null) return this.#whole
    const whole = yield* momentOf(this, null)
    if (whole.said.length === this.spoken.length) this.#whole = whole
    return whole
  }

  #add({ row, entry }: Stored): void {
    const session = this.#once(row['session'] as string)
    const speaker = this.#once(row['speaker'] as string)
    const role = row['role'] as Role | null
    const body = entry.content
    const at = this.spoken.length
    const before = this.#before?.session === session ? this.#before : null
    this.#before = { session, speaker, body }
    this.spoken.push({
      entry: entry.key,
      session,
      position: Number(row['position']),
      speaker,
      role: role === null ? null : this.#once(role),
      saysTime: row['dates'] !== null || saysTime(body),
      unit: this.unitMessages.length,
    })
    this.entries.add(entry.key)
    const of = this.#languageOf(body)
    if (this.isOfPeople) {
      const spoken = countWords(spokenText({ speaker, body }), of)
      this.#addUnit(at, spoken, countWords(surroundingText(unitOf(row, body, before)), of))
    } else {
      for (const { start, end } of pieces(body)) this.#addUnit(at, countWords(body.slice(start, end), of))
    }
  }

  /** The same text from one place in memory: each row read has its own. */
  #once<T extends string>(name: T): T {
    const known = this.#names.get(name)
    if (known !== undefined) return known as T
    this.#names.set(name, name)
    return name
  }

  #addUnit(message: number, text: CountedText, around: CountedText | null = null): void {
    this.units.add(text, around)
    this.unitMessages.push(message)
  }

  /** Short messages show no language: they are in that of their conversation. */
  #languageOf(body: string): Language {
    const own = language(body)
    if (own !== 'en' || this.#language === 'en') return own
    const english = tokenise(body.slice(0, SHORT)).filter(
      ({ term }) => isStopWord(term, 'en') && !isStopWord(term, this.#language),
    )
    return english.length >= 2 ? 'en' : this.#language
  }
}

/** Characters of messages that are read between two pauses: about two milliseconds of work. */
const STEP = 4_000
/** What a message takes beside its text, in characters. */
const PER_MESSAGE = 40

/** Messages from the beginning by which the language of the others is recognised. */
const SAMPLED = 40
/** Characters of a message that are looked through for words of English. */
const SHORT = 300
