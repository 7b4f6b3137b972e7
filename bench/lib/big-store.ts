/**
 * A home with 100,000 entries of one chunk each, made once and kept in bench/out: Zipf-distributed prose of about 60
 * words, generated vectors. 60 % is public, 20 % shared with one federation, the rest private to 40 holders. Every
 * measurement works on a copy, so that none finds the traces of another.
 */
import { constants, cpSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/base/canonical.ts'
import { type Embedder, modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { EntryDraft } from '../../src/model/entry.ts'
import { type Audience, audience } from '../../src/model/partition.ts'
import type { Viewer } from '../../src/model/viewer.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { generated, openStandIn, QUESTIONS, ROWS } from './stand-in.ts'
import { ZipfTexts } from './text-data.ts'

export const ENTRIES: number = ROWS
const WORDS = 60
const HOLDERS = 40
const FEDERATION = 'guild'
const MADE_AT = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
/** To be raised when what is made here changes. */
const VERSION = 3

/** Sees what is public and what the guild shares: four fifths. */
export const MEMBER: Viewer = { id: 'member' }
/** Sees what is public and its own two hundredths, which are collection `private-7`. */
export const HOLDER: Viewer = { id: 'holder-7' }
export const HOLDER_COLLECTION = 'private-7'
/** By `metadata.bucket`, which is 0 to 999 in equal shares. */
export const SHARES: readonly (readonly [name: string, below: number])[] = [
  ['50 %', 500],
  ['5 %', 50],
  ['0.5 %', 5],
]

export interface BigHome {
  readonly folder: string
  /** Name of the vector index. */
  readonly vectors: string
  open(): Promise<Engine>
  remove(): void
}

/** A copy of the home, made before if need be, with the snapshots of both indexes. */
export async function bigHome(): Promise<BigHome> {
  const embedder = await openStandIn()
  const made = await madeHome(embedder)
  const folder = mkdtempSync(join(tmpdir(), 'querent-bench-'))
  cpSync(made, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return {
    folder,
    vectors: `vectors-${modelKey(embedder.model)}`,
    open: () => openEngine({ home: folder, embedder, background: false }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Questions of so many words. */
export function questions(words: number): readonly string[] {
  const texts = new ZipfTexts(900 + words)
  return Array.from({ length: QUESTIONS }, () => texts.question(words))
}

async function madeHome(embedder: Embedder): Promise<string> {
  const out = fileURLToPath(new URL('../out', import.meta.url))
  const schema = readFileSync(new URL('../../src/store/sqlite/schema.ts', import.meta.url), 'utf8')
  const made = sha256([VERSION, modelKey(embedder.model), schema].join('\n')).slice(0, 8)
  const folder = join(out, `home-${ENTRIES}-${made}`)
  if (!existsSync(folder)) {
    console.error(`  making a store of ${ENTRIES} entries in bench/out, once …`)
    for (const old of globSync(`home-${ENTRIES}-????????`, { cwd: out })) rmSync(join(out, old), { recursive: true })
    // A name of its own: another benchmark may be making it too.
    const half = mkdtempSync(`${folder}-`)
    await (await openEngine({ home: half, create: true, embedder: 'none', background: false })).close()
    const store = openSqliteStore({ file: join(half, 'store.db') })
    fill(store, modelKey(embedder.model))
    store.close()
    if (existsSync(folder)) rmSync(half, { recursive: true })
    else renameSync(half, folder)
  }
  // Closing saves the snapshots where there are none, or none that this version understands.
  const engine = await openEngine({ home: folder, embedder, background: false })
  await engine.status()
  await engine.close()
  return folder
}

function fill(store: Store, model: string): void {
  store.write(MADE_AT, writer => {
    const people = ['member', 'founder', ...Array.from({ length: HOLDERS }, (_, at) => `holder-${at}`)]
    for (const id of people) writer.table(AGENTS).put({ id, label: null, created_at: MADE_AT })
    writer.table(FEDERATIONS).put({ id: FEDERATION, label: null, created_at: MADE_AT })
    for (const agent of ['member', 'founder']) {
      writer.table(MEMBERSHIPS).put({ federation: FEDERATION, agent, status: 'active', updated_at: MADE_AT })
    }
  })
  const texts = new ZipfTexts(7)
  const step = 1000
  for (let from = 0; from < ENTRIES; from += step) {
    store.write(MADE_AT, writer => {
      const batch = Array.from({ length: step }, (_, i) => {
        const draft = draftOf(from + i, texts)
        const { length: end } = draft.content
        const { key } = writer.put(draft, [{ start: 0, end, startLine: 1, endLine: 1, headings: [] }])
        const [first] = writer.chunksOf(key)
        if (first === undefined) throw new Error('what was put is not there')
        return { chunk: first.key, vector: generated(from + i) }
      })
      writer.putVectors(model, batch)
    })
  }
}

function draftOf(at: number, texts: ZipfTexts): EntryDraft {
  const of = audienceOf(at)
  const time = MADE_AT + at * MINUTE
  return {
    id: `entry-${at}`,
    collection: of.kind === 'private' ? of.holder.replace('holder', 'private') : `part-${at % 3}`,
    kind: 'document',
    title: texts.prose(5),
    content: texts.prose(WORDS),
    tags: [`tag-${at % 17}`],
    metadata: { bucket: (at * 7919) % 1000 },
    audience: of,
    origin: null,
    createdAt: time,
    updatedAt: time,
    validFrom: null,
    validUntil: null,
    knownAt: time,
  }
}

/** Of ten in a row six are public, two shared, two private; holders take turns. */
function audienceOf(at: number): Audience {
  const place = at % 10
  if (place < 6) return audience('public')
  if (place < 8) return audience('shared', 'founder', [FEDERATION])
  return audience('private', `holder-${(Math.floor(at / 10) * 2 + place - 8) % HOLDERS}`)
}
