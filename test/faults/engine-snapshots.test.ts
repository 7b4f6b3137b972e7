/** Snapshots that are damaged, of another store or of another past: the engine answers as if there were none. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openTestEngine, TEST_NOW } from '../support/engines.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

const folder = tempFolder()
const home = folder.file('home')
const index = join(home, 'index')
/** Enough for a snapshot to be worth writing. */
const MANY = 300
const QUESTIONS = ['quick fox', 'automobile road', 'garden tulip 7', 'rain']
const WORDS = ['fox', 'car', 'road', 'garden', 'tulip', 'rain', 'quick', 'swift', 'dog']

let right: string
let sound: Map<string, Buffer>

beforeAll(async () => {
  await within(home, engine => add(engine, 'e', 1))
  right = await within(home, answers, { readOnly: true })
  sound = new Map(readdirSync(index).map(name => [name, readFileSync(join(index, name))]))
  expect([...sound.keys()].sort()).toEqual([
    'links.snapshot',
    'points.snapshot',
    expect.stringMatching(/^vectors-/),
    'words.snapshot',
  ])
})
afterAll(() => folder[Symbol.dispose]())

async function within<T>(at: string, body: (engine: Engine) => Promise<T>, more = {}): Promise<T> {
  await using engine = await openTestEngine({ home: at, embedder: openToyEmbedder(), ...more })
  return await body(engine)
}

async function add(engine: Engine, prefix: string, seed: number, count = MANY): Promise<void> {
  const random = seededUniform(seed)
  const word = () => WORDS[Math.floor(random() * WORDS.length)]
  const entries = Array.from({ length: count }, (_, at) => ({
    id: `${prefix}${at}`,
    content: `${at} ${word()} ${word()} ${word()}`,
  }))
  await engine.put({ entries, wait: true })
}

async function answers(engine: Engine): Promise<string> {
  const pages = await Promise.all(QUESTIONS.map(text => engine.query({ text, explain: true, touch: false })))
  return JSON.stringify([pages, await engine.similar({ id: 'e3' })])
}

/** What a reader answers now, and a writer after it, who may repair what is broken. */
async function expectRight(): Promise<void> {
  expect(await within(home, answers, { readOnly: true })).toBe(right)
  const { findings } = await within(home, engine => engine.doctor())
  // The broken file is reported by its name; nothing else is wrong because of it.
  expect(findings.filter(({ ok, check }) => !ok && !check.startsWith('snapshot '))).toEqual([])
}

function restore(): void {
  rmSync(index, { recursive: true, force: true })
  mkdirSync(index)
  for (const [name, bytes] of sound) writeFileSync(join(index, name), bytes)
}

describe.each(['words.snapshot', 'vectors-toy_toy.snapshot'])('%s', name => {
  const file = join(index, name)

  it('with flipped bits changes no answer, and is written again', async () => {
    const random = seededUniform(7)
    const { length } = sound.get(name) as Buffer
    const places = [0, 8, 12, 16, 24, 40, length - 1, ...Array.from({ length: 5 }, () => Math.floor(random() * length))]
    for (const place of places) {
      restore()
      const damaged = Buffer.from(sound.get(name) as Buffer)
      damaged[place] = (damaged[place] as number) ^ (1 << Math.floor(random() * 8))
      writeFileSync(file, damaged)
      expect(await within(home, answers, { readOnly: true }), `bit flipped in byte ${place}`).toBe(right)
    }
    await expectRight()
    expect(readFileSync(file).equals(sound.get(name) as Buffer)).toBe(true)
  })

  it.each<[string, () => unknown]>([
    ['cut short', () => truncateSync(file, 1000)],
    ['empty', () => writeFileSync(file, '')],
    ['missing', () => rmSync(file)],
    ['longer than it says', () => writeFileSync(file, Buffer.concat([sound.get(name) as Buffer, Buffer.alloc(9)]))],
    ['a folder', () => [rmSync(file), mkdirSync(file)]],
    ['another index', () => writeFileSync(file, [...sound].find(([other]) => other !== name)?.[1] as Buffer)],
  ])('that is %s changes no answer', async (_, harm) => {
    restore()
    harm()
    await expectRight()
  })
})

it('a folder of snapshots that is missing is made again', async () => {
  rmSync(index, { recursive: true })
  await expectRight()
  expect(readdirSync(index).sort()).toEqual([...sound.keys()].sort())
})

it('snapshots of another store are not taken', async () => {
  const other = folder.file('other')
  await within(other, engine => add(engine, 'e', 99))
  restore()
  cpSync(join(other, 'index'), index, { recursive: true })
  await expectRight()
})

describe('a backup of the store that was put back', () => {
  it.each([20, MANY + 20])('is answered from, and not what came after it, when it has grown by %i', async count => {
    const [one, backup] = [folder.file(`one ${count}`), folder.file(`backup ${count}`)]
    await within(one, engine => add(engine, 'a', 1))
    cpSync(join(one, 'store.db'), backup)
    // Grows by as many changes as make a new snapshot worth it.
    await within(one, engine => add(engine, 'b', 2))

    cpSync(backup, join(one, 'store.db'))
    const clock = new SettableClock(TEST_NOW + 60_000)
    await within(one, engine => add(engine, 'c', 3, count), { clock })
    const twin = folder.file(`twin ${count}`)
    mkdirSync(twin)
    cpSync(join(one, 'store.db'), join(twin, 'store.db'))
    const ask = async (engine: Engine) =>
      JSON.stringify(await Promise.all(QUESTIONS.map(text => engine.query({ text }))))
    expect(await within(one, ask, { readOnly: true })).toBe(await within(twin, ask, { readOnly: true }))
  })
})
