/**
 * Keeps recently searched conversations in memory for the next query. They follow the store's change feed, so the next query sees writes of
 * every process: messages added at the end of a conversation are appended; after any other change the conversation is read again.
 */

import { Bitset } from '../../../base/bitset.ts'
import { Recent } from '../../../base/recent.ts'
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { entriesChangedAfter, FeedFollower } from '../../../pipeline/columns.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { language } from '../../../text/language.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'
import type { Profile, Role } from '../model.ts'
import { saysTime } from '../reading/dates.ts'
import { MESSAGES } from '../tables.ts'
import { pieces, type Said, spokenText, surroundingText, unitOf } from '../write-message.ts'
import { type CountedText, countWords, WordCounts } from './bm25.ts'
import { type Moment, momentOf, type Recorded, type Spoken } from './question.ts'

// A transcript: the messages of one conversation that one audience may see, in order, with their word counts. It is made from these
// messages alone, so that scores reveal nothing about entries with other audiences.

/** A message as stored: its entry, and its row with speaker, time and position. */
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

  /**
   * Makes the transcript (the messages in order, with word counts) of at least one message, pausing between steps for other work. All
   * messages must be ordered by position and have the same partition, which means the same audience.
   */
  static *of(messages: readonly Stored[]): Steps<Transcript> {
    const transcript = new Transcript(messages)
    yield* transcript.#addAll(messages)
    return transcript
  }

  /** Makes an empty transcript; the language is recognised from `messages`, which the caller adds afterwards. */
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

  /** Adds messages at the end of the transcript. */
  append(messages: readonly Stored[]): void {
    atOnce(this.#addAll(messages))
    this.#whole = null
  }

  /** Adds messages, pausing for other work after every `STEP` characters. */
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

  /**
   * The conversation without the `invalid` entries, which did not exist at the time of the query. Pauses between steps; messages added
   * after the first step are ignored.
   */
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

  /** Returns the same string object for equal names, to save memory: each row read from the store has its own copy. */
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

  /** Language of a message. A message too short to recognise is taken to be in the language of its conversation. */
  #languageOf(body: string): Language {
    const own = language(body)
    if (own !== 'en' || this.#language === 'en') return own
    const english = tokenise(body.slice(0, SHORT)).filter(
      ({ term }) => isStopWord(term, 'en') && !isStopWord(term, this.#language),
    )
    return english.length >= 2 ? 'en' : this.#language
  }
}

/** Amount of message text processed between two pauses, in characters: about two milliseconds of work. */
const STEP = 4_000
/** Cost of processing a message besides its text, as a number of characters. */
const PER_MESSAGE = 40

/** Number of messages, from the start of a conversation, from which the conversation's language is recognised. */
const SAMPLED = 40
/**
 * Number of characters at the start of a message in which English words are searched, to recognise an English message in a conversation in
 * another language.
 */
const SHORT = 300

/**
 * Largest number of messages kept in memory in total, at one to two kilobytes each; the conversation searched last is kept whole even if it
 * has more.
 */
const MAX_MESSAGES = 250_000
/** Number of changed entries up to which conversations in memory are updated; after more changes, all conversations are read again. */
const MAX_CHANGES = 5_000
/** Number of conversation names for which the ids of their threads are kept in memory. */
const MAX_NAMES = 1_000
/** Number of message rows (PAGE) and of entries (BATCH) read between two pauses. */
const PAGE = 1_000
const BATCH = 250

/**
 * Number of messages appended to threads in memory without a pause, at 50 µs each; a thread with more new messages is read again with
 * pauses.
 */
const MAX_GROWN = 200
/** How many times a thread is read with pauses, while others keep changing it, before it is read without a pause. */
const ATTEMPTS = 3

/**
 * How many conversations a query over all conversations searches: at least `atLeast`; up to `atMost` while they have at most `messages`
 * messages in total.
 */
interface Reach {
  readonly atLeast: number
  readonly atMost: number
  readonly messages: number
}

interface Around {
  readonly transcripts: readonly Transcript[]
  readonly isAll: boolean
}

export class Transcripts {
  readonly #store: Store
  readonly #kept = new KeptThreads(MAX_MESSAGES)
  readonly #named = new Recent<string, ReadonlySet<string>>(MAX_NAMES)
  readonly #feed = new FeedFollower(
    {
      clear: () => {
        this.#kept.clear()
        this.#named.clear()
      },
      take: (reader, changed) => this.#take(reader, new Set(changed.keys())),
      most: () => MAX_CHANGES,
    },
    'thrown',
  )

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Transcripts of the threads with these ids, as the store is now. Only messages in the given partitions (each the entries of one
   * audience) are included.
   */
  of(threads: readonly string[], partitions: readonly PartitionId[]): readonly Transcript[] {
    return this.#reading(reader => this.#of(reader, threads, partitions))
  }

  /**
   * Transcripts of the conversations with these names, of all holders, with only the messages in the given partitions (each the entries of
   * one audience). Conversations not in memory are read from the store with pauses for other work.
   */
  *ofNamed(conversations: readonly string[], partitions: readonly PartitionId[]): Steps<readonly Transcript[]> {
    const threadsOf = (reader: StoreReader) =>
      new Set(conversations.flatMap(name => [...this.#threadsNamed(reader, name)]))
    for (const name of conversations) {
      yield* this.#loadNamed(name)
      yield
    }
    for (const thread of this.#reading(threadsOf)) yield* this.#load(thread)
    return this.#reading(reader => this.#of(reader, [...threadsOf(reader)], partitions))
  }

  /**
   * Transcripts of the conversations to which the messages belong, in the order of the messages: at least `atLeast` conversations, and up
   * to `atMost` while they have at most `messages` messages in total. So the cost depends on what the query finds, not on the size of the
   * store. `isAll`: no conversation was left out.
   */
  *around(entries: readonly EntryKey[], partitions: readonly PartitionId[], reach: Reach): Steps<Around> {
    const loaded = new Set<string>()
    for (;;) {
      // A thread that this call loaded and another query then displaced from memory is not loaded with pauses again, but read without a
      // pause.
      const isMissing = (id: string) => !this.#kept.has(id) && !loaded.has(id)
      const found = this.#reading(reader => this.#around(reader, entries, partitions, reach, isMissing))
      if (typeof found !== 'string') return found
      loaded.add(found)
      yield* this.#load(found)
    }
  }

  /**
   * The transcripts of the conversations that contain these messages. Where a thread must first be loaded into memory, returns that
   * thread's id instead.
   */
  #around(
    reader: StoreReader,
    entries: readonly EntryKey[],
    partitions: readonly PartitionId[],
    { atLeast, atMost, messages }: Reach,
    isMissing: (id: string) => boolean,
  ): Around | string {
    const transcripts: Transcript[] = []
    let taken = 0
    let at = 0
    let isAll = true
    for (const id of this.#threadsOf(reader, entries)) {
      if (at < atMost && isMissing(id)) return id
      const own = at < atMost ? within(this.#thread(reader, id), partitions) : []
      taken += own.reduce((sum, { spoken }) => sum + spoken.length, 0)
      isAll = at < atMost && (at < atLeast || taken <= messages)
      if (!isAll) break
      transcripts.push(...own)
      at++
    }
    this.#kept.forgetOldest()
    return { transcripts, isAll }
  }

  #reading<T>(work: (reader: StoreReader) => T): T {
    return this.#store.read(reader => {
      this.#feed.follow(reader)
      return work(reader)
    })
  }

  #of(reader: StoreReader, threads: readonly string[], partitions: readonly PartitionId[]): readonly Transcript[] {
    const found = threads.flatMap(thread => within(this.#thread(reader, thread), partitions))
    this.#kept.forgetOldest()
    return found
  }

  #thread(reader: StoreReader, id: string): Thread {
    return this.#kept.get(id, () => atOnce(readThread(reader, id)))
  }

  /**
   * Loads a thread into memory, pausing between steps, and adds messages appended during the pauses. If the thread changes in another way,
   * it is read again.
   */
  *#load(id: string): Steps<void> {
    for (let attempt = 0; attempt < ATTEMPTS && !this.#kept.has(id); attempt++) {
      const seq = this.#store.lastSeq()
      const thread = yield* readThread(this.#store, id)
      this.#reading(reader => {
        if (!this.#kept.has(id) && this.#bringUp(reader, thread, id, seq)) this.#kept.get(id, () => thread)
      })
    }
  }

  /**
   * Updates a thread that was read when the store's change feed had reached at least `seq`. False: the thread changed otherwise than by
   * appending, or by too much, and must be read again.
   */
  #bringUp(reader: StoreReader, thread: Thread, id: string, seq: number): boolean {
    const news = entriesChangedAfter(reader, seq, MAX_CHANGES)
    if (news === null || holdsAny(thread, news.entries)) return false
    const fresh = reader.table(MESSAGES).scan({ thread: id }, { entries: [...news.entries] })
    return fresh.length <= MAX_GROWN && grow(reader, thread, fresh)
  }

  #threadsNamed(reader: StoreReader, conversation: string): ReadonlySet<string> {
    return this.#named.get(conversation, () => atOnce(threadsNamed(reader, conversation)))
  }

  /**
   * Finds the ids of a conversation's threads, pausing between steps, and keeps them in memory, including ids of threads added during the
   * pauses.
   */
  *#loadNamed(conversation: string): Steps<void> {
    if (this.#named.find(conversation) !== undefined) return
    const seq = this.#store.lastSeq()
    const threads = yield* threadsNamed(this.#store, conversation)
    this.#reading(reader => {
      const news = entriesChangedAfter(reader, seq, MAX_CHANGES)
      if (news === null) return
      const fresh = reader.table(MESSAGES).scan({ conversation }, { entries: [...news.entries] })
      for (const row of fresh) threads.add(row['thread'] as string)
      this.#named.set(conversation, threads)
    })
  }

  /**
   * The ids of the threads that contain the messages, without duplicates, in the order of the messages. The threads of all messages that
   * are not in memory are looked up with one read of the store.
   */
  *#threadsOf(reader: StoreReader, messages: readonly EntryKey[]): Generator<string> {
    const given = new Set<string>()
    let read: ReadonlyMap<EntryKey, string> | null = null
    for (const message of messages) {
      let thread = this.#kept.threadOf(message)
      if (thread === undefined) {
        read ??= this.#threadsRead(reader, messages)
        thread = read.get(message)
      }
      if (thread === undefined || given.has(thread)) continue
      given.add(thread)
      yield thread
    }
  }

  /** Looks up in the store the thread ids of those messages that are not in memory. */
  #threadsRead(reader: StoreReader, messages: readonly EntryKey[]): ReadonlyMap<EntryKey, string> {
    const entries = messages.filter(entry => this.#kept.threadOf(entry) === undefined)
    const rows = reader.table(MESSAGES).scan({}, { entries, columns: ['entry', 'thread'] })
    return new Map(rows.map(row => [row['entry'] as EntryKey, row['thread'] as string]))
  }

  #take(reader: StoreReader, changed: ReadonlySet<EntryKey>): void {
    const rows = reader.table(MESSAGES).scan({}, { entries: [...changed] })
    for (const row of rows) this.#name(row['conversation'] as string, row['thread'] as string)
    const byThread = Map.groupBy(rows, row => row['thread'] as string)
    let room = MAX_GROWN
    for (const [id, thread] of this.#kept.entries()) {
      const fresh = byThread.get(id) ?? []
      room -= fresh.length
      if (room < 0 || holdsAny(thread, changed) || !grow(reader, thread, fresh)) this.#kept.delete(id)
      else if (fresh.length > 0) this.#kept.grown(id, thread)
    }
  }

  /**
   * Adds a thread's id to those kept for the name of its conversation. The id stays even when the thread's last message is deleted; the
   * thread is then empty.
   */
  #name(conversation: string, thread: string): void {
    const known = this.#named.find(conversation)
    if (known !== undefined && !known.has(thread)) this.#named.set(conversation, new Set([...known, thread]))
  }
}

