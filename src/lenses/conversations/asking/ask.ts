/** Answers a query over messages: the query pipeline ranks the messages, and each is returned with its speaker, time and conversation. */
import type { Instant } from '../../../base/clock.ts'
import { atOnce, type Steps } from '../../../base/turns.ts'
import { modelKey } from '../../../embed/embedder.ts'
import { cosine } from '../../../math/vector.ts'
import type { Ranked } from '../../../model/candidate.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { toInstant, toIso } from '../../../model/instant.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Page } from '../../../model/page.ts'
import type { InstantInput, QueryInput } from '../../../model/query-input.ts'
import type { Row } from '../../../model/table.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { stillVisible } from '../../../pipeline/access.ts'
import type { Answer } from '../../../pipeline/stage.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import type { StoreReader } from '../../../store/store.ts'
import { language } from '../../../text/language.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { eachToken } from '../../../text/tokenise.ts'
import type { LensHost } from '../../lens.ts'
import { plainName } from '../reading/reader.ts'
import { datesIn, MESSAGES, messageRows } from '../tables.ts'
import type { ConversationQuery, ConversationQueryAnswer, MessageResult, NeighbourResult } from './ask-schema.ts'
import { questionOf } from './question.ts'
import { transcriptsOf } from './stages.ts'
import type { Stored } from './transcripts.ts'

/** Largest number of messages considered for an answer with a token budget where the query sets no limit. */
const MAX_FOR_BUDGET = 100
/** Longest excerpt of a piece of a chat with an assistant, in characters: large enough for the whole piece. */
const WHOLE_PIECE = 10_000

export async function askConversations(
  host: LensHost,
  input: ConversationQuery,
  call: Pick<CallContext, 'viewer' | 'signal'>,
): Promise<ConversationQueryAnswer> {
  const { viewer, signal } = call
  const asked = questionFor(input)
  const begun = host.store.version()
  const answer = await host.query(await withinBudget(host, asked, input, call), { ...call, rows: 'entries' })
  const { page, nearest } = answer
  const { statements, messages: ranked } = await turnsUntil(signal).run(messagesOf(host, answer, input, viewer, begun))
  const hasBudget = input.max_tokens !== undefined
  const messages = hasBudget
    ? saidOrder(statements).map(place => ranked[place] as MessageResult)
    : questionOf(input.text).now
      ? newestFirst(ranked, (one, than) => one.newer_statement_of.includes(than.id))
      : ranked
  return {
    messages,
    order: hasBudget ? 'time' : 'rank',
    tokens: messages.reduce((sum, { text }) => sum + tokensOf(text), 0),
    ...{ cursor: page.cursor, verdict: page.verdict, reason: page.reason, verdict_by: page.verdict_by },
    ...(nearest !== undefined && {
      nearest: atOnce(messagesOf(host, { ...nearest, page, end: null }, input, viewer, begun)).messages,
    }),
    ...(page.did_you_mean !== undefined && { did_you_mean: page.did_you_mean }),
    ...{ mode: page.mode, as_of: page.as_of, notes: page.notes },
  }
}

interface Messages {
  /** The messages of the page with the fields by which newer statements are recognised, in page order. */
  readonly statements: readonly Statement[]
  readonly messages: readonly MessageResult[]
}

/**
 * Builds the messages of a page, with a pause for other work after each one. Messages that were changed or deleted during the pauses are
 * corrected at the end. `begun`: the store's version before the page was made.
 */
function* messagesOf(
  host: LensHost,
  answer: Ranks,
  input: ConversationQuery,
  viewer: Viewer,
  begun: number,
): Steps<Messages> {
  const { page } = answer
  const version = host.store.version()
  const found = version === begun ? withRows(host.store, answer, answer.entries) : foundIn(host, answer, viewer)
  const statements = statementsOf(host, found)
  const newer = yield* newerStatements(statements)
  const olderOf = (at: number) => newer.get(statements[at] as Statement) ?? []
  const messages: MessageResult[] = []
  for (const [at, each] of found.entries()) {
    messages.push(messageOf(host, each, olderOf(at), page, input))
    yield
  }
  if (host.store.version() === version) return { statements, messages }
  const now = new Map(foundIn(host, answer, viewer).map(each => [each.entry.key, each]))
  const left = [...found.keys()].filter(at => now.has((found[at] as Found).entry.key))
  return {
    statements: left.map(at => statements[at] as Statement),
    messages: left.map(at => {
      const [before, each] = [found[at] as Found, now.get((found[at] as Found).entry.key) as Found]
      return isSame(before, each) ? (messages[at] as MessageResult) : messageOf(host, each, olderOf(at), page, input)
    }),
  }
}

function isSame(before: Found, now: Found): boolean {
  const shown = ({ entry: { partition }, row, text, isPartial }: Found) =>
    JSON.stringify([partition, row, text, isPartial])
  return shown(before) === shown(now)
}

