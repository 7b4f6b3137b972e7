/** Questions of all kinds in turn with the floor, one question after the other, and lists. */
import type { Engine } from '../../../src/engine/engine.ts'
import type { KernelVectorIndex } from '../../../src/index/vectors.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { LOCAL_OWNER, type Viewer } from '../../../src/model/viewer.ts'
import { seededUniform } from '../../../test/support/seeded.ts'
import { HOLDER, HOLDER_COLLECTION, MEMBER } from '../people.ts'
import { quick } from '../quick.ts'
import { percentile, timedAsync } from '../report.ts'
import { type Figure, several } from './figures.ts'
import { openAt, VECTORS } from './opened.ts'
import { heldOut, questions, spent } from './store.ts'

const ROUNDS = quick ? 20 : 150
const WARM_UP = quick ? 5 : 50
const LOOKS = quick ? 3 : 10

interface Kind {
  readonly name: string
  readonly viewer: Viewer
  readonly texts: readonly string[]
  readonly input: Partial<QueryInput>
}

const threeWords = questions(3)
const kinds: readonly Kind[] = [
  { name: 'hybrid, 3 words', viewer: MEMBER, texts: threeWords, input: {} },
  { name: 'hybrid, 8 words', viewer: MEMBER, texts: questions(8), input: {} },
  { name: 'words only, 3 words', viewer: MEMBER, texts: threeWords, input: { mode: 'words' } },
  { name: 'meaning only', viewer: MEMBER, texts: threeWords, input: { mode: 'meaning' } },
  ...(
    [
      [50, 500],
      [5, 50],
      [0.5, 5],
    ] as const
  ).map(([share, below]) => ({
    name: `hybrid, 3 words, filter keeps ${share} %`,
    viewer: MEMBER,
    texts: threeWords,
    input: { filter: { metadata: { bucket: { lt: below } } } },
  })),
  {
    name: 'hybrid, 3 words, own partition',
    viewer: HOLDER,
    texts: threeWords,
    input: { filter: { collections: [HOLDER_COLLECTION] } },
  },
]

export async function ask(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  return [...(await inTurns(engine)), ...(await oneAfterTheOther(engine)), ...(await looks(engine))]
}

function askOne(engine: Engine, kind: Kind, round: number): Promise<unknown> {
  const text = kind.texts[round % kind.texts.length] as string
  return engine.query({ text, explain: true, ...kind.input }, { viewer: kind.viewer })
}

async function inTurns(engine: Engine): Promise<readonly Figure[]> {
  const host = engine.host('default')
  const kernel = host.index(VECTORS) as KernelVectorIndex
  const everything = { partitions: host.accessScope(LOCAL_OWNER).partitions }
  const samples = new Map<string, number[]>([
    ['floor', []],
    ...kinds.map(({ name }) => [name, []] as [string, number[]]),
  ])
  const tasks = [
    { name: 'floor', run: async (round: number) => kernel.sweepDistances(heldOut(round), everything) },
    ...kinds.map(kind => ({ name: kind.name, run: (round: number) => askOne(engine, kind, round) })),
  ]
  const unmet: number[] = []
  for (const kind of kinds) unmet.push(await timedAsync(() => askOne(engine, kind, 0)))
  const shuffle = seededUniform(1)
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const order = tasks.map(task => ({ task, place: shuffle() })).sort((a, b) => a.place - b.place)
    for (const { task } of order) {
      const ms = await timedAsync(() => task.run(round))
      if (round >= WARM_UP) samples.get(task.name)?.push(ms)
    }
  }
  const floor = percentile(samples.get('floor') ?? [], 0.5)
  const figures: Figure[] = tasks.map(({ name }) => {
    const times = samples.get(name) ?? []
    const value = percentile(times, 0.5)
    return { name, unit: 'ms', value, p99: percentile(times, 0.99), note: `${(value / floor).toFixed(2)} x floor` }
  })
  for (const [at, kind] of kinds.entries()) {
    if (!kind.name.includes('filter keeps')) continue
    figures.push({ name: `${kind.name}, first time`, unit: 'ms', value: unmet[at] as number })
  }
  return figures
}

async function oneAfterTheOther(engine: Engine): Promise<readonly Figure[]> {
  const hybrid = kinds[0] as Kind
  const { seconds, cpu } = await spent(async () => {
    for (let round = 0; round < ROUNDS; round++) await askOne(engine, hybrid, round)
  })
  return [
    { name: 'hybrid, 3 words, one after the other', unit: 'questions/s', value: ROUNDS / seconds },
    { name: 'processor time of a question', unit: 'ms', value: (1000 * cpu) / ROUNDS },
  ]
}

async function looks(engine: Engine): Promise<readonly Figure[]> {
  const host = engine.host('default')
  const all: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['list 10 by updated', () => engine.list({ order: 'updated' }, { viewer: MEMBER })],
    ['list 10 by accessed', () => engine.list({ order: 'accessed' }, { viewer: MEMBER })],
    [
      'list 10 by id, filtered to 5 %',
      () => engine.list({ order: 'id', filter: { metadata: { bucket: { lt: 50 } } } }, { viewer: MEMBER }),
    ],
    ['status with its counts', () => engine.status({ viewer: MEMBER })],
    ['facet of tags', async () => host.store.facet(host.accessScope(MEMBER), 'tag', 100)],
  ]
  const figures: Figure[] = []
  for (const [name, look] of all) figures.push(await several(name, LOOKS, look))
  return figures
}
