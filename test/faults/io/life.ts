/**
 * Short whole lives of an engine over a home, always the same ones, made to be lived while input and output fail. What
 * they do is noted; nothing in them waits for time, and nothing goes on in the background.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { callOperation, type Json } from '../../support/beliefs-engine.ts'
import { countingBytes } from '../../support/engines.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import type { Diary } from './deeds.ts'

export const NOW: number = Date.UTC(2026, 2, 1, 12)
export const NODE_TAGS: readonly string[] = ['c0', 'm0', 'm1', 'm2', 'm3', 'm4', 'm5', 'o0']
/** Changes of the home that a life begins with: a few more, and closing writes snapshots. */
const ENTRIES = 235
const NODES = 12
/** Some ticks of the background, where timers go as fast as in `life-child.ts`. */
const TICKS_MS = 250
const WORDS = ['fox', 'vixen', 'dog', 'car', 'automobile', 'road', 'garden', 'tulip', 'rain', 'quick', 'swift']

/**
 * `birth`: there is no home. `work`: one with entries, no snapshots. `start`: one with snapshots and a log left behind.
 * `upkeep`: one in which, beside a little work, all goes on that goes on in the background.
 */
export const LIVES = ['birth', 'work', 'start', 'upkeep'] as const
export type Life = (typeof LIVES)[number]

/** Files that were changed before a life begins; null: gone. */
export const FILES: Readonly<Record<Life, Readonly<Record<string, string | null>>>> = {
  birth: { 'f0.md': 'a file of a fox', 'f1.md': 'a file of rain' },
  work: { 'f0.md': 'changed: a vixen', 'f3.md': 'a new file of rain', 'f1.md': null },
  start: {},
  upkeep: {},
}

export function openAt(home: string, background = false): Promise<Engine> {
  return openEngine({
    ...{ home, embedder: openToyEmbedder(), background },
    ...{ clock: new SettableClock(NOW), random: countingBytes() },
  })
}

/** What is there before: entries, nodes, beliefs and files, in `home` and `files`. */
export async function prepare(home: string, files: string): Promise<void> {
  await using engine = await openAt(home)
  writeFiles(files, { 'f0.md': 'an old file of a fox', 'f1.md': 'another of a car', 'f2.md': 'one that stays' })
  const entries = Array.from({ length: ENTRIES }, (_, at) => ({ id: `e${at}`, content: sentence(at) }))
  await engine.put({ entries, wait: true })
  await engine.add({ paths: [files] })
  const zones = NODE_TAGS.map(hashtag => ({ hashtag, zone: ZONES[hashtag.charAt(0)] }))
  await call(engine, 'chroma.assign', { assignments: zones })
  for (let at = 0; at < NODES; at++) await storeNode(engine, `node ${at} of rain`)
  await call(engine, 'beliefs.put', { beliefs: [belief('b0'), belief('b1')] })
}

const ZONES: Readonly<Record<string, string>> = { c: 'Core', m: 'Mid', o: 'Outer' }

/** Opens, does one thing after another whatever became of the one before, and returns the engine if it could be opened. */
export async function live(life: Life, home: string, files: string, diary: Diary): Promise<Engine | null> {
  const engine = await tryOpen(home, diary, life === 'upkeep')
  if (engine !== null) await LIVED[life](engine, files, diary)
  return engine
}

async function tryOpen(home: string, diary: Diary, background: boolean): Promise<Engine | null> {
  let engine: Engine | null = null
  await diary.note('open', {}, async () => {
    engine = await openAt(home, background)
  })
  return engine
}

/** What a living engine must be able to do once nothing fails any more. */
export async function goOn(engine: Engine, diary: Diary): Promise<void> {
  await put(engine, diary, 'go on: put', { after: 'a fox after the fault' })
  await diary.note('go on: query', {}, async () => {
    const { items } = await engine.query({ text: 'after the fault', any: true })
    if (!items.some(item => item.id === 'after')) throw new Error('what was put is not found')
  })
}