export function questionFor(input: ConversationQuery): QueryInput {
  const { text, syntax, phrase, cursor, as_of, mode, meaning_weight, explain, touch, timeout_ms, approximate } = input
  const { conversations, speakers, roles, sessions, since, until, collections, tags } = input
  const fields = {
    ...(conversations && { 'conversations.conversation': conversations }),
    ...(speakers && { 'conversations.speaker': speakers.map(plainName) }),
    ...(roles && { 'conversations.role': roles }),
    ...(sessions && { 'conversations.session': sessions }),
    ...saidWithin(since, until),
  }
  const filter = {
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(collections && { collections }),
    ...(tags && { tags }),
  }
  return {
    ...{ text, syntax, phrase, cursor, as_of, mode, meaning_weight, explain, touch, timeout_ms, approximate },
    limit: input.limit ?? (input.max_tokens === undefined ? undefined : MAX_FOR_BUDGET),
    ...(Object.keys(filter).length > 0 && { filter }),
    excerpt_length: WHOLE_PIECE,
  }
}

/** Filter condition that a message was said within a period; a message without a time does not meet it. */
function saidWithin(since: InstantInput | undefined, until: InstantInput | undefined) {
  const from = since === undefined ? null : toInstant(since, 'since')
  const to = until === undefined ? null : toInstant(until, 'until')
  if (from !== null && to !== null && from >= to) throw invalidArgument('until', until, 'a time later than `since`')
  if (from === null && to === null) return {}
  return { 'conversations.at': { ...(from !== null && { gte: from }), ...(to !== null && { lt: to }) } }
}

/** Limits the query to as many messages as fit its token budget, at least one. */
async function withinBudget(
  host: LensHost,
  asked: QueryInput,
  { max_tokens: tokens }: ConversationQuery,
  call: Pick<CallContext, 'viewer' | 'signal'>,
): Promise<QueryInput> {
  if (tokens === undefined) return asked
  const answer = await host.query({ ...asked, touch: false, explain: false }, { ...call, rows: 'entries' })
  const texts = foundIn(host, answer, call.viewer).map(({ text }) => text)
  return { ...asked, limit: Math.max(1, fitting(texts, tokens)) }
}

/**
 * The parts of an answer from which its messages are built. `end`: the position of the page's last result, from whose rank the ranks of the
 * others are counted; null: the page is empty.
 */
type Ranks = Pick<Answer, 'page' | 'entries' | 'ranked' | 'shown' | 'end'>

interface Found extends Pick<Ranks, 'shown'> {
  readonly rank: number
  readonly ranked: Ranked
  readonly entry: Entry
  readonly row: Row
  /** The message's text as the answer shows it. */
  readonly text: string
  readonly isPartial: boolean
}

/**
 * Messages of the page that still exist and are still visible to the viewer, since any of them may have changed after the page was made.
 */
function foundIn({ store, accessScope }: LensHost, answer: Ranks, viewer: Viewer): readonly Found[] {
  const visibility = accessScope(viewer)
  return store.read(reader => {
    const now = reader.entries(answer.entries.map(({ key }) => key))
    return withRows(
      reader,
      answer,
      now.filter(entry => stillVisible(entry, visibility)),
    )
  })
}

/**
 * The results of the page whose entries are in `now` (the entries that still exist and are visible), each with its rank, its message row
 * and the text to show.
 */
function withRows(
  reader: StoreReader,
  { ranked: results, entries, shown, end }: Ranks,
  now: readonly Entry[],
): readonly Found[] {
  if (now.length === 0) return []
  const byKey = new Map(now.map(entry => [entry.key, entry]))
  const rows = new Map(messageRows(reader, [...byKey.keys()]).map(row => [row['entry'] as EntryKey, row]))
  const before = end === null ? 0 : end.rank - results.length
  return results.flatMap((ranked, at) => {
    const entry = byKey.get((entries[at] as Entry).key)
    const row = entry === undefined ? undefined : rows.get(entry.key)
    if (entry === undefined || row === undefined) return []
    const text = row['profile'] === 'assistant' ? shown.text(ranked, entry).excerpt.text : entry.content
    const rank = before + at + 1
    return [{ rank, ranked, shown, entry, row, text, isPartial: text.trim() !== entry.content.trim() }]
  })
}

function messageOf(
  host: LensHost,
  { rank, ranked, shown, entry, row, text, isPartial }: Found,
  newerStatementOf: readonly string[],
  page: Page,
  { max_tokens: tokens, neighbours = 0 }: ConversationQuery,
): MessageResult {
  const isCut = tokens !== undefined && tokensOf(text) > tokens
  const explanation = shown.explanation(ranked)
  const around =
    neighbours === 0 ? null : neighboursOf(host, { entry, row }, neighbours, toInstant(page.as_of, 'as_of'))
  return {
    rank,
    id: entry.id,
    holder: entry.audience.holder,
    conversation: row['conversation'] as string,
    session: row['session'] as string,
    position: Number(row['position']),
    speaker: row['speaker'] as string,
    role: row['role'] as string | null,
    at: row['at'] === null ? null : toIso(row['at'] as number),
    text: isCut ? cutToFit(text, tokens) : text,
    partial: isPartial || isCut,
    score: ranked.score,
    dates: datesIn(row),
    reply_to: row['reply_to'] as string | null,
    newer_statement_of: newerStatementOf,
    why: shown.why(ranked, entry),
    ...(around !== null && { neighbours: around }),
    ...(explanation !== undefined && { explanation }),
  }
}

