/**
 * State of the store besides entries, in SQLite: the change feed, the access state of entries, named texts (`meta`), the store's revision,
 * and the mark of what is still to be erased.
 */
import type { Instant } from '../../base/clock.ts'
import type { AccessState, EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Viewer } from '../../model/viewer.ts'
import { checkAccess } from '../check.ts'
import type { Change, Forgotten } from '../store.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { checked, checkOf, type DamagePolicy, damaged, isDamage, isWhole, keyList, limitOf } from './rows.ts'

type Row = readonly [
  seq: number,
  entry: EntryKey,
  kind: Change['kind'],
  partition: PartitionId,
  from: PartitionId | null,
  at: Instant,
  check: number,
]

/** Adds a change to the feed and returns its number, inside a write transaction. */
export function notifyChange(db: SqlDatabase, { entry, kind, partition, from, at }: Omit<Change, 'seq'>): number {
  const sql = `select max(coalesce((select seq from sqlite_sequence where name = 'changes'), 0), coalesce(max(seq), 0)) + 1
    from changes`
  const seq = db.prepareArrays<[number]>(sql).get()?.[0] ?? 1
  db.prepare(
    'insert into changes (seq, entry, kind, partition, from_partition, at, _check) values (?, ?, ?, ?, ?, ?, ?)',
  ).run(...checked([seq, entry, kind, partition, from, at]))
  return seq
}

export class SqliteChanges {
  readonly #db: SqlDatabase
  /** Number of the newest change that the running transaction added to the feed; null when it added none. */
  newest: number | null = null
  /** Cached number of the newest change, valid within one read transaction, in which it cannot change. */
  #last: { readonly transaction: number; readonly seq: number } = { transaction: 0, seq: 0 }

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** Forgets the changes that the last transaction added to the feed; must be called when a transaction begins. */
  begin(): void {
    this.newest = null
  }

  tell(kind: Change['kind'], entry: EntryKey, partition: PartitionId, from: PartitionId | null, at: Instant): void {
    this.newest = notifyChange(this.#db, { entry, kind, partition, from, at })
  }

  last(): number {
    const { transaction, writing } = this.#db
    const isKnown = transaction !== 0 && !writing && transaction === this.#last.transaction
    if (isKnown) return this.#last.seq
    const seq = this.#db.prepareArrays<[number | null]>('select max(seq) from changes').get()?.[0] ?? 0
    this.#last = { transaction, seq }
    return seq
  }

  first(): number {
    return this.#db.prepareArrays<[number | null]>('select min(seq) from changes').get()?.[0] ?? 0
  }

  since(seq: number, limit: number): readonly Change[] {
    return this.#db
      .prepareArrays<Row>(
        `select seq, entry, kind, partition, from_partition, at, _check from changes
         where seq > ? order by seq limit ?`,
      )
      .all(seq, limitOf(limit))
      .map(row => {
        const [at, entry, kind, partition, from, time] = row
        if (!isWhole(row)) throw damaged(`change ${at} of the feed`, { table: 'changes', key: at })
        return { seq: at, entry, kind, partition, from, at: time }
      })
  }

  prune(seq: number): void {
    this.#db.prepare('delete from changes where seq <= ? and seq < (select max(seq) from changes)').run(seq)
  }
}

type AccessRow = readonly [
  viewer: string,
  entry: number,
  lastAccessed: number,
  count: number,
  strength: number,
  check: number,
]

export class SqliteAccess {
  readonly #db: SqlDatabase
  readonly #damage: DamagePolicy

  constructor(db: SqlDatabase, damage: DamagePolicy) {
    this.#db = db
    this.#damage = damage
  }

  of(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState> {
    const states = this.#states(viewer, entries)
    return new Map(entries.flatMap(entry => (states.has(entry) ? [[entry, states.get(entry) as AccessState]] : [])))
  }

  viewers(): readonly string[] {
    const rows = this.#db.prepareArrays<[string]>('select distinct viewer from access order by viewer').all()
    return rows.map(([viewer]) => viewer)
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    checkAccess(viewer, { lastAccessed: now, count: 0, strength: gain })
    const known = this.#states(viewer, entries)
    for (const entry of entries) {
      const { lastAccessed, count, strength } = known.get(entry) ?? { lastAccessed: now, count: 0, strength: 0 }
      const state = { lastAccessed: Math.max(lastAccessed, now), count: count + 1, strength: strength + gain }
      this.#write(viewer, entry, state)
      known.set(entry, state)
    }
  }

  set(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    checkAccess(viewer, state)
    this.#write(viewer, entry, state)
  }

  #states(viewer: Viewer, entries: readonly EntryKey[]): Map<EntryKey, AccessState> {
    const rows = this.#db
      .prepareArrays<AccessRow>(
        `select viewer, entry, last_accessed, count, strength, _check from access
         where viewer = ? and entry in (select value from json_each(?))`,
      )
      .all(viewer.id, keyList(entries))
    const states = new Map<EntryKey, AccessState>()
    for (const row of rows) {
      const [, entry, lastAccessed, count, strength] = row
      if (isWhole(row)) states.set(entry, { lastAccessed, count, strength })
      else this.#damage.met(damaged(`use of entry number ${entry}`, { table: 'access', key: entry }))
    }
    return states
  }

