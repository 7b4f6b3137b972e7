/** Chunks of entries in SQLite: reading, writing and deleting them. */

import { canonicalJson } from '../../base/canonical.ts'
import { StepPace, type Steps } from '../../base/turns.ts'
import {
  type Chunk,
  type ChunkDraft,
  type ChunkKey,
  chunkText,
  chunkTitle,
  type Entry,
  type EntryDraft,
  type EntryKey,
} from '../../model/entry.ts'
import { partitionKey } from '../../model/partition.ts'
import type { SoundDraft } from '../check.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { checked, type DamagePolicy, damaged, inOrder, isWhole, keyList, limitOf, nextKey, rowsByKey } from './rows.ts'
import { CHUNKS, type SqliteModels } from './vectors.ts'

const COLUMNS =
  'c.key, c.entry, c.ordinal, c.start_unit, c.end_unit, c.start_line, c.end_line, c.headings, c.structure, c._check'

/** Number of chunks read, written or deleted before the work pauses so that other requests can run: some milliseconds. */
const ROWS_AT_ONCE = 512

/**
 * Decides how the oldest chunk without a vector is found. Up to this number of chunks without one, the search goes backwards from the
 * newest chunk. Where more lack one, the oldest of them is probably near the start, so the search begins there.
 */
const MAX_LOOKED_BACK_FOR = 1_000

type ChunkStructure = Pick<ChunkDraft, 'lead' | 'shownFrom' | 'sections'>

/** The chunk's structure (its lead, the start of what is shown, its sections) as JSON; null for chunks without any, which are most. */
function structureCell({ lead, shownFrom, sections }: ChunkStructure): string | null {
  const text = JSON.stringify({ lead, shownFrom, sections })
  return text === '{}' ? null : text
}

type Row = readonly [
  key: number,
  entry: number,
  ordinal: number,
  start: number,
  end: number,
  startLine: number,
  endLine: number,
  headings: string,
  structure: string | null,
  check: number,
]

export class SqliteChunks {
  readonly #db: SqlDatabase
  readonly #models: SqliteModels
  readonly #damage: DamagePolicy
  /**
   * By embedding model: a chunk key up to which no chunk lacks a vector of that model, so that a search for chunks without a vector can
   * start there.
   */
  readonly #completeUpTo = new Map<string, ChunkKey>()

