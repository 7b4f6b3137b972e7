/** A store with something of every lens, what is read of it, and damages to bytes of its file. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { salvageStore } from '../../src/store/care/salvage.ts'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import { openTestEngine, TEST_NOW } from '../support/engines.ts'
import { seededUniform } from '../support/seeded.ts'
import { onFile } from './care/damaged-store.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every lens, distinguished by what they hold
type Json = any
type Call = (operation: string, input: object) => Promise<Json>

const ENTRIES = 120

function callerOf(engine: Engine): Call {
  const catalog = makeCatalog(engine)
  const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  return (operation, input) => callOperation(catalog, engine, operation, input, context)
}

export async function fillStore(home: string): Promise<void> {
  await using engine = await openTestEngine({ home })
  const call = callerOf(engine)
  const words = ['amber', 'basalt', 'cedar', 'delta', 'ember', 'fjord', 'garnet', 'heron']
  await engine.put({
    entries: Array.from({ length: ENTRIES }, (_, at) => ({
      id: `e${at}`,
      title: `Title ${at} ${words[at % 8]}`,
      content: `Entry ${at} tells of ${words[at % 8]} and ${words[(at * 3) % 8]}. `.repeat(1 + ((at * 7) % 40)),
      tags: [`t${at % 5}`, words[at % 8] as string],
      metadata: { n: at, s: `val${at}`, deep: { flag: at % 2 === 0 } },
      visibility: at % 3 === 0 ? ('public' as const) : ('private' as const),
    })),
  })
  for (let at = 0; at < 12; at++) {
    await call('beliefs.put', {
      ...{ id: `b${at}`, content: `The ${words[at % 8]} is ${at} years old`, visibility: 'public' },
      ...{ domains: ['nature'], confidence: { source_reliability: 0.3 + at / 20 } },
    })
    await call('conversations.remember', {
      ...{ text: `Message ${at} about the ${words[at % 8]}`, speaker: at % 2 === 0 ? 'Tom' : 'Mira' },
      ...{ conversation: `talk${at % 3}`, id: `m${at}`, at: `2025-03-14T10:${10 + at}:00Z` },
    })
  }
  await call('chroma.assign', { starter: true })
  const nodes = Array.from({ length: 12 }, (_, at) =>
    nodeOf(`node${at}`, HASHTAGS.python, { created_at: TEST_NOW / 1000 - at, metadata: { year: 2000 + at } }),
  )
  await call('chroma.import', { version: 1, nodes })
  await call('context.mind_init', {})
  await call('context.mind_concepts_create_many', {
    concepts: Array.from({ length: 12 }, (_, at) => ({ name: `Concept${at}`, type: 'Idea' })),
  })
  await engine.query({ text: 'amber' })
}

/** Passages of a text are found again when it is written again; one that is lost costs no entry. */
function withoutChunks(line: Json): Json {
  return line.type === 'entry' ? { ...line, entry: { ...line.entry, chunks: [] } } : line
}

async function linesOf(engine: Engine): Promise<readonly Json[]> {
  const lines: Json[] = []
  for await (const line of engine.export()) lines.push(withoutChunks(line))
  return lines
}

/** What is read: a name, the call, and where its items are, each with what tells it from the others. */
interface Read {
  readonly name: string
  readonly run: (call: Call, engine: Engine) => Promise<Json>
  readonly items: (answer: Json) => readonly Json[]
  readonly identity: (item: Json) => string
  /** Of an item, what was stored; scores and the like are made of other rows too. */
  readonly stored: (item: Json) => Json
}

const whole = (item: Json) => item
const READS: readonly Read[] = [
  ...[3, 30, 57, 84, 111].map(at => ({
    name: `get e${at}`,
    run: (call: Call) => call('get', { id: `e${at}` }),
    items: (answer: Json) => [answer],
    identity: ({ id }: Json) => id,
    stored: whole,
  })),
  {
    name: 'list',
    run: call => call('list', { order: 'id', limit: 1000 }),
    items: ({ items }) => items,
    identity: ({ id }) => id,
    stored: whole,
  },
  ...['amber', 'heron fjord', 'title:cedar'].map(text => ({
    name: `query ${text}`,
    run: (call: Call) => call('query', { text, limit: 100, touch: false }),
    items: ({ items }: Json) => items,
    identity: ({ id }: Json) => id,
    stored: ({ id, title, collection, kind, origin, tags, holder, visibility, created_at, updated_at }: Json) => ({
      ...{ id, title, collection, kind, origin, tags, holder, visibility, created_at, updated_at },
    }),
  })),
  ...[2, 7].map(at => ({
    name: `beliefs.get b${at}`,
    run: (call: Call) => call('beliefs.get', { belief_id: `b${at}` }),
    items: (answer: Json) => [answer],
    identity: (answer: Json) => (answer.belief ?? answer).id,
    stored: whole,
  })),
  {
    name: 'beliefs.query',
    run: call => call('beliefs.query', { semantic: 'amber' }),
    items: ({ beliefs }) => beliefs,
    identity: ({ belief }) => belief.id,
    stored: ({ belief: { id, content, confidence, domains, created_at } }) => ({
      ...{ id, content, confidence, domains, created_at },
    }),
  },
  {
    name: 'chroma.export',
    run: call => call('chroma.export', {}),
    items: ({ nodes }) => nodes,
    identity: ({ entry_id }) => entry_id,
    stored: whole,
  },
  {
    name: 'conversations.query',
    run: call => call('conversations.query', { text: 'amber message', limit: 50, touch: false }),
    items: ({ messages }) => messages,
    identity: ({ id }) => id,
    stored: ({ id, holder, conversation, session, speaker, role, at, text, reply_to }) => ({
      ...{ id, holder, conversation, session, speaker, role, at, text, reply_to },
    }),
  },
  {
    name: 'context.mind_concepts_list',
    run: call => call('context.mind_concepts_list', {}),
    items: ({ result }) => result.concepts,
    identity: ({ id }) => String(id),
    stored: whole,
  },
  {
    name: 'status',
    run: call => call('status', {}),
    items: ({ collections }) => collections,
    identity: ({ value }) => value,
    stored: ({ value }) => value,
  },
  {
    name: 'export',
    run: async (_call, engine) => await linesOf(engine),
    items: whole,
    identity: line => JSON.stringify(line),
    stored: whole,
  },
]

