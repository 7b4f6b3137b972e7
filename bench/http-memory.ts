/**
 * Whether a server's memory stays where it is: ten minutes of mixed questions with writes among them, over connections that
 * are kept, as fast as they are answered. Memory is looked at after collecting garbage, twice a minute. What is written is
 * written again: the store does not grow. Any answer but 200 ends the measurement.
 */
import { bigHome } from './lib/big-store.ts'
import { type Asked, ask, times } from './lib/http/asking.ts'
import { mixed } from './lib/http/mixed-questions.ts'
import { type Look, startServing } from './lib/http/serving.ts'
import { FOUNDER } from './lib/people.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row } from './lib/report.ts'

export const name = 'http-memory'

const MINUTES = quick ? 0.5 : 10
/** Caches fill in the first. */
const SETTLED_AFTER = quick ? 0.1 : 2
const EVERY_MS = quick ? 3_000 : 30_000
const CONNECTIONS = 8
const WRITE_EVERY = 50
const WRITTEN = 200
/** Share of the memory in use once the server has settled. */
const MAX_GROWTH = 0.05

interface Seen extends Look {
  /** Since the beginning. */
  readonly minutes: number
}

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  await using server = await startServing({ home: home.folder })
  const started = performance.now()
  const minutes = (): number => (performance.now() - started) / 60_000
  const seen: Seen[] = []
  const latencies: number[] = []
  let sent = 0
  while (minutes() < MINUTES) {
    const until = performance.now() + EVERY_MS
    const next = (): Asked | null => (performance.now() < until ? request(sent++) : null)
    latencies.push(...times(await ask({ url: server.url, connections: CONNECTIONS, next })))
    seen.push({ ...(await server.look()), minutes: minutes() })
  }
  const settled = seen.filter(one => one.minutes >= SETTLED_AFTER)
  const goal = `grows <= ${MAX_GROWTH * 100} % after ${SETTLED_AFTER} minutes`
  const memory = (name: string, of: (look: Look) => number): Row => {
    const grown = growth(settled.map(of))
    const note = `${settled.map(one => megabytes(of(one))).join(', ')} MB`
    return { name, unit: '% grown', value: grown * 100, goal, ok: grown <= MAX_GROWTH, note }
  }
  return [
    memory('JavaScript heap and buffers in use', ({ heapUsed, arrayBuffers }) => heapUsed + arrayBuffers),
    memory('memory of the process', ({ rss }) => rss),
    {
      name: 'requests answered',
      unit: '',
      value: latencies.length,
      p99: percentile(latencies, 0.99),
      note: `one in ${WRITE_EVERY} a write; none refused; p99 in ms, with ${CONNECTIONS} connections`,
    },
  ]
}

function request(n: number): Asked {
  if (n % WRITE_EVERY !== 0) return mixed(n)
  const at = (n / WRITE_EVERY) % WRITTEN
  const entry = {
    id: `while-serving-${at}`,
    content: `Written while others ask, for the ${n}th time`,
    visibility: 'public',
  }
  return { path: '/v1/entries', viewer: FOUNDER.id, body: { entries: [entry] } }
}

/** From the mean of the first quarter to that of the last, as a share. */
function growth(values: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(values.length / 4))
  return mean(values.slice(-quarter)) / mean(values.slice(0, quarter)) - 1
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
