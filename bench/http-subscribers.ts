/**
 * A thousand clients that hold a live query open over one server, as server-sent events, while public entries are
 * written: how soon each hears of what concerns it, what a client costs in memory, and how questions fare beside. Asked is
 * by words and meaning within a collection, which most writes cannot concern, and by words over everything, where each
 * write may move what every answer's words weigh, so that every question is asked again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryInput } from '../src/model/query-input.ts'
import { bigHome } from './lib/big-store.ts'
import { type Asked, ask, times } from './lib/http/asking.ts'
import { Listeners } from './lib/http/listening.ts'
import { mixed } from './lib/http/mixed-questions.ts'
import { type Serving, startServing } from './lib/http/serving.ts'
import { FOUNDER, HOLDERS, holderName } from './lib/people.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row } from './lib/report.ts'

export const name = 'http-subscribers'

const SUBSCRIBERS = quick ? 50 : 1000
/** Subscribers that an entry concerns: they ask for its topic, a word that few entries have. */
const CONCERNED = 10
const TOPICS = SUBSCRIBERS / CONCERNED
const BESIDE = quick ? 50 : 300
const SETTLE_MS = 3_000
/** Subscribers that are opened together. */
const AT_ONCE = 10

interface Kind {
  readonly name: string
  readonly question: (topic: number) => QueryInput
  readonly writes: number
  readonly perSecond: number
}

const KINDS: readonly Kind[] = [
  {
    name: 'of a collection each',
    question: at => ({ text: topic(at), filter: { collections: [topic(at)] } }),
    writes: quick ? 10 : 200,
    perSecond: 10,
  },
  {
    name: 'over everything, by words',
    question: at => ({ text: topic(at), mode: 'words' }),
    writes: quick ? 5 : 20,
    perSecond: 1,
  },
]

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  await using server = await startServing({ home: home.folder })
  const rows: Row[] = []
  for (const kind of KINDS) rows.push(...(await measure(server, kind)))
  return rows
}

async function measure(server: Serving, kind: Kind): Promise<readonly Row[]> {
  const { url } = server
  const before = await server.look()
  using listeners = new Listeners(url)
  const openedMs = await open(listeners, kind)
  const after = await server.look()
  const { committed, questions } = await write(url, kind)
  const delays = listeners.heard.flatMap(({ id, at }) => {
    const from = committed.get(id)
    return from === undefined ? [] : [at - from]
  })
  const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
  const of = `${SUBSCRIBERS} subscribers ${kind.name}`
  const wanted = kind.writes * CONCERNED
  return [
    {
      name: `${of}: served to the end`,
      unit: '',
      value: listeners.count,
      goal: `= ${SUBSCRIBERS}`,
      ok: listeners.count === SUBSCRIBERS,
      note: `${(openedMs / SUBSCRIBERS).toFixed(1)} ms to open each, ${AT_ONCE} at once; ${(bytes / SUBSCRIBERS / 1000).toFixed(0)} kB of memory each`,
    },
    {
      ...latency(`${of}: from a write's answer until a client hears of it`, delays),
      goal: 'whom it concerns hears of it',
      ok: delays.length === wanted,
      note: `${delays.length} of ${wanted} heard; ${kind.perSecond} writes a second`,
    },
    latency(`${of}: a question beside, one at a time`, questions),
  ]
}

/** Milliseconds until all are. */
async function open(listeners: Listeners, { question }: Kind): Promise<number> {
  const started = performance.now()
  for (let at = 0; at < SUBSCRIBERS; at += AT_ONCE) {
    const few = Array.from({ length: AT_ONCE }, (_, i) => at + i)
    await Promise.all(few.map(one => listeners.open(holderName(one % HOLDERS), question(one % TOPICS))))
  }
  return performance.now() - started
}

interface Written {
  /** When the answer to the write of an entry was there, by its id. */
  readonly committed: ReadonlyMap<string, number>
  /** Milliseconds that questions took beside. */
  readonly questions: readonly number[]
}

async function write(url: string, { name, writes, perSecond }: Kind): Promise<Written> {
  const committed = new Map<string, number>()
  const questions: number[] = []
  const started = performance.now()
  for (let at = 0; at < writes; at++) {
    await sleep(Math.max(0, started + (at * 1000) / perSecond - performance.now()))
    const id = `${name}-${at}`
    times(await ask({ url, connections: 1, next: n => (n === 0 ? entry(id, topic(at % TOPICS)) : null) }))
    committed.set(id, performance.now())
    const beside = await ask({ url, connections: 1, next: n => (n < BESIDE / writes ? mixed(at * BESIDE + n) : null) })
    questions.push(...times(beside))
  }
  await sleep(SETTLE_MS)
  return { committed, questions }
}

function entry(id: string, topic: string): Asked {
  const content = `${topic} is what this is about, and its subscribers read of it`
  const entries = [{ id, content, collection: topic, visibility: 'public' }]
  return { path: '/v1/entries', viewer: FOUNDER.id, body: { entries } }
}

function topic(at: number): string {
  return `topic${at}`
}