export type Answers = ReadonlyMap<string, ReadonlyMap<string, string>>

/** By read and identity, what was stored; or the error by its code. */
export async function readAll(
  home: string,
): Promise<{ readonly answers: Answers; readonly errors: ReadonlyMap<string, unknown> }> {
  const answers = new Map<string, ReadonlyMap<string, string>>()
  const errors = new Map<string, unknown>()
  try {
    await using engine = await openTestEngine({ home })
    const call = callerOf(engine)
    for (const { name, run, items, identity, stored } of READS) {
      try {
        const answer = await run(call, engine)
        if (answer?.status === 'error') throw Object.assign(new Error('envelope'), { envelope: answer })
        const found = items(answer).map(item => [identity(item), JSON.stringify(stored(item))] as const)
        answers.set(name, new Map(found))
      } catch (error) {
        errors.set(name, error)
      }
    }
  } catch (error) {
    errors.set('open or close', error)
  }
  return { answers, errors }
}

/** Of damage, said as it should be: by the code, or in a lens's own words with the reason. */
export function isReportedAsDamage(error: unknown): boolean {
  if ((error as { envelope?: unknown }).envelope !== undefined) return JSON.stringify(error).includes('store_corrupt')
  if (!(error instanceof QuerentError)) return false
  const { code, details } = error
  // By an index that has lost the entry: it costs that entry.
  if (code === 'not_found' || /id of a belief that you may see/.test(error.message)) return true
  return code === 'store_corrupt' || code === 'store_newer' || details['reason'] === 'store_corrupt'
}

export interface Damage {
  readonly at: number
  readonly bytes: readonly number[]
}

/** One bit to 64 bytes, anywhere in the file. */
export function damagesOf(size: number, count: number, seed: number): readonly Damage[] {
  const random = seededUniform(seed)
  const whole = (below: number) => Math.floor(random() * below)
  return Array.from({ length: count }, () => {
    const length = random() < 0.4 ? 1 : 1 + whole(64)
    const at = whole(size - length)
    return { at, bytes: Array.from({ length }, () => (length === 1 ? 1 << whole(8) : whole(256))) }
  })
}

/** One byte is a mask of bits to turn over; more are written as they are. */
export function damageFile(file: string, { at, bytes }: Damage): void {
  const all = readFileSync(file)
  for (const [i, byte] of bytes.entries()) all[at + i] = bytes.length === 1 ? (all[at + i] as number) ^ byte : byte
  writeFileSync(file, all)
}

/** What lies where: the tree a page belongs to, and how many cells it holds. */
export interface PageUse {
  readonly name: string
  readonly type: string
  readonly cells: number
}

export function pageUses(file: string): ReadonlyMap<number, PageUse> {
  return onFile(file, db => {
    const rows = db.prepare('select name, pageno, pagetype, ncell from dbstat').all()
    const use = ({ name, pagetype, ncell }: Record<string, unknown>) => ({
      ...{ name: String(name), type: String(pagetype), cells: Number(ncell) },
    })
    return new Map(rows.map(row => [Number(row['pageno']), use(row)]))
  })
}

/** Entries that a salvage saved, each as its export line. */
export async function saved(file: string, folder: string): Promise<readonly string[]> {
  const home = join(folder, 'saved')
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home)
  salvageStore(file, join(home, 'store.db'), TEST_NOW)
  await using engine = await openTestEngine({ home })
  return (await linesOf(engine)).map(line => JSON.stringify(line))
}

/** A home of its own, with nothing but the file. */
export function homeWith(file: string, folder: string, name: string): string {
  const home = join(folder, name)
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home)
  copyFileSync(file, join(home, 'store.db'))
  return home
}