function within(thread: Thread, partitions: readonly PartitionId[]): readonly Transcript[] {
  return [...thread.values()].filter(({ partition }) => partitions.includes(partition))
}

/** Appends new messages to a thread in memory; false: the messages do not belong at its end, and the thread must be read again. */
function grow(reader: StoreReader, thread: Thread, fresh: readonly Row[]): boolean {
  if (fresh.length === 0) return true
  const messages = stored(reader, fresh).toSorted(byPosition)
  if (messages.length === 0) return true
  const first = Math.min(...messages.map(({ row }) => Number(row['position'])))
  // A thread whose messages are in several partitions (they have different audiences), which is rare, is read again instead of being
  // appended to.
  const [transcript, other] = [...thread.values()]
  if (transcript === undefined || other !== undefined || first <= transcript.lastPosition) return false
  if (messages.some(({ entry }) => entry.partition !== transcript.partition)) return false
  transcript.append(messages)
  return true
}

function holdsAny(thread: Thread, changed: ReadonlySet<EntryKey>): boolean {
  for (const { entries } of thread.values()) for (const entry of changed) if (entries.has(entry)) return true
  return false
}

/** Reads a thread with pauses; each step reads the store as it is then, so the caller must detect changes made during the pauses. */
function* readThread(reader: StoreReader, id: string): Steps<Thread> {
  const messages = yield* storedMessages(reader, id)
  const transcripts = new Map<PartitionId, Transcript>()
  for (const [partition, own] of Map.groupBy(messages, ({ entry }) => entry.partition)) {
    transcripts.set(partition, yield* Transcript.of(own))
  }
  return transcripts
}

