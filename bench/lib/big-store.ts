/**
 * A home with 100,000 entries of one chunk each, made once and kept in bench/out: Zipf-distributed prose of about 60
 * words, generated vectors. 60 % is public, 20 % shared with one federation, the rest private to 40 holders. Every
 * measurement works on a copy, so that none finds the traces of another.
 */
import { constants, cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedder, modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { EntryDraft } from '../../src/model/entry.ts'
import { type Audience, audience } from '../../src/model/partition.ts'
import type { Viewer } from '../../src/model/viewer.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { ZipfTexts } from './text-data.ts'
import { type Mixture, mixture } from './vectors-data.ts'

const quick = Boolean(process.env['QUERENT_QUICK'])
export const ENTRIES: number = quick ? 10_000 : 100_000
export const DIMENSIONS = 384
const QUESTIONS = 1000
const WORDS = 60
const HOLDERS = 40
const FEDERATION = 'guild'
const MADE_AT = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
/** To be raised when what is made here changes. */
const VERSION = 2

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
  /** An engine over it; its questions are those of `questions`, or any text of theirs. */
  open(options?: { readonly words?: boolean }): Promise<Engine>
  remove(): void
}

/** A copy of the home, made before if need be, with the snapshots of both indexes. */
export async function bigHome(): Promise<BigHome> {
  const made = await madeHome()
  const folder = mkdtempSync(join(tmpdir(), 'querent-bench-'))
  cpSync(made, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return {
    folder,
    open: ({ words = false } = {}) =>
      openEngine({ home: folder, embedder: words ? 'none' : standIn(), background: false }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Questions of so many words; the stand-in embedder knows a held-out vector for each. */
export function questions(words: number): readonly string[] {
  const texts = new ZipfTexts(900 + words)
  return Array.from({ length: QUESTIONS }, () => texts.question(words))
}

/** The n-th new text gets the n-th held-out vector: no model runs, and the engine caches what it asked for. */
export function standIn(): Embedder {
  const known = new Map<string, Float32Array>()
  const vectorOf = (text: string): Float32Array => {
    const vector = known.get(text) ?? heldOut(known.size)
    known.set(text, vector)
    return vector
  }
  return {
    model: {
      id: 'generated',
      hash: '0'.repeat(64),
      dimensions: DIMENSIONS,
      maxTokens: 256,
      languages: [],
      // As MiniLM's, so that an answer is judged at the same cost.
      calibration: { base: 0.2, slope: 0.05, minRows: 1000, weakMargin: 0.1, wordShare: 0.2 },
      cosineScale: 1,
    },
    embed: async texts => texts.map(vectorOf),
    close: async () => {},
  }
}

/** The n-th held-out vector; after the last the first again. */
export function heldOut(n: number): Float32Array {
  const at = (n % QUESTIONS) * DIMENSIONS
  return vectors().queries.slice(at, at + DIMENSIONS)
}

let loaded: Mixture | undefined

function vectors(): Mixture {
  loaded ??= mixture({ rows: ENTRIES, queries: QUESTIONS, dimensions: DIMENSIONS, seed: 42 })
  return loaded
}

async function madeHome(): Promise<string> {
  const out = fileURLToPath(new URL('../out', import.meta.url))
  const folder = join(out, `home-${ENTRIES}-v${VERSION}`)
  if (existsSync(join(folder, 'whole'))) return folder
  console.error(`  making a store of ${ENTRIES} entries in bench/out, once …`)
  const half = `${folder}.half`
  rmSync(half, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
  const engine = await openEngine({ home: half, create: true, embedder: standIn(), background: false })
  await engine.close()
  const store = openSqliteStore({ file: join(half, 'store.db') })
  fill(store)
  store.close()
  // Opening builds the indexes, the question brings them forward, closing saves them.
  const built = await openEngine({ home: half, embedder: standIn(), background: false })
  await built.query({ text: 'anything' })
  await built.close()
  writeFileSync(join(half, 'whole'), '')
  renameSync(half, folder)
  return folder
}

function fill(store: Store): void {
  store.write(MADE_AT, writer => {
    const people = ['member', 'founder', ...Array.from({ length: HOLDERS }, (_, at) => `holder-${at}`)]
    for (const id of people) writer.table(AGENTS).put({ id, label: null, created_at: MADE_AT })
    writer.table(FEDERATIONS).put({ id: FEDERATION, label: null, created_at: MADE_AT })
    for (const agent of ['member', 'founder']) {
      writer.table(MEMBERSHIPS).put({ federation: FEDERATION, agent, status: 'active', updated_at: MADE_AT })
    }
  })
  const texts = new ZipfTexts(7)
  const { rows } = vectors()
  const model = modelKey(standIn().model)
  const step = 1000
  for (let from = 0; from < ENTRIES; from += step) {
    store.write(MADE_AT, writer => {
      const batch = Array.from({ length: step }, (_, i) => {
        const draft = draftOf(from + i, texts)
        const { length: end } = draft.content
        const { key } = writer.put(draft, [{ start: 0, end, startLine: 1, endLine: 1, headings: [] }])
        const [first] = writer.chunksOf(key)
        if (first === undefined) throw new Error('what was put is not there')
        return { chunk: first.key, vector: rows.slice((from + i) * DIMENSIONS, (from + i + 1) * DIMENSIONS) }
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
