/**
 * Homes of 10,000 to a million entries of one chunk each for `bench/scale.ts`, made once and kept in bench/out: prose of
 * about 60 words, generated vectors. 60 % is public, 20 % shared with one federation, the rest private to 40 holders.
 * Entries come in by `put` and vectors by the engine's own embedding, as in use; what that took is kept beside the store.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { PutInput } from '../../../src/model/entry-input.ts'
import { keptStore, madeOf } from '../kept-store.ts'
import { FEDERATION, FOUNDER, HOLDERS, holderName, introduce, privateCollection } from '../people.ts'
import { ProseTexts } from '../prose-data.ts'
import { quick } from '../quick.ts'
import { machine } from '../report.ts'
import { inTurn, miniLm } from '../stand-in.ts'
import { mixture } from '../vectors-data.ts'

export const SIZES: readonly number[] = quick ? [1_000, 3_000] : [10_000, 30_000, 100_000, 300_000, 1_000_000]

const WORDS = 60
const TITLE_WORDS = 5
const MADE_AT = Date.UTC(2026, 0, 1)
/** Entries in one round of puts; each audience's share of it is one transaction. */
const ROUND = 1_000
const DIMENSIONS = 384
const QUESTIONS = 1_000
/** Vectors of all sizes are the first ones of one file. */
const VECTORS = Math.max(...SIZES)
/** To be raised when what is made here changes. Older schemas are migrated when a copy is opened. */
const VERSION = 1

/** What making the store took; measured where it was made, once. */
export interface Making {
  readonly date: string
  readonly load: number
  /** Seconds of wall and of processor time. */
  readonly put: Spent
  readonly embed: Spent
  readonly storeBytes: number
}

export interface Spent {
  readonly seconds: number
  readonly cpu: number
}

export interface ScaleHome {
  readonly folder: string
  readonly making: Making
}

/** The kept home itself, made if need be: to be copied by whoever writes to it. */
export async function scaleHome(size: number): Promise<ScaleHome> {
  const made = madeOf([VERSION, modelKey(await miniLm())], [])
  const folder = await keptStore({ name: `scale-${size}`, made, holds: `${size} entries` }, async home => {
    const making = await make(home, size)
    writeFileSync(join(home, 'making.json'), JSON.stringify(making, null, 2))
    return home
  })
  return { folder, making: JSON.parse(readFileSync(join(folder, 'making.json'), 'utf8')) as Making }
}

async function make(home: string, size: number): Promise<Making> {
  let engine = await openEngine({
    home,
    create: true,
    embedder: 'none',
    background: false,
    clock: { now: () => MADE_AT },
  })
  engine.host('default').store.write(MADE_AT, writer => introduce(writer, MADE_AT))
  const put = await spent(() => putAll(engine, size))
  await engine.close()
  engine = await openEngine({ home, embedder: await openScaleStandIn(), background: false })
  const embed = await spent(() => engine.embedded())
  await engine.close()
  const storeBytes = statSync(join(home, 'store.db')).size
  return { date: new Date().toISOString(), load: machine().load, put, embed, storeBytes }
}

export async function spent(body: () => Promise<unknown>): Promise<Spent> {
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  await body()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 }
}

async function putAll(engine: Engine, size: number): Promise<void> {
  const texts = new ProseTexts(7)
  for (let from = 0; from < size; from += ROUND) {
    const round = from / ROUND
    const some = (first: number, count: number, common: Partial<PutInput>) =>
      Array.from({ length: count }, (_, at) => ({ ...entryOf(from + first + at, texts), ...common }))
    await engine.put({ entries: some(0, 600, { visibility: 'public' }) }, { viewer: FOUNDER })
    const shared = { visibility: 'shared', federations: [FEDERATION] } as const
    await engine.put({ entries: some(600, 200, shared) }, { viewer: FOUNDER })
    for (const [first, holder] of [
      [800, 2 * round],
      [900, 2 * round + 1],
    ] as const) {
      const number = holder % HOLDERS
      const own = { visibility: 'private', collection: privateCollection(number) } as const
      await engine.put({ entries: some(first, 100, own) }, { viewer: { id: holderName(number) } })
    }
    if (from > 0 && from % 100_000 === 0) console.error(`    ${from} entries`)
  }
}

/** By number; the same whatever the size. */
export function entryOf(at: number, texts: ProseTexts): PutInput {
  return {
    id: `entry-${at}`,
    collection: `part-${at % 3}`,
    kind: 'document',
    title: texts.prose(TITLE_WORDS),
    content: texts.prose(WORDS),
    tags: [`tag-${at % 17}`],
    metadata: { bucket: (at * 7919) % 1000 },
    created_at: MADE_AT + at * 60_000,
  }
}

/** Questions of so many words. */
export function questions(words: number): readonly string[] {
  const texts = new ProseTexts(900 + words)
  return Array.from({ length: QUESTIONS }, () => texts.question(words))
}

/** In the place of a model: passages get the generated vectors one after the other, questions held-out ones. */
export async function openScaleStandIn(): Promise<Embedder> {
  const asked = inTurn(heldOut)
  let next = 0
  return {
    model: await miniLm(),
    embed: async (texts, kind) => texts.map(text => (kind === 'query' ? asked(text) : vectorAt(next++ % VECTORS))),
    close: async () => {},
  }
}

/** The n-th held-out vector; after the last the first again. */
export function heldOut(n: number): Float32Array {
  return vectorAt(VECTORS + (n % QUESTIONS))
}

let file: number | undefined

/** Read from the file as it is wanted: a process that is measured must not hold all of them. */
function vectorAt(row: number): Float32Array {
  file ??= openVectors()
  const vector = new Float32Array(DIMENSIONS)
  readSync(file, new Uint8Array(vector.buffer), 0, vector.byteLength, row * vector.byteLength)
  return vector
}

function openVectors(): number {
  const path = fileURLToPath(new URL(`../../out/mixture-${VECTORS}-${QUESTIONS}-${DIMENSIONS}-42.f32`, import.meta.url))
  if (!existsSync(path)) mixture({ rows: VECTORS, queries: QUESTIONS, dimensions: DIMENSIONS, seed: 42 })
  const opened = openSync(path, 'r')
  process.once('exit', () => closeSync(opened))
  return opened
}