/** The messages of a thread with their rows, ordered by position, read with pauses for other work. */
function* storedMessages(reader: StoreReader, thread: string): Steps<readonly Stored[]> {
  const messages: Stored[] = []
  for (let after: Row | undefined; ; yield) {
    const rows = reader.table(MESSAGES).scan({ thread }, { after, limit: PAGE })
    for (let at = 0; at < rows.length; at += BATCH) {
      yield
      messages.push(...stored(reader, rows.slice(at, at + BATCH)))
    }
    if (rows.length < PAGE) break
    after = { entry: rows.at(-1)?.['entry'] as EntryKey }
  }
  return messages.sort(byPosition)
}

/** Ids of all threads of a conversation, of every holder. */
function* threadsNamed(reader: StoreReader, conversation: string): Steps<Set<string>> {
  const threads = new Set<string>()
  for (let after: Row | undefined; ; yield) {
    const rows = reader.table(MESSAGES).scan({ conversation }, { after, limit: PAGE, columns: ['entry', 'thread'] })
    for (const row of rows) threads.add(row['thread'] as string)
    if (rows.length < PAGE) return threads
    after = { entry: rows.at(-1)?.['entry'] as EntryKey }
  }
}

function stored(reader: StoreReader, rows: readonly Row[]): readonly Stored[] {
  const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  // An entry that was replaced by one of another kind is no longer a message, though its row may still exist.
  const entries = reader.entries([...byEntry.keys()]).filter(entry => entry.kind === 'message')
  return entries.map(entry => ({ entry, row: byEntry.get(entry.key) as Row }))
}

