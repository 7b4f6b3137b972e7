/**
 * The feed of changes. Its numbers are given once and only cut off at the old end, so a number that is missing in between
 * or at the new end is a change that was lost: whoever follows the feed has missed it. Then the feed is cut there, which
 * makes everybody who stood before build anew from the entries.
 */
import type { Instant } from '../../base/clock.ts'
import { tellChange } from '../sqlite/changes.ts'
import { isWhole } from '../sqlite/row-checks.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/sql-driver.ts'
import { type Check, counted, type Problem, problemOf, REPAIR_HELP, those } from './problem.ts'

const KINDS = `'put', 'delete', 'vectors'`

export const feed: Check = {
  name: 'feed',
  sound: 'no change is missing',
  look: db => those([lost(db), senseless(db)]),
}

function lost(db: SqlDatabase): Problem | null {
  const seqs = lostSeqs(db)
  return problemOf(seqs, 'change is missing', 'changes are missing', { help: REPAIR_HELP, mend: cut })
}

function senseless(db: SqlDatabase): Problem | null {
  const seqs = senselessSeqs(db)
  return problemOf(seqs, 'change of nothing that ever was', 'changes of nothing that ever was', {
    help: REPAIR_HELP,
    mend: cut,
  })
}

/** First numbers of what is missing. */
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
    .prepareArrays<[number]>(
      `select seq from changes where kind not in (${KINDS}) or entry > ${sequence(db, 'entries')}
       or partition not in (select id from partitions) order by seq`,
    )
    .all()
    .map(([seq]) => seq)
  const rows = db.prepareArrays<readonly SqlValue[]>(
    'select seq, entry, kind, partition, from_partition, at, _check from changes order by seq',
  )
  const changed = [...rows.each()].filter(row => !isWhole(row)).map(([seq]) => seq as number)
  return [...new Set([...wrong, ...changed])].sort((a, b) => a - b)
}

/** Tells one more change, so that there is a newest one, and forgets all up to the last wrong one. */
function cut(db: SqlDatabase, now: Instant): string {
  const [gaps, wrong] = [lostSeqs(db), senselessSeqs(db)]
  const last = Math.max(0, ...gaps, ...wrong)
  if (last === 0) return 'nothing left to cut'
  if (last >= newestSeq(db)) tellSomething(db, now)
  const { changes } = db
    .prepare('delete from changes where seq < ? or seq in (select value from json_each(?))')
    .run(last, JSON.stringify(wrong))
  return `cut ${counted(changes, 'change')} off the feed: indexes are built anew`
}

function tellSomething(db: SqlDatabase, now: Instant): void {
  const newest = db
    .prepareArrays<[number, number]>('select key, partition from entries order by key desc limit 1')
    .get()
  if (newest !== undefined) {
    tellChange(db, { entry: newest[0], kind: 'put', partition: newest[1], from: null, at: now })
    return
  }
  const [partition] = db.prepareArrays<[number]>('select id from partitions order by id limit 1').get() ?? []
  if (partition === undefined) return
  tellChange(db, { entry: sequence(db, 'entries'), kind: 'delete', partition, from: null, at: now })
}

function newestSeq(db: SqlDatabase): number {
  return db.prepareArrays<[number | null]>('select max(seq) from changes').get()?.[0] ?? 0
}

/** The highest number ever given in a table. */
function sequence(db: SqlDatabase, table: string): number {
  return db.prepareArrays<[number]>('select seq from sqlite_sequence where name = ?').get(table)?.[0] ?? 0
}