function statementsOf({ store, embedder }: LensHost, found: readonly Found[]): readonly Statement[] {
  const keys = found.map(({ entry }) => entry.key)
  const vectors: ReadonlyMap<EntryKey, Float32Array> =
    embedder === null ? new Map() : store.read(reader => vectorsOf(reader, modelKey(embedder.model), keys))
  return found.map(({ entry, row, text }) => ({
    id: entry.id,
    thread: row['thread'] as string,
    speaker: row['speaker'] as string,
    position: Number(row['position']),
    at: row['at'] as Instant | null,
    text,
    vector: vectors.get(entry.key) ?? null,
  }))
}

function vectorsOf(reader: StoreReader, model: string, keys: readonly EntryKey[]): ReadonlyMap<EntryKey, Float32Array> {
  const chunks = reader.firstChunks(keys)
  const vectors = reader.vectors(model, [...chunks.values()])
  return new Map(vectors.map(({ entry, vector }) => [entry, vector]))
}

/**
 * The messages around a message in its session, in order: up to `count` before it and as many after it, of those that existed at the time
 * `asOf`. Only messages with the same audience are returned, and none if the message's audience is no longer the one that this answer was
 * made for.
 */
function neighboursOf(
  host: LensHost,
  { entry, row }: Stored,
  count: number,
  asOf: Instant,
): readonly NeighbourResult[] {
  return host.store.read(reader => {
    const [transcript] = transcriptsOf(host).of([row['thread'] as string], [entry.partition])
    const session = (transcript?.spoken ?? []).filter(each => each.session === row['session'])
    const at = session.findIndex(each => each.entry === entry.key)
    if (at < 0) return []
    const keys = session.slice(Math.max(0, at - count), at + count + 1).map(each => each.entry)
    return reader
      .entries(keys.filter(key => key !== entry.key))
      .flatMap(({ key, id, content, validFrom, validUntil }) => {
        const isThere = (validFrom === null || validFrom <= asOf) && (validUntil === null || validUntil > asOf)
        const own = reader.table(MESSAGES).get({ entry: key })
        if (!isThere || own === undefined) return []
        const time = own['at'] as Instant | null
        return [
          {
            ...{ id, speaker: own['speaker'] as string, position: Number(own['position']) },
            ...{ at: time === null ? null : toIso(time), text: content },
          },
        ]
      })
  })
}

/** Estimates for counting tokens of a language model: four characters of text per token, and ten further tokens for each message. */
const CHARACTERS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 10

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_A_TOKEN) + TOKENS_A_MESSAGE
}

/** How many of the texts, counted from the first, fit into the token budget together. */
function fitting(texts: readonly string[], tokens: number): number {
  let left = tokens
  const end = texts.findIndex(text => {
    left -= tokensOf(text)
    return left < 0
  })
  return end < 0 ? texts.length : end
}

/** The beginning of a text that is too long for the token budget even alone. */
function cutToFit(text: string, tokens: number): string {
  return text.slice(0, Math.max(0, tokens - TOKENS_A_MESSAGE) * CHARACTERS_A_TOKEN).toWellFormed()
}

// Sorts messages by the time at which they were said, and finds which are newer statements on the subject of an older one.

export interface SaidAt {
  /** Thread of the message; positions are comparable only within one thread. */
  readonly thread: string
  readonly position: number
  readonly at: Instant | null
}

/**
 * Positions of the messages in the list, earliest message first. A message without a time is placed with the message before it in its
 * thread, or else the one after it; a thread without any times comes last. Among messages with equal times, those of the thread that occurs
 * first in the list come first.
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

/** Orders two numbers ascending. Works for infinities too, where subtraction would give NaN. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/**
 * Bounds from which two messages count as being on the same subject: number of shared content words, Dice coefficient of their words, and
 * cosine where both have vectors. The cosine alone says little: within a conversation all messages are near each other.
 */
const MIN_SHARED = 2
const MIN_SHARE = 0.15
const MIN_COSINE = 0.35

export interface Statement extends SaidAt {
  readonly id: string
  /** Name of the speaker. Two messages with empty names never count as said by the same speaker. */
  readonly speaker: string
  readonly text: string
  readonly vector: Float32Array | null
}

/**
 * For each message, the ids of older messages by the same speaker on the same subject, oldest first. Answers show older and newer messages
 * alike: leaving out the older ones lost a quarter of the answers in measurements. Pauses after each message, which is compared with all
 * messages before it.
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

/**
 * Number of best-ranked messages whose order may be changed to put newer statements first: a message ranked lower says little about the
 * query.
 */
const MAX_MOVED = 10

/** Reorders messages so that each newer statement comes before the older statements that it replaces; other messages keep their order. */
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

/** Number of characters of each message from which the language of the messages is recognised. */
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