function byPosition(a: Stored, b: Stored): number {
  return Number(a.row['position']) - Number(b.row['position'])
}

/**
 * The messages of a thread as transcripts, one for each partition (the entries of one audience). A thread has more than one where the
 * audience of some of its messages was changed.
 */
export type Thread = ReadonlyMap<PartitionId, Transcript>

/** The most recently used threads, kept in memory, with a map from each message to its thread. */
export class KeptThreads {
  readonly #most: number
  /** Threads by id, in order of use, the least recently used first. */
  readonly #threads = new Map<string, Thread>()
  readonly #threadOf = new Map<EntryKey, string>()

  /** `most`: the largest number of messages kept in all threads together; the thread used last is kept whole even if it has more. */
  constructor(most: number) {
    this.#most = most
  }

  has(id: string): boolean {
    return this.#threads.has(id)
  }

  get(id: string, make: () => Thread): Thread {
    const known = this.#threads.get(id)
    const thread = known ?? make()
    this.#threads.delete(id)
    this.#threads.set(id, thread)
    if (known === undefined) this.grown(id, thread)
    return thread
  }

  entries(): readonly (readonly [string, Thread])[] {
    return [...this.#threads]
  }

  /** The id of the thread that contains a message; undefined where that thread is not in memory. */
  threadOf(entry: EntryKey): string | undefined {
    return this.#threadOf.get(entry)
  }

  /** Adds the messages that were appended to a thread to the map from messages to threads. */
  grown(id: string, thread: Thread): void {
    for (const { spoken } of thread.values()) {
      for (let at = spoken.length - 1; at >= 0; at--) {
        const { entry } = spoken[at] as { entry: EntryKey }
        if (this.#threadOf.has(entry)) break
        this.#threadOf.set(entry, id)
      }
    }
  }

  delete(id: string): void {
    for (const { spoken } of this.#threads.get(id)?.values() ?? []) {
      for (const { entry } of spoken) this.#threadOf.delete(entry)
    }
    this.#threads.delete(id)
  }

  clear(): void {
    this.#threads.clear()
    this.#threadOf.clear()
  }

  /** Drops the least recently used threads until the messages in memory are within the limit; the thread used last always stays. */
  forgetOldest(): void {
    for (const id of this.#threads.keys()) {
      if (this.#threadOf.size <= this.#most || this.#threads.size === 1) return
      this.delete(id)
    }
  }
}