const LIVED: Readonly<Record<Life, (engine: Engine, files: string, diary: Diary) => Promise<void>>> = {
  async birth(engine, files, diary) {
    await put(engine, diary, 'put', { n0: 'a new quick fox', n1: 'a new car' })
    await add(engine, diary, files, 'birth')
    await ask(engine, diary, 'fox')
  },
  async work(engine, files, diary) {
    await ask(engine, diary, 'quick fox')
    await put(engine, diary, 'put', { e0: 'no longer what it was', n0: 'a new fox', n1: 'a new tulip' })
    await add(engine, diary, files, 'work')
    await diary.note('delete', { e1: null, e2: null }, () => engine.delete({ ids: ['e1', 'e2'] }))
    await diary.note('chroma.query', {}, () => call(engine, 'chroma.query', { hashtags: NODE_TAGS, k: 3 }))
    await diary.note('chroma.decay', {}, () => call(engine, 'chroma.decay', {}))
    await diary.note('beliefs.put', { b2: 'b2 is so' }, () => call(engine, 'beliefs.put', { beliefs: [belief('b2')] }))
    await diary.note('beliefs.delete', { b1: null }, () => call(engine, 'beliefs.delete', { belief_id: 'b1' }))
    await ask(engine, diary, 'automobile rain')
  },
  async start(engine, _files, diary) {
    await ask(engine, diary, 'quick fox')
    await diary.note('chroma.query', {}, () => call(engine, 'chroma.query', { hashtags: NODE_TAGS, k: 3 }))
    await put(engine, diary, 'put', { e3: 'the first thing of this life' })
    await diary.note('list', {}, () => engine.list({ limit: 5 }))
    await diary.note('get', {}, () => engine.get({ id: 'e9' }))
  },
  async upkeep(engine, _files, diary) {
    await diary.note('put', { n0: 'a new fox' }, () => engine.put({ entries: [{ id: 'n0', content: 'a new fox' }] }))
    await sleep(TICKS_MS)
    await diary.note('delete', { e1: null }, () => engine.delete({ ids: ['e1'] }))
    await sleep(TICKS_MS)
    await ask(engine, diary, 'quick fox')
  },
}

export function put(
  engine: Engine,
  diary: Diary,
  name: string,
  contents: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = Object.entries(contents).map(([id, content]) => ({ id, content }))
  return diary.note(name, contents, () => engine.put({ entries, wait: true }))
}

function add(engine: Engine, diary: Diary, files: string, life: Life): Promise<void> {
  const will = Object.fromEntries(Object.entries(FILES[life]).map(([file, content]) => [`files/${file}`, content]))
  return diary.note(
    'add',
    will,
    () => engine.add({ paths: [files], wait: true }),
    ({ errors }) => errors.map(({ path }) => `files/${basename(path)}`),
  )
}

function ask(engine: Engine, diary: Diary, text: string): Promise<void> {
  return diary.note(`query ${text}`, {}, () => engine.query({ text, any: true, timeout_ms: 120_000 }))
}

function call(engine: Engine, name: string, input: Json): Promise<Json> {
  return callOperation(engine, name, 'owner', input)
}

function storeNode(engine: Engine, content: string): Promise<Json> {
  return call(engine, 'chroma.store', { hashtags: NODE_TAGS, label: content, content })
}

function belief(id: string): Json {
  return { id, content: `${id} is so`, visibility: 'public', domains: ['weather'] }
}

/** Of the place alone. */
function sentence(at: number): string {
  return Array.from({ length: 3 }, (_, word) => WORDS[(at * (word + 3) + word) % WORDS.length]).join(' ')
}

/** The user's own folder, as a life finds it. */
export function writeFiles(files: string, contents: Readonly<Record<string, string | null>>): void {
  mkdirSync(files, { recursive: true })
  for (const [name, content] of Object.entries(contents)) {
    if (content === null) rmSync(join(files, name), { force: true })
    else writeFileSync(join(files, name), content)
  }
}
