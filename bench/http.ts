/**
 * Whole questions over HTTP, loopback, connections kept, at 100,000 entries: how long one takes when one asks at a time, and
 * how many a second one process answers, which vary between floors taken by the server itself, between turns, as in
 * `bench/whole-query.ts`. The client runs in another process; where there are two cores it takes nothing away.
 */
import { bigHome } from './lib/big-store.ts'
import { ask, times } from './lib/http/asking.ts'
import { MIX, mixed, WARMING } from './lib/http/mixed-questions.ts'
import { type Serving, startServing } from './lib/http/serving.ts'
import { quick } from './lib/quick.ts'
import { latency, percentile, type Row } from './lib/report.ts'

export const name = 'http'

const TURNS = quick ? 3 : 9
const ONE_AT_A_TIME = quick ? 50 : 300
const TOGETHER = quick ? 200 : 3000
const CONNECTIONS = 8
/** Questions between two floors, which so find the caches as questions leave them. */
const FLOOR_EVERY = 5
/** Times the floor: docs/decisions/017. */
const GOAL = { p50: 9, mean: 6.9, p99: 208 }

interface Turn {
  readonly floor: number
  readonly alone: readonly number[]
  readonly together: readonly number[]
  readonly perSecond: number
  /** Milliseconds of processor time a question. */
  readonly cpu: number
}

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  await using server = await startServing({ home: home.folder })
  await ask({ url: server.url, connections: CONNECTIONS, next: n => (n < (quick ? 100 : WARMING) ? mixed(n) : null) })
  const turns: Turn[] = []
  for (let turn = 0; turn < TURNS; turn++) turns.push(await measure(server, turn))
  return rowsOf(turns)
}

async function measure(server: Serving, turn: number): Promise<Turn> {
  const { url } = server
  const from = turn * (ONE_AT_A_TIME + TOGETHER)
  const alone: number[] = []
  const floors: number[] = []
  for (let at = from; at < from + ONE_AT_A_TIME; at += FLOOR_EVERY) {
    floors.push(await server.floor())
    const few = await ask({ url, connections: 1, next: n => (n < FLOOR_EVERY ? mixed(at + n) : null) })
    alone.push(...times(few))
  }
  const before = await server.look()
  const many = await ask({ url, connections: CONNECTIONS, next: n => (n < TOGETHER ? mixed(from + n) : null) })
  const after = await server.look()
  return {
    floor: percentile(floors, 0.5),
    alone,
    together: times(many),
    perSecond: many.answers.length / many.seconds,
    cpu: (after.cpuMs - before.cpuMs) / many.answers.length,
  }
}

function rowsOf(turns: readonly Turn[]): readonly Row[] {
  const middle = (of: (turn: Turn) => number) => percentile(turns.map(of), 0.5)
  const floor = middle(one => one.floor)
  const alone = latency(
    'one at a time',
    turns.flatMap(one => one.alone),
  )
  const together = latency(
    `${CONNECTIONS} connections`,
    turns.flatMap(one => one.together),
  )
  const perSecond = middle(one => one.perSecond)
  const mean = middle(one => 1000 / one.perSecond / one.floor)
  return [
    { name: 'floor: all sign-code distances, in the server', unit: 'ms', value: floor },
    {
      ...alone,
      ratioToFloor: alone.p50 / floor,
      goal: `p50 <= ${GOAL.p50} x floor`,
      ok: alone.p50 <= GOAL.p50 * floor,
      note: MIX,
    },
    { ...together, goal: `p99 <= ${GOAL.p99} x floor`, ok: together.p99 <= GOAL.p99 * floor },
    {
      name: `${CONNECTIONS} connections, one process`,
      unit: 'questions/s',
      value: perSecond,
      ratioToFloor: mean,
      goal: `mean <= ${GOAL.mean} x floor`,
      ok: mean <= GOAL.mean,
      note: `${middle(one => one.cpu).toFixed(2)} ms of processor time each`,
    },
  ]
}