  constructor(db: SqlDatabase, models: SqliteModels, damage: DamagePolicy) {
    this.#db = db
    this.#damage = damage
    this.#models = models
    db.onRollback(() => this.#completeUpTo.clear())
  }

  of(entry: EntryKey): readonly Chunk[] {
    return this.#select(`select ${COLUMNS} from chunks c where c.entry = ? order by c.ordinal`, entry)
  }

  ofEach(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, readonly Chunk[]> {
    const sql = `select ${COLUMNS} from chunks c where c.entry in (select value from json_each(?)) order by c.entry, c.ordinal`
    return Map.groupBy(this.#select(sql, keyList(entries)), ({ entry }) => entry)
  }

  /**
   * Reads the chunks of an entry by ordinal, page by page, pausing between pages. Each page is read within `around`, which handles damaged
   * rows.
   */
  *ofInSteps(entry: EntryKey, around: <T>(read: () => T) => T): Steps<readonly Chunk[]> {
    const sql = `select ${COLUMNS} from chunks c where c.entry = ? and c.ordinal > ? order by c.ordinal limit ${ROWS_AT_ONCE}`
    const found: Chunk[] = []
    for (let after = -1; ; yield) {
      const page = around(() => this.#select(sql, entry, after))
      found.push(...page)
      if (page.length < ROWS_AT_ONCE) return found
      after = (page.at(-1) as Chunk).ordinal
    }
  }

  first(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, ChunkKey> {
    const sql = 'select entry, key from chunks where entry in (select value from json_each(?)) and ordinal = 0'
    return new Map(this.#db.prepareArrays<[EntryKey, ChunkKey]>(sql).all(keyList(entries)))
  }

  byKey(keys: readonly ChunkKey[]): readonly Chunk[] {
    const rows = rowsByKey<Row>(this.#db, `select ${COLUMNS} from chunks c where c.key`, keys, this.#damage)
    return inOrder(keys, this.#sound(rows), chunk => chunk.key)
  }

  /**
   * Chunks without a vector of the model. Chunks before the first one without a vector are not examined again: chunk keys only grow, and
   * vectors are deleted only with their chunks. The exception is a repair that deletes vectors, which is noticed by the counts of vectors.
   */
  withoutVector(model: string, limit: number, after: ChunkKey): readonly Chunk[] {
    const newest = this.#db.prepareArrays<[number | null]>('select max(key) from chunks').get()?.[0] ?? 0
    // A model that the store does not know gets the number 0. No vector is stored under that number, so all chunks count as having no
    // vector of the model.
    const number = this.#models.get(model)?.id ?? 0
    const complete = this.#completeUpTo.get(model) ?? this.#completeAtFirst(number, newest)
    const sql = `select ${COLUMNS} from chunks c
      where c.key > ? and not exists (select 1 from vectors v where v.key = c.key * 256 + ${number})
      order by c.key limit ?`
    const found = this.#select(sql, Math.max(complete, after), limitOf(limit))
    if (found.length === 0 && limit > 0 && complete > after && this.#missing(number) > 0) {
      this.#completeUpTo.delete(model)
      return this.withoutVector(model, limit, after)
    }
    // `#completeUpTo` (all chunks up to this key have a vector) is only updated by a search that starts at or before it. A search that
    // starts further on shows nothing about the chunks in between.
    if (limit > 0 && after <= complete)
      this.#completeUpTo.set(model, found[0] ? found[0].key - 1 : Math.max(newest, complete))
    return found
  }

  /**
   * Chunk key up to which all chunks have a vector, for a process that has not searched yet. If the stored counts (tallies) show that few
   * chunks lack one, these are mostly the newest, so a backward search finds the oldest of them soon. From the start, the search would pass
   * nearly all chunks.
   */
  #completeAtFirst(model: number, newest: ChunkKey): ChunkKey {
    const missing = this.#missing(model)
    if (missing <= 0) return newest
    if (missing > MAX_LOOKED_BACK_FOR) return 0
    const sql = `select min(key) from (
      select c.key from chunks c where not exists (select 1 from vectors v where v.key = c.key * 256 + ${model})
      order by c.key desc limit ?)`
    return (this.#db.prepareArrays<[number | null]>(sql).get(missing)?.[0] ?? 1) - 1
  }

  /** Number of chunks that have no vector of the model, from the stored counts (tallies). */
  #missing(model: number): number {
    const sql = `select coalesce(sum(case model when ${CHUNKS} then count else -count end), 0)
      from tallies where model in (${CHUNKS}, ${model})`
    return this.#db.prepareArrays<[number]>(sql).get()?.[0] ?? 0
  }

  /** Writes an entry's chunks according to the plan: deletes dropped chunks, updates kept ones, inserts the others. */
  *write(entry: EntryKey, chunks: readonly ChunkDraft[], plan: PutPlan): Steps<void> {
    const pace = new StepPace(ROWS_AT_ONCE)
    const drop = this.#db.prepare('delete from chunks where key = ?')
    for (const { key } of plan.dropped) {
      drop.run(key)
      if (pace.isOver(1)) yield
    }
    const insert = this.#db.prepare(
      `insert into chunks (key, entry, ordinal, start_unit, end_unit, start_line, end_line, headings, structure, _check)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const update = this.#db.prepare(
      `update chunks set key = ?, entry = ?, ordinal = ?, start_unit = ?, end_unit = ?, start_line = ?, end_line = ?,
         headings = ?, structure = ?, _check = ?
       where key = ?`,
    )
    let next = nextKey(this.#db, 'chunks')
    for (const [ordinal, chunk] of chunks.entries()) {
      const stored = plan.kept[ordinal]
      if (continuesUnchanged(chunk, ordinal, stored)) continue
      const { start, end, startLine, endLine, headings } = chunk
      const key = stored?.key ?? next++
      const place = [key, entry, ordinal, start, end, startLine, endLine]
      const cells = checked([...place, JSON.stringify(headings), structureCell(chunk)])
      if (stored === undefined) insert.run(...cells)
      else update.run(...cells, key)
      if (pace.isOver(1)) yield
    }
  }

  /** Deletes all chunks of an entry; used where its old chunks are damaged and cannot be read. */
  dropAll(entry: EntryKey): void {
    this.#db.prepare('delete from chunks where entry = ?').run(entry)
  }

  #select(sql: string, ...values: readonly (number | string)[]): readonly Chunk[] {
    return this.#sound(this.#db.prepareArrays<Row>(sql).all(...values))
  }

  #sound(rows: readonly Row[]): readonly Chunk[] {
    const found: Chunk[] = []
    for (const row of rows) {
      const [key, entry, ordinal, start, end, startLine, endLine, headings, structure] = row
      if (isWhole(row)) {
        found.push({
          ...{ key, entry, ordinal, start, end, startLine, endLine, headings: JSON.parse(headings) as string[] },
          ...(structure !== null && (JSON.parse(structure) as ChunkStructure)),
        })
      } else this.#damage.met(damaged(`passage ${ordinal + 1} of entry number ${entry}`, { table: 'chunks', key }))
    }
    return found
  }
}

// Plans what storing an entry changes, before anything is written; shared by all kinds of store.

export interface PutPlan {
  /** For each given chunk, the stored chunk with equal embedded text, whose key and vectors it keeps; undefined: there is none. */
  readonly kept: readonly (Chunk | undefined)[]
  /** Stored chunks that are deleted, since no new chunk has the same embedded text and continues them. */
  readonly dropped: readonly Chunk[]
  readonly entryChanged: boolean
  /** Whether any chunk differs from the stored one, including its offsets and headings. */
  readonly chunksChanged: boolean
}

/** Number of chunks compared before the work pauses so that other requests can run: some milliseconds. */
const CHUNKS_AT_ONCE = 512

/** Plans what storing an entry changes, pausing between parts so that other work can run; nothing is written. */
export function* planPut(
  before: Entry | undefined,
  chunksBefore: readonly Chunk[],
  draft: SoundDraft,
  chunks: readonly ChunkDraft[],
): Steps<PutPlan> {
  if (before === undefined) {
    return { kept: chunks.map(() => undefined), dropped: [], entryChanged: true, chunksChanged: chunks.length > 0 }
  }
  const pace = new StepPace(CHUNKS_AT_ONCE)
  const free = yield* byEmbeddedText(before, chunksBefore, pace)
  const kept: (Chunk | undefined)[] = []
  for (const chunk of chunks) {
    kept.push(free.get(embeddedText(draft, chunk))?.shift())
    if (pace.isOver(1)) yield
  }
  const chunksChanged =
    chunks.length !== chunksBefore.length ||
    chunks.some((chunk, ordinal) => !continuesUnchanged(chunk, ordinal, kept[ordinal]))
  return { kept, dropped: [...free.values()].flat(), entryChanged: !sameEntry(before, draft), chunksChanged }
}

/** Whether the given chunk equals the stored chunk at its position, so that nothing need be written. */
export function continuesUnchanged(chunk: ChunkDraft, ordinal: number, stored: Chunk | undefined): boolean {
  return (
    stored !== undefined &&
    stored.ordinal === ordinal &&
    stored.start === chunk.start &&
    stored.end === chunk.end &&
    stored.startLine === chunk.startLine &&
    stored.endLine === chunk.endLine &&
    sameTexts(stored.headings, chunk.headings) &&
    stored.lead === chunk.lead &&
    stored.shownFrom === chunk.shownFrom &&
    sameSections(stored.sections, chunk.sections)
  )
}

/** Stored chunks grouped by the text from which their vectors are made, each group in the order of the entry. */
function* byEmbeddedText(entry: Entry, chunks: readonly Chunk[], pace: StepPace): Steps<Map<string, Chunk[]>> {
  const result = new Map<string, Chunk[]>()
  for (const chunk of chunks) {
    const text = embeddedText(entry, chunk)
    const list = result.get(text)
    if (list) list.push(chunk)
    else result.set(text, [chunk])
    if (pace.isOver(1)) yield
  }
  return result
}

/**
 * Key made of a chunk's title and text. It begins with the title's length, so that two different pairs of title and text never give equal
 * keys.
 */
function embeddedText(entry: Pick<Entry, 'title' | 'content'>, chunk: ChunkDraft): string {
  const title = chunkTitle(entry, chunk)
  return `${title.length}:${title}${chunkText(entry, chunk)}`
}

function sameEntry(entry: Entry, draft: SoundDraft): boolean {
  return (
    FIELDS.every(field => entry[field] === draft[field]) &&
    partitionKey(entry.audience) === partitionKey(draft.audience) &&
    sameTexts(entry.tags, draft.tags) &&
    canonicalJson(entry.metadata) === draft.metadataJson
  )
}

/** Fields of an entry that are compared to find whether it changed. Holder and id are not listed, since the entry was found by them. */
const FIELDS = [
  'collection',
  'kind',
  'title',
  'content',
  'origin',
  'createdAt',
  'updatedAt',
  'validFrom',
  'validUntil',
  'knownAt',
] as const satisfies readonly (keyof EntryDraft)[]

function sameSections(a: ChunkDraft['sections'] = [], b: ChunkDraft['sections'] = []): boolean {
  return (
    a.length === b.length && a.every(({ at, headings }, i) => at === b[i]?.at && sameTexts(headings, b[i].headings))
  )
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at])
}
