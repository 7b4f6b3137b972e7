/** Checks rows that repeat or follow from other rows of the store: rows for filters, counts, the change feed, vectors. */

import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { isRecord } from '../../base/record.ts'
import { notifyChange } from '../sqlite/changes.ts'
import { type Lookups, lookupsOf, replaceLookups } from '../sqlite/entries.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/node-sqlite.ts'
import { checkOf, isWhole } from '../sqlite/rows.ts'
import { setTally, wrongTallies } from '../sqlite/vectors.ts'
import { type Check, counted, type Problem, parsed, problemOf, REPAIR_HELP, those } from './problem.ts'

interface Repeated {
  readonly entry: number
  readonly name: string
  readonly lookups: Lookups
}

export const lookups: Check = {
  name: 'lookups',
  sound: 'filters find the tags and metadata that entries have',
  look(db) {
    const names = strays(db).map(({ name }) => name)
    const repair = (at: SqlDatabase): string => {
      const found = strays(at)
      for (const { entry, lookups: right } of found) replaceLookups(at, entry, right)
      return `wrote the lookups of ${counted(found.length, 'entry', 'entries')} again`
    }
    const rest = { help: REPAIR_HELP, repair }
    return those([problemOf(names, 'entry is not found as tagged', 'entries are not found as tagged', rest)])
  },
}

function strays(db: SqlDatabase): readonly Repeated[] {
  const tagsOf = db.prepareArrays<[string]>('select tag from entry_tags where entry = ?')
  const valuesOf = db.prepareArrays<[string, SqlValue]>('select path, value from entry_values where entry = ?')
  const found: Repeated[] = []
  for (const one of all(db)) {
    const { tags, values } = one.lookups
    const stored = tagsOf.all(one.entry).map(([tag]) => tag)
    const isSame = same(stored, tags) && same(valuesOf.all(one.entry).map(pathText), values.map(pathText))
    if (!isSame) found.push(one)
  }
  return found
}

/** Entries with their tags and metadata, as far as these can be read. */
function* all(db: SqlDatabase): Generator<Repeated> {
  const rows = db.prepareArrays<[number, string, string, string]>(
    `select e.key, e.holder || '/' || e.id, b.tags, b.metadata from entries e join bodies b on b.entry = e.key order by 1`,
  )
  for (const [entry, name, tagsJson, metadataJson] of rows.each()) {
    const [tags, metadata] = [parsed(tagsJson), parsed(metadataJson)]
    if (!(Array.isArray(tags) && isRecord(metadata))) continue
    yield { entry, name, lookups: lookupsOf(tags, metadata as JsonObject) }
  }
}

function pathText([path, value]: readonly [string, SqlValue]): string {
  return JSON.stringify([path, value instanceof Uint8Array ? { bytes: [...value] } : value])
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort())
}

export const tallyRows: Check = {
  name: 'tallies',
  sound: 'the counts of passages and vectors are right',
  look(db) {
    const names = wrongTallies(db).map(({ partition, model }) => `partition ${partition} model ${model}`)
    const repair = (at: SqlDatabase): string => `counted ${counted(recount(at), 'number')} again`
    return those([problemOf(names, 'number is wrong', 'numbers are wrong', { help: REPAIR_HELP, repair })])
  },
}

function recount(db: SqlDatabase): number {
  const wrong = wrongTallies(db)
  const drop = db.prepare('delete from tallies where partition = ? and model = ?')
  const isPartition = db.prepareArrays('select 1 from partitions where id = ?')
  for (const { partition, model, right } of wrong) {
    if (isPartition.get(partition) === undefined) drop.run(partition, model)
    else setTally(db, partition, model, right)
  }
  return wrong.length
}

// Check of the change feed, whose numbers ascend without gaps, and whose changes are only removed at the old end. So a number missing
// elsewhere is a lost change, which followers of the feed (such as indexes) have missed. The repair deletes all changes up to the damage,
// so that such followers rebuild their data from the entries.

export const feed: Check = {
  name: 'feed',
  sound: 'no change is missing',
  look: db => those([lost(db), senseless(db)]),
}

function lost(db: SqlDatabase): Problem | null {
  const seqs = lostSeqs(db)
  return problemOf(seqs, 'change is missing', 'changes are missing', { help: REPAIR_HELP, repair: cut })
}

function senseless(db: SqlDatabase): Problem | null {
  const seqs = senselessSeqs(db)
  return problemOf(seqs, 'damaged or unknown change', 'damaged or unknown changes', {
    help: REPAIR_HELP,
    repair: cut,
  })
}

/** First missing number of each gap in the change feed. */
function lostSeqs(db: SqlDatabase): readonly number[] {
  const gaps = db
    .prepareArrays<[number]>(
      `select seq + 1 from changes c where not exists (select 1 from changes n where n.seq = c.seq + 1)
       and seq < (select max(seq) from changes) order by seq`,
    )
    .all()
    .map(([seq]) => seq)
  const newest = newestSeq(db)
  return newest < sequence(db, 'changes') ? [...gaps, newest + 1] : gaps
}

