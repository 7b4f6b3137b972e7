/**
 * A home with 100,000 entries of one chunk each, made once and kept in bench/out: Zipf-distributed prose of about 60
 * words, generated vectors. 60 % is public, 20 % shared with one federation, the rest private to 40 holders. Every
 * measurement works on a copy, so that none finds the traces of another.
 */
import { modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { KernelVectorIndex } from '../../src/index/vectors.ts'
import type { EntryDraft } from '../../src/model/entry.ts'
import { type Audience, audience } from '../../src/model/partition.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import type { Store } from '../../src/store/store.ts'
import { copyOf, keptHome, madeOf } from './kept-store.ts'
import { FEDERATION, FOUNDER, HOLDERS, holderName, introduce, privateCollection } from './people.ts'
import { percentile, timed } from './report.ts'
import { generated, heldOut, openStandIn, QUESTIONS, ROWS } from './stand-in.ts'
import { ZipfTexts } from './text-data.ts'

export const ENTRIES: number = ROWS
const WORDS = 60
const MADE_AT = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
/** To be raised when what is made here changes. */
const VERSION = 3

/** By `metadata.bucket`, which is 0 to 999 in equal shares. */
export const SHARES: readonly (readonly [name: string, below: number])[] = [
  ['50 %', 500],
  ['5 %', 50],
  ['0.5 %', 5],
]

/** Gone when disposed of. */
export interface BigHome extends Disposable {
  readonly folder: string
  /** Name of the vector index. */
  readonly vectors: string
  open(): Promise<Engine>
}

/** A copy of the home, made before if need be, with the snapshots of both indexes. */
export async function bigHome(): Promise<BigHome> {
  const embedder = await openStandIn()
  const model = modelKey(embedder.model)
  const made = madeOf([VERSION, model], ['store/sqlite/schema.ts'])
  const kept = { name: `home-${ENTRIES}`, made, holds: `${ENTRIES} entries` }
  const home = await keptHome(kept, embedder, store => fill(store, model))
  const copy = copyOf(home)
  return {
    folder: copy.path,
    vectors: `vectors-${model}`,
    open: () => openEngine({ home: copy.path, embedder, background: false }),
    [Symbol.dispose]: () => copy[Symbol.dispose](),
  }
}

/** Milliseconds for all sign-code distances, which tells how quick this machine is. */
export async function floorOf(home: BigHome): Promise<number> {
  await using engine = await home.open()
  const host = engine.host('default')
  const kernel = host.index(home.vectors) as unknown as KernelVectorIndex
  const scope = { partitions: host.accessScope(LOCAL_OWNER).partitions }
  const times = Array.from({ length: 200 }, (_, round) => timed(() => kernel.sweepDistances(heldOut(round), scope)))
  return percentile(times.slice(100), 0.5)
}

/** Questions of so many words. */
export function questions(words: number): readonly string[] {
  const texts = new ZipfTexts(900 + words)
  return Array.from({ length: QUESTIONS }, () => texts.question(words))
}

function fill(store: Store, model: string): void {
  store.write(MADE_AT, writer => introduce(writer, MADE_AT))
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
    collection: of.kind === 'private' ? privateCollection(holderAt(at)) : `part-${at % 3}`,
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

/** Of ten in a row six are public, two shared, two private. */
function audienceOf(at: number): Audience {
  const place = at % 10
  if (place < 6) return audience('public')
  if (place < 8) return audience('shared', FOUNDER.id, [FEDERATION])
  return audience('private', holderName(holderAt(at)))
}

/** Of a private entry; holders take turns. */
function holderAt(at: number): number {
  return (Math.floor(at / 10) * 2 + (at % 10) - 8) % HOLDERS
}
