/**
 * One part of `bench/scale.ts` in a process of its own: `node --expose-gc bench/lib/scale-child.ts <part> <home>`. Works on
 * the home it is given, which is a copy, and prints what it measured as JSON.
 */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { saveSnapshot } from '../../src/index/snapshot.ts'
import type { KernelVectorIndex } from '../../src/index/vectors.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { LOCAL_OWNER, type Viewer } from '../../src/model/viewer.ts'
import { seededUniform } from '../../src/testing/seeded.ts'
import { ProseTexts } from './prose-data.ts'
import { percentile, timed, timedAsync } from './report.ts'
import {
  entryOf,
  HOLDER,
  HOLDER_COLLECTION,
  heldOut,
  MEMBER,
  openScaleStandIn,
  questions,
  spent,
} from './scale-store.ts'
import { miniLm } from './stand-in.ts'

/** What was measured of one size: its name is that of a series over all sizes. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly value: number
  readonly p99?: number | undefined
  readonly note?: string | undefined
}

export type Part = 'freshen' | 'load' | 'ask' | 'change' | 'rebuild' | 'doctor' | 'backup'

/** Name of the vector index. */
const VECTORS = `vectors-${modelKey(await miniLm())}`
const quick = Boolean(process.env['QUERENT_QUICK'])
const ROUNDS = quick ? 20 : 150
const WARM_UP = quick ? 5 : 50
const CHANGES = quick ? 5 : 20
const LOOKS = quick ? 3 : 10
/** Enough that a snapshot is worth writing. */
const MANY_CHANGES = 600

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

const parts: Readonly<Record<Part, (home: string) => Promise<readonly Figure[]>>> = {
  freshen,
  load,
  ask,
  change,
  rebuild,
  doctor,
  backup,
}

const [part, home] = process.argv.slice(2)
if (part !== undefined && part in parts && home !== undefined) {
  console.log(JSON.stringify(await parts[part as Part](home)))
}

async function openAt(home: string): Promise<Engine> {
  return openEngine({ home, embedder: await openScaleStandIn(), background: false })
}

/** Closing saves the snapshots where there are none that this version understands. */
async function freshen(home: string): Promise<readonly Figure[]> {
  const engine = await openAt(home)
  await engine.status()
  await engine.close()
  return []
}

/** From snapshots to the first answer, and what is then held. */
async function load(home: string): Promise<readonly Figure[]> {
  const before = await rest()
  const started = performance.now()
  const engine = await openAt(home)
  const opened = performance.now() - started
  const host = engine.host('default')
  const names = ['words', VECTORS] as const
  const [words, vectors] = names.map(name => timed(() => host.index(name))) as [number, number]
  const first = await timedAsync(() => engine.query({ text: threeWords[0] as string }, { viewer: MEMBER }))
  const second = await timedAsync(() => engine.query({ text: threeWords[1] as string }, { viewer: MEMBER }))
  const after = await rest()
  const { chunks, indexes } = await engine.status()
  const figures: Figure[] = [
    { name: 'open, without indexes', unit: 'ms', value: opened },
    { name: 'load words from their snapshot', unit: 'ms', value: words },
    { name: 'load vectors from their snapshot', unit: 'ms', value: vectors },
    { name: 'first question after loading', unit: 'ms', value: first },
    { name: 'second question', unit: 'ms', value: second },
    ...indexes.map(({ name, bytes }) => ({
      name: `memory of ${name.split('-')[0]}, counted`,
      unit: 'bytes a chunk',
      value: (bytes ?? 0) / chunks,
    })),
    { name: 'memory, as the process grows', unit: 'bytes a chunk', value: (after - before) / chunks },
    { name: 'memory of the process', unit: 'MiB', value: after / 2 ** 20 },
    { name: 'memory of the process at most', unit: 'MiB', value: process.resourceUsage().maxRSS / 1024 },
  ]
  await engine.close()
  return figures
}

async function ask(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const host = engine.host('default')
  const kernel = host.index(VECTORS) as KernelVectorIndex
  const everything = { partitions: host.sight(LOCAL_OWNER).partitions }
  const samples = new Map<string, number[]>([
    ['floor', []],
    ...kinds.map(({ name }) => [name, []] as [string, number[]]),
  ])
  const one = (kind: Kind, round: number) =>
    engine.query(
      { text: kind.texts[round % kind.texts.length] as string, explain: true, ...kind.input },
      { viewer: kind.viewer },
    )
  const tasks = [
    { name: 'floor', run: async (round: number) => kernel.sweepDistances(heldOut(round), everything) },
    ...kinds.map(kind => ({ name: kind.name, run: (round: number) => one(kind, round) })),
  ]
  const unmet: number[] = []
  for (const kind of kinds) unmet.push(await timedAsync(() => one(kind, 0)))
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
  const hybrid = kinds[0] as Kind
  const spentAsking = await spent(async () => {
    for (let round = 0; round < ROUNDS; round++) await one(hybrid, round)
  })
  figures.push({
    name: 'hybrid, 3 words, one after the other',
    unit: 'questions/s',
    value: ROUNDS / spentAsking.seconds,
  })
  figures.push({ name: 'processor time of a question', unit: 'ms', value: (1000 * spentAsking.cpu) / ROUNDS })
  const looks: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['list 10 by updated', () => engine.list({ order: 'updated' }, { viewer: MEMBER })],
    ['list 10 by accessed', () => engine.list({ order: 'accessed' }, { viewer: MEMBER })],
    [
      'list 10 by id, filtered to 5 %',
      () => engine.list({ order: 'id', filter: { metadata: { bucket: { lt: 50 } } } }, { viewer: MEMBER }),
    ],
    ['status with its counts', () => engine.status({ viewer: MEMBER })],
    ['facet of tags', async () => host.store.facet(host.sight(MEMBER), 'tag', 100)],
  ]
  for (const [name, look] of looks) figures.push(await several(name, LOOKS, look))
  return figures
}