function senselessSeqs(db: SqlDatabase): readonly number[] {
  const wrong = db
    .prepareArrays<[number]>('select seq from changes where partition not in (select id from partitions) order by seq')
    .all()
    .map(([seq]) => seq)
  const rows = db.prepareArrays<readonly SqlValue[]>(
    'select seq, entry, kind, partition, from_partition, at, _check from changes order by seq',
  )
  const changed = [...rows.each()].filter(row => !isWhole(row)).map(([seq]) => seq as number)
  return [...new Set([...wrong, ...changed])].sort((a, b) => a - b)
}

/**
 * Repairs the change feed: removes all changes up to the last missing or damaged one. Where that would leave none, a change is added first,
 * so that the feed still shows a newest change.
 */
function cut(db: SqlDatabase, now: Instant): string {
  const [gaps, wrong] = [lostSeqs(db), senselessSeqs(db)]
  const last = Math.max(0, ...gaps, ...wrong)
  if (last === 0) return 'nothing left to cut'
  if (last >= newestSeq(db)) reportChange(db, now)
  const { changes } = db
    .prepare('delete from changes where seq < ? or seq in (select value from json_each(?))')
    .run(last, JSON.stringify(wrong))
  return `cut ${counted(changes, 'change')} off the feed: indexes are built again`
}

function reportChange(db: SqlDatabase, now: Instant): void {
  const newest = db
    .prepareArrays<[number, number]>('select key, partition from entries order by key desc limit 1')
    .get()
  if (newest !== undefined) {
    notifyChange(db, { entry: newest[0], kind: 'put', partition: newest[1], from: null, at: now })
    return
  }
  const [partition] = db.prepareArrays<[number]>('select id from partitions order by id limit 1').get() ?? []
  if (partition === undefined) return
  notifyChange(db, { entry: sequence(db, 'entries'), kind: 'delete', partition, from: null, at: now })
}

function newestSeq(db: SqlDatabase): number {
  return db.prepareArrays<[number | null]>('select max(seq) from changes').get()?.[0] ?? 0
}

/** The highest key that a table has ever assigned, from SQLite's table `sqlite_sequence`; 0 for a table without keys. */
function sequence(db: SqlDatabase, table: string): number {
  return db.prepareArrays<[number]>('select seq from sqlite_sequence where name = ?').get(table)?.[0] ?? 0
}

interface Wrong {
  readonly key: number
  readonly chunk: number
  readonly why: 'stray' | 'unknown' | 'changed'
}

const WORDS: Readonly<Record<Wrong['why'], readonly [one: string, many: string]>> = {
  stray: ['vector without a passage', 'vectors without a passage'],
  unknown: ['vector of an unknown model', 'vectors of an unknown model'],
  changed: ['vector that is not what was written', 'vectors that are not what was written'],
}

export const vectorRows: Check = {
  name: 'vector rows',
  sound: 'every vector belongs to a passage and can be compared',
  look: db => {
    const wrong = wrongOnes(db)
    const kinds = Object.keys(WORDS) as readonly Wrong['why'][]
    return those(
      kinds.map(kind => {
        const chunks = wrong.filter(({ why }) => why === kind).map(({ chunk }) => chunk)
        // The repair function `drop` deletes all damaged vectors, whatever the damage, so it is the same for each kind of damage; only its
        // first run has anything to delete.
        const rest = { help: `${REPAIR_HELP} They are then made again.`, repair: drop }
        return problemOf(chunks, ...WORDS[kind], rest)
      }),
    )
  },
}

function wrongOnes(db: SqlDatabase): readonly Wrong[] {
  const models = new Set(
    db
      .prepareArrays<[number]>('select id from models')
      .all()
      .map(([id]) => id),
  )
  const rows = db.prepareArrays<[number, number, number | null, Uint8Array, number]>(
    'select v.key, v.entry, c.entry, v.vector, v._check from vectors v left join chunks c on c.key = v.key >> 8 order by v.key',
  )
  const found: Wrong[] = []
  for (const [key, entry, owner, blob, check] of rows.each()) {
    const isKnown = models.has(key % 256)
    const why = owner !== entry ? 'stray' : isKnown ? 'changed' : 'unknown'
    if (why !== 'changed' || check !== checkOf([key, entry, blob]))
      found.push({ key, chunk: Math.floor(key / 256), why })
  }
  return found
}

/**
 * Deletes damaged vectors. Their entries are reported as changed in the feed, so that indexes and embedding handle them again; other
 * vectors stay.
 */
function drop(db: SqlDatabase, now: Instant): string {
  const wrong = wrongOnes(db)
  const entries = new Set<number>()
  const entryOf = db.prepareArrays<[number]>('select entry from chunks where key = ?')
  const remove = db.prepare('delete from vectors where key = ?')
  for (const { key, chunk } of wrong) {
    remove.run(key)
    const [entry] = entryOf.get(chunk) ?? []
    if (entry !== undefined) entries.add(entry)
  }
  const partitionOf = db.prepareArrays<[number]>('select partition from entries where key = ?')
  for (const entry of [...entries].sort((a, b) => a - b)) {
    const [partition] = partitionOf.get(entry) ?? []
    if (partition !== undefined) notifyChange(db, { entry, kind: 'put', partition, from: null, at: now })
  }
  return `dropped ${counted(wrong.length, 'vector')}`
}
