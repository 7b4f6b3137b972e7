/**
 * How quick conversations are, over 100,000 messages without vectors: importing them, asking them, remembering one message
 * durably, and how soon another process finds it. How well answers are found, bench/conversations-quality.ts measures: in a
 * process of its own, as after it the slowest hundredth of these questions is up to twice as slow (docs/decisions/036).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Engine } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
import { callOperation, makeCatalog } from '../src/ops/catalog.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { startChild } from './lib/child.ts'
import { chatName, writeChats } from './lib/conversations/large-chats.ts'
import type { Answered, Asked } from './lib/conversations/other-requester.ts'
import { type ChatQuestion, chatRequester } from './lib/conversations/product.ts'
import { FLOOR_SCOPE, floorIndexOf } from './lib/floor-index.ts'
import { wordOf } from './lib/made-words.ts'
import { quick } from './lib/quick.ts'
import { latency, percentile, type Row, timed, timedAsync } from './lib/report.ts'
import { allGenerated, DIMENSIONS, heldOut } from './lib/stand-in.ts'
import { ZipfTexts } from './lib/text-data.ts'

const CONVERSATIONS = quick ? 10 : 100
const MESSAGES_EACH = quick ? 200 : 1000
const WARM_UP = quick ? 5 : 100
const ASKED = quick ? 20 : 1000
const REMEMBERED = quick ? 30 : 1000
const FOUND_ELSEWHERE = quick ? 10 : 200

const MIN_A_SECOND = 2000
const MAX_MS = 5
/** Of a whole query, in floors. */
const QUERY = { p50: 5, p99: 15 }
/** Questions between two floors, which so find the caches as questions leave them. */
const FLOOR_EVERY = 5
/** The rank of no word that the chats are made of. */
const NEW_WORDS = 10_000_000

export const name = 'conversations'

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  const chats = folder.file('chats')
  const home = folder.file('home')
  writeChats(chats, CONVERSATIONS, MESSAGES_EACH)
  const sweep = floorIndexOf('floor', DIMENSIONS, allGenerated())
  await using engine = await openEngine({ home, create: true, embedder: 'none' })
  return [
    await imported(engine, chats),
    ...(await asked(engine, round => timed(() => sweep.sweepDistances(heldOut(round), FLOOR_SCOPE)))),
    await remembered(engine),
    ...(await foundElsewhere(engine, home)),
  ]
}

async function imported(engine: Engine, chats: string): Promise<Row> {
  const started = performance.now()
  const { added, errors } = await engine.add({ paths: [chats], chat: { format: 'jsonl' } })
  const rate = added / ((performance.now() - started) / 1000)
  if (errors.length > 0) throw new Error(`not imported: ${JSON.stringify(errors.slice(0, 3))}`)
  return {
    name: 'messages imported without vectors',
    unit: '1/s',
    value: rate,
    goal: `>= ${MIN_A_SECOND}`,
    ok: rate >= MIN_A_SECOND,
    note: `${added} messages of ${CONVERSATIONS} conversations`,
  }
}

