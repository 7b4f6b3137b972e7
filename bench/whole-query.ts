/**
 * Whole questions through `Engine.query`, as a program asks them: partitions, words, vectors, fusion, ten entries,
 * explanations, the durable access update. Each question was asked once before, which is what "its vector is cached"
 * means. Kinds of questions and the floor take turns in random order, so that neighbours and caches treat all alike;
 * questions a second are those of a turn of fifty of one kind, with floors between them; the median turn of nine.
 */
import type { Engine } from '../src/engine/engine.ts'
import type { VectorIndex } from '../src/index/contract.ts'
import type { KernelVectorIndex } from '../src/index/vectors.ts'
import type { QueryInput } from '../src/model/query-input.ts'
import { LOCAL_OWNER, type Viewer } from '../src/model/viewer.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { bigHome, ENTRIES, questions, SHARES } from './lib/big-store.ts'
import { HOLDER, HOLDER_COLLECTION, MEMBER } from './lib/people.ts'
import { quick } from './lib/quick.ts'
import { latency, percentile, type Row, timed, timedAsync } from './lib/report.ts'
import { heldOut } from './lib/stand-in.ts'

export const name = 'whole-query'

/** Questions of a kind; of both lengths together fewer than the engine keeps vectors of. */
const ROUNDS = quick ? 100 : 450
const TURNS = 9
/** Questions between two floors. */
const FLOOR_EVERY = 5
const NEW_FILTERS = 100
const WRITES = quick ? 20 : 200

interface Kind {
  readonly name: string
  readonly viewer: Viewer
  readonly texts: readonly string[]
  readonly input: Partial<QueryInput>
  readonly goals?: Goals
}

/** Times the floor; why the mean has these: docs/decisions/017. */
interface Goals {
  readonly p50?: number
  readonly p99?: number
  /** Of questions asked one after the other. */
  readonly mean?: number
}

/** Questions of one kind, one after the other; milliseconds. */
interface Turn {
  readonly mean: number
  /** Of some measured between. */
  readonly floor: number
}

const GOALS: Goals = { p50: 5, p99: 15, mean: 5.5 }

const questions3 = questions(3)

const kinds: readonly Kind[] = [
  { name: 'hybrid, 3 words', viewer: MEMBER, texts: questions3, input: {}, goals: GOALS },
  { name: 'hybrid, 8 words', viewer: MEMBER, texts: questions(8), input: {} },
  ...SHARES.map(([share, below]) => ({
    name: `hybrid, 3 words, metadata filter met before that keeps ${share}`,
    viewer: MEMBER,
    texts: questions3,
    input: { filter: { metadata: { bucket: { lt: below } } } },
  })),
  {
    name: 'hybrid, 3 words, own partition',
    viewer: HOLDER,
    texts: questions3,
    input: { filter: { collections: [HOLDER_COLLECTION] } },
    goals: { mean: 2.75 },
  },
  { name: 'words only, 3 words', viewer: MEMBER, texts: questions3, input: { mode: 'words' } },
  { name: 'hybrid, 3 words, no access update', viewer: MEMBER, texts: questions3, input: { touch: false } },
]

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  await using engine = await home.open()
  return await measure(engine, home.vectors)
}