  /** Writes the access state of an entry for a viewer; does nothing when the entry no longer exists. */
  #write(viewer: Viewer, entry: EntryKey, { lastAccessed, count, strength }: AccessState): void {
    this.#db
      .prepare(
        `insert into access (viewer, entry, last_accessed, count, strength, _check)
         select ?, key, ?, ?, ?, ? from entries where key = ?
         on conflict do update set last_accessed = excluded.last_accessed, count = excluded.count,
           strength = excluded.strength, _check = excluded._check`,
      )
      .run(viewer.id, lastAccessed, count, strength, checkOf([viewer.id, entry, lastAccessed, count, strength]), entry)
  }
}

// Named texts of the store itself (table `meta`), such as settings and secrets.

/** Reads a named text of the store; throws `store_corrupt` where its row is damaged. */
export function readMeta(db: SqlDatabase, name: string): string | undefined {
  const row = db
    .prepareArrays<[string, string, number]>('select name, value, _check from meta where name = ?')
    .get(name)
  if (row === undefined) return undefined
  if (!isWhole(row) || row[0] !== name)
    throw damaged(`the store's own value ${JSON.stringify(name)}`, { table: 'meta', key: name })
  return row[1]
}

/** Reads a named text of the store that can be made again; where its row is damaged, it counts as missing. */
export function readSoundMeta(db: SqlDatabase, name: string): string | undefined {
  try {
    return readMeta(db, name)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

export function writeMeta(db: SqlDatabase, name: string, value: string): void {
  db.prepare(
    `insert into meta (name, value, _check) values (?, ?, ?)
     on conflict do update set value = excluded.value, _check = excluded._check`,
  ).run(name, value, checkOf([name, value]))
}

// The revision: a number in the store file that grows with every commit of a real change. By it a process notices that another process
// changed something, as opposed to only counting a use or renewing a lease, which happens with every query.

const REVISION = 'revision'

export class Revision {
  readonly #db: SqlDatabase
  /**
   * The revision (a number in the store file that grows with every commit of a change) that this process last read or wrote; undefined:
   * none yet.
   */
  #known: number | undefined
  /**
   * The revision that the store file will have after the running transaction's commit. Undefined where other processes have changed
   * something meanwhile, so that the next look at the revision still notices their change.
   */
  #next: number | undefined

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** Whether other processes have advanced the revision since the last call. */
  hasMoved(): boolean {
    const now = revisionOf(this.#db)
    const moved = now !== this.#known
    this.#known = now
    return moved
  }

  /**
   * Advances the revision in the store file; must be called when the running transaction has changed something and is about to be
   * committed.
   */
  advance(): void {
    const [before, after] = advanceRevision(this.#db)
    this.#next = before === this.#known ? after : undefined
  }

  /**
   * Must be called after a commit that advanced the revision, so that this process does not take its own commit for another's. If other
   * processes have changed something too, that is still noticed later.
   */
  committed(): void {
    this.#known = this.#next ?? this.#known
    this.#next = undefined
  }
}

/**
 * Advances the revision inside the current transaction; for code that writes to the file without opening it as a store. Returns the old and
 * the new revision.
 */
export function advanceRevision(db: SqlDatabase): readonly [before: number, after: number] {
  const before = revisionOf(db)
  writeMeta(db, REVISION, String(before + 1))
  return [before, before + 1]
}

function revisionOf(db: SqlDatabase): number {
  return Number(readSoundMeta(db, REVISION) ?? 0)
}

// The mark that something was deleted or replaced. It is kept in the store file, so that a crash does not lose the fact that bytes are
// still to be erased.

const FORGOTTEN = 'forgotten'

interface ForgottenRow {
  readonly count: number
  readonly seq: number
  readonly isErased: boolean
}

export class SqliteForgotten {
  readonly #db: SqlDatabase
  #noted = false

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** Forgets whether the last transaction deleted something; must be called when a transaction begins. */
  begin(): void {
    this.#noted = false
  }

  /** Notes that the transaction deletes or replaces something that a user wrote, so that its bytes must be erased later. */
  note(): void {
    this.#noted = true
  }

  /**
   * Records that bytes are to be erased, if the transaction deleted or replaced something; must be called when the transaction is about to
   * be committed. `newest`: number of the newest change that the transaction added to the feed; null: it added none.
   */
  save(newest: number | null): void {
    if (!this.#noted) return
    const { count, seq } = this.#read() ?? { count: 0, seq: 0 }
    this.#write({ count: count + 1, seq: newest ?? seq, isErased: false })
  }

  get(): Forgotten | null {
    const found = this.#read()
    return found === null ? null : { mark: String(found.count), seq: found.seq, isErased: found.isErased }
  }

  settle(mark: string): void {
    this.#db.write(() => {
      const found = this.#read()
      if (found !== null && String(found.count) === mark) this.#write({ ...found, isErased: true })
      advanceRevision(this.#db)
    })
  }

  #read(): ForgottenRow | null {
    const text = readSoundMeta(this.#db, FORGOTTEN)
    return text === undefined ? null : (JSON.parse(text) as ForgottenRow)
  }

  #write(row: ForgottenRow): void {
    writeMeta(this.#db, FORGOTTEN, JSON.stringify(row))
  }
}