/** `floorAt`: milliseconds of the n-th sweep. */
async function asked(engine: Engine, floorAt: (round: number) => number): Promise<readonly Row[]> {
  const ask = chatRequester(engine)
  const ofConversation = (round: number) => ({ conversations: [chatName(round % CONVERSATIONS)] })
  const total = CONVERSATIONS * MESSAGES_EACH
  const ways: readonly (readonly [string, (round: number) => Partial<ChatQuestion>])[] = [
    [`all ${total} messages`, () => ({})],
    [`one conversation of ${MESSAGES_EACH}`, ofConversation],
  ]
  const rows: Row[] = []
  for (const [called, input] of ways) {
    const texts = new ZipfTexts(903)
    const times: number[] = []
    const floors: number[] = []
    const first = await timedAsync(() => ask({ text: texts.question(3), ...input(0) }))
    // Each conversation once before, and the way itself: what a question finds kept and compiled is what is measured.
    for (let round = 0; round < CONVERSATIONS; round++) await ask({ text: texts.question(3), ...ofConversation(round) })
    for (let round = 0; round < WARM_UP; round++) await ask({ text: texts.question(3), ...input(round) })
    for (let round = 0; round < ASKED; round++) {
      if (round % FLOOR_EVERY === 0) floors.push(floorAt(round))
      const text = texts.question(3)
      // Each in a turn of the event loop of its own, as a process that stays is asked.
      await nextTurn()
      times.push(await timedAsync(() => ask({ text, ...input(round) })))
    }
    const floor = percentile(floors, 0.5)
    const row = latency(`a question of 3 words over ${called}, by words`, times)
    rows.push({
      ...row,
      ratioToFloor: row.p50 / floor,
      goal: `p50 <= ${QUERY.p50} x floor, p99 <= ${QUERY.p99} x floor`,
      ok: row.p50 <= QUERY.p50 * floor && row.p99 <= QUERY.p99 * floor,
      note: `the first of all took ${first.toFixed(0)} ms; floor ${floor.toFixed(2)} ms`,
    })
  }
  return rows
}

/** Durable when it returns. */
async function remembered(engine: Engine): Promise<Row> {
  const remember = rememberer(engine)
  const texts = new ZipfTexts(13)
  const times: number[] = []
  for (let round = 0; round < REMEMBERED; round++) {
    const text = texts.prose(20)
    times.push(await timedAsync(() => remember(text, chatName(round % CONVERSATIONS))))
  }
  const row = latency('remember, one message of 20 words, durable', times)
  return { ...row, goal: `p99 <= ${MAX_MS} ms`, ok: row.p99 <= MAX_MS }
}

/** What is remembered here is asked for in another process at once. */
async function foundElsewhere(engine: Engine, home: string): Promise<readonly Row[]> {
  await using other = await startChild(new URL('./lib/conversations/other-requester.ts', import.meta.url), [home])
  const answer = async (asked: Asked) => (await other.answer(asked)) as Answered
  const remember = rememberer(engine)
  const before = (await answer('held')) as number
  const first = new ZipfTexts(904)
  const early: number[] = []
  for (let at = 0; at < CONVERSATIONS; at++) {
    const question = { text: first.question(3), conversations: [chatName(at)], mode: 'words' } as const
    early.push(await timedAsync(() => answer(question)))
  }
  const grown = ((await answer('held')) as number) - before
  const times: number[] = []
  let found = 0
  for (let round = 0; round < FOUND_ELSEWHERE; round++) {
    const word = wordOf(NEW_WORDS + round)
    const id = await remember(`They called it ${word}.`, chatName(round % CONVERSATIONS))
    let ids: Answered = []
    times.push(
      await timedAsync(async () => {
        ids = await answer({ text: word, limit: 3, mode: 'words' })
      }),
    )
    if (Array.isArray(ids) && ids.includes(id)) found++
  }
  const share = found / FOUND_ELSEWHERE
  return [
    {
      name: 'remembered, and found by the next question of another process',
      unit: 'of 1',
      value: share,
      goal: '1',
      ok: share === 1,
    },
    latency('that question, there and back', times),
    latency(`the other process's first question of each conversation of ${MESSAGES_EACH}`, early),
    {
      name: 'memory that a message takes once its conversation was asked, words and indexes',
      unit: 'kB',
      value: grown / 1024 / (CONVERSATIONS * MESSAGES_EACH),
    },
  ]
}

function rememberer(engine: Engine): (text: string, conversation: string) => Promise<string> {
  const catalog = makeCatalog(engine)
  const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  return async (text, conversation) => {
    const input = { text, conversation, speaker: 'Mira' }
    return ((await callOperation(catalog, engine, 'conversations.remember', input, context)) as { id: string }).id
  }
}