/** Writes with the answer after each, and saving what became of them. */
async function change(home: string): Promise<readonly Figure[]> {
  const engine = await openAt(home)
  const texts = new ProseTexts(77)
  const { chunks } = await engine.status()
  const uniform = seededUniform(3)
  const holderOf = (id: string) => engine.host('default').store.find(id, everyPartition(engine))
  const some = () => Math.floor(uniform() * chunks)
  const question = { text: threeWords[0] as string }
  const filtered = { ...question, filter: { metadata: { bucket: { lt: 500 } } } }
  await engine.query(question, { viewer: MEMBER })
  await engine.query(filtered, { viewer: MEMBER })
  const times = {
    update: [] as number[],
    after: [] as number[],
    filtered: [] as number[],
    remove: [] as number[],
    gone: [] as number[],
  }
  for (let at = 0; at < CHANGES; at++) {
    const [key] = holderOf(`entry-${some()}`)
    const entry = engine.host('default').store.entry(key ?? 1)
    if (entry === undefined) continue
    const own = { viewer: { id: entry.audience.holder } }
    const visibility = entry.audience.kind
    const federations = entry.audience.kind === 'shared' ? { federations: entry.audience.federations } : {}
    const draft = { ...entryOf(at, texts), id: entry.id, collection: entry.collection, visibility, ...federations }
    times.update.push(await timedAsync(() => engine.put({ entries: [draft], wait: true }, own)))
    times.after.push(await timedAsync(() => engine.query(question, { viewer: MEMBER })))
    times.filtered.push(await timedAsync(() => engine.query(filtered, { viewer: MEMBER })))
    times.remove.push(await timedAsync(() => engine.delete({ ids: [entry.id] }, own)))
    times.gone.push(await timedAsync(() => engine.query(question, { viewer: MEMBER })))
  }
  const entries = Array.from({ length: MANY_CHANGES }, (_, at) => ({
    ...entryOf(at, texts),
    id: `new-${at}`,
    visibility: 'public' as const,
  }))
  await engine.put({ entries, wait: true }, { viewer: { id: 'founder' } })
  const host = engine.host('default')
  const saving: Figure[] = []
  for (const name of ['words', VECTORS]) {
    const index = host.index(name)
    const path = join(home, `${name.split('-')[0]}.trial`)
    const first = timed(() => saveSnapshot(path, index, host.store))
    const short = name.split('-')[0]
    saving.push({
      name: `save a snapshot of ${short}, with changes: nothing is answered meanwhile`,
      unit: 'ms',
      value: first,
    })
    saving.push({ name: `snapshot of ${short}`, unit: 'bytes a chunk', value: statSync(path).size / chunks })
    rmSync(path)
  }
  await engine.close()
  return [
    figureOf('update an entry, vector included', times.update),
    figureOf('question after an update', times.after),
    figureOf('question with a filter that keeps 50 %, after an update', times.filtered),
    figureOf('delete an entry', times.remove),
    figureOf('question after a deletion', times.gone),
    ...saving,
  ]
}

/** All indexes from the store alone. */
async function rebuild(home: string): Promise<readonly Figure[]> {
  rmSync(join(home, 'index'), { recursive: true, force: true })
  const before = await rest()
  const engine = await openAt(home)
  const host = engine.host('default')
  const figures: Figure[] = []
  for (const name of ['words', VECTORS]) {
    const { seconds, cpu } = await spent(async () => host.index(name))
    const what = `build ${name.split('-')[0]} from the store`
    figures.push({ name: what, unit: 's', value: seconds }, { name: `${what}, processor time`, unit: 's', value: cpu })
  }
  const most = process.resourceUsage().maxRSS / 1024
  figures.push({
    name: 'memory at most while building, beyond that before it',
    unit: 'MiB',
    value: most - before / 2 ** 20,
  })
  // Closing would save them, which is measured elsewhere.
  process.once('beforeExit', () => process.exit())
  return figures
}

async function doctor(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const { seconds } = await spent(async () => {
    const { ok, findings } = await engine.doctor()
    if (!ok) throw new Error(`the doctor found something: ${JSON.stringify(findings.filter(finding => !finding.ok))}`)
  })
  return [{ name: 'doctor', unit: 's', value: seconds }]
}

async function backup(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const { seconds } = await spent(() => engine.backup({ to: join(home, 'copy.db') }))
  return [{ name: 'backup', unit: 's', value: seconds }]
}

function everyPartition(engine: Engine): readonly number[] {
  return engine
    .host('default')
    .store.partitions()
    .map(({ id }) => id)
}

async function several(name: string, count: number, body: () => Promise<unknown>): Promise<Figure> {
  const times: number[] = []
  for (let at = 0; at < count; at++) times.push(await timedAsync(body))
  return figureOf(name, times)
}

function figureOf(name: string, times: readonly number[]): Figure {
  return { name, unit: 'ms', value: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

/** Bytes held once what is not needed was let go. */
async function rest(): Promise<number> {
  for (let at = 0; at < 5; at++) {
    globalThis.gc?.()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return process.memoryUsage.rss()
}