async function measure(engine: Engine, vectors: string): Promise<readonly Row[]> {
  const { floor, leg } = vectorLegs(engine, vectors)
  const ask = (kind: Kind, round: number) =>
    engine.query(
      { text: kind.texts[round % kind.texts.length] as string, explain: true, ...kind.input },
      { viewer: kind.viewer },
    )
  const floors: number[] = []
  const legs: number[] = []
  const samples = new Map(kinds.map(kind => [kind.name, [] as number[]]))
  for (let round = 0; round < ROUNDS; round++) {
    leg(round)
    for (const kind of kinds) await ask(kind, round)
  }
  const tasks = [
    async (round: number) => floors.push(timed(() => floor(round))),
    async (round: number) => legs.push(timed(() => leg(round))),
    ...kinds.map(kind => async (round: number) => {
      samples.get(kind.name)?.push(await timedAsync(() => ask(kind, round)))
    }),
  ]
  const shuffle = seededUniform(1)
  for (let round = 0; round < ROUNDS; round++) {
    // In any order: none always finds the caches as the same other one left them.
    const order = tasks.map(task => ({ task, place: shuffle() })).sort((a, b) => a.place - b.place)
    for (const { task } of order) await task(round)
  }
  const turns = new Map(kinds.map(kind => [kind.name, [] as Turn[]]))
  for (let turn = 0; turn < TURNS; turn++) {
    const [from, to] = [turn, turn + 1].map(at => Math.floor((ROUNDS * at) / TURNS)) as [number, number]
    const rounds = Array.from({ length: to - from }, (_, at) => from + at)
    const order = kinds.map(kind => ({ kind, place: shuffle() })).sort((a, b) => a.place - b.place)
    for (const { kind } of order) {
      // Some between: the machine's speed drifts within seconds.
      const near: number[] = []
      let ms = 0
      for (const round of rounds) {
        if (round % FLOOR_EVERY === 0) near.push(timed(() => floor(round)))
        ms += await timedAsync(() => ask(kind, round))
      }
      turns.get(kind.name)?.push({ mean: ms / rounds.length, floor: percentile(near, 0.5) })
    }
  }
  const base = percentile(floors, 0.5)
  const unmet: number[] = []
  for (let round = 0; round < NEW_FILTERS; round++) unmet.push(await timedAsync(() => askByNewFilter(engine, round)))
  const behind: number[] = []
  for (let round = 0; round < WRITES; round++) {
    const content = `${questions3[round] as string} written while others ask`
    await engine.put({ entries: [{ content, visibility: 'public' }] })
    behind.push(await timedAsync(() => ask(kinds[0] as Kind, round)))
  }
  return [
    inFloors('floor: all sign-code distances', floors, base, {}, `${ENTRIES} vectors, generated`),
    inFloors('vector leg, k 10, approximate', legs, base, { p50: 3 }, 'f32 vectors read from SQLite'),
    ...kinds.map(kind => inFloors(kind.name, samples.get(kind.name) ?? [], base, kind.goals ?? {})),
    inFloors('hybrid, 3 words, new metadata filter that keeps 5 %', unmet, base, {}, 'alone, after the others'),
    inFloors('hybrid, 3 words, behind each write', behind, base, {}, 'the write is of a public entry that answers'),
    ...kinds.map(kind => throughput(kind, turns.get(kind.name) ?? [])),
  ]
}

/** The same entries each time, by a filter that the engine has not met. */
function askByNewFilter(engine: Engine, round: number): Promise<unknown> {
  const filter = { metadata: { bucket: { lt: 50 - (round + 1) / 1e6 } } }
  const text = questions3[round % questions3.length] as string
  return engine.query({ text, explain: true, filter }, { viewer: MEMBER })
}

/** The kernel's floor over everything, and the vector leg as the member asks it, both on the engine's own index. */
function vectorLegs(engine: Engine, name: string): { floor: (round: number) => void; leg: (round: number) => void } {
  const host = engine.host('default')
  const index = host.index(name)
  const [kernel, vectors] = [index as KernelVectorIndex, index as VectorIndex]
  const everything = { partitions: host.accessScope(LOCAL_OWNER).partitions }
  const accessScope = { partitions: host.accessScope(MEMBER).partitions }
  return {
    floor: round => kernel.sweepDistances(heldOut(round), everything),
    leg: round => vectors.search({ ...accessScope, vector: heldOut(round), k: 10, approximate: true }),
  }
}

function inFloors(name: string, times: readonly number[], floor: number, goals: Goals, note?: string): Row {
  const row = latency(name, times)
  const { p50, p99 } = row
  const wanted = [goals.p50 && `p50 <= ${goals.p50} x floor`, goals.p99 && `p99 <= ${goals.p99} x floor`].filter(
    Boolean,
  )
  const isMet =
    p50 <= (goals.p50 ?? Number.POSITIVE_INFINITY) * floor && p99 <= (goals.p99 ?? Number.POSITIVE_INFINITY) * floor
  return {
    ...row,
    ratioToFloor: p50 / floor,
    ...(wanted.length > 0 && { goal: wanted.join(', '), ok: isMet }),
    ...(note !== undefined && { note }),
  }
}

function throughput({ name, goals }: Kind, turns: readonly Turn[]): Row {
  const middle = (of: (turn: Turn) => number) => percentile(turns.map(of), 0.5)
  const ratioToFloor = middle(({ mean, floor }) => mean / floor)
  const goal = goals?.mean
  return {
    name: `${name}, one after the other`,
    unit: 'questions/s',
    value: 1000 / middle(({ mean }) => mean),
    ratioToFloor,
    ...(goal !== undefined && { goal: `mean <= ${goal} x floor`, ok: ratioToFloor <= goal }),
  }
}
