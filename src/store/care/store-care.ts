/** Examines a store file, and repairs in it what can be made again from what is there. */
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import { advanceRevision } from '../sqlite/meta.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'
import { renewSchemaCopy } from '../sqlite/schema.ts'
import { references, rows, tables } from './contents.ts'
import { feed, lookups, tallyRows, vectorRows } from './derived-rows.ts'
import { openFile } from './file.ts'
import { headRepair } from './header.ts'
import { assertSound, checkPages, isRepairable, type PageReport, rebuildTables } from './pages.ts'
import { type Check, counted, type Problem, REPAIR_HELP, RESTORE_HELP, type StoreFinding, sound } from './problem.ts'
import { copyOfAlteredList, orNothing, writeList } from './table-list.ts'

export interface Repaired {
  readonly check: string
  readonly done: string
}

/** In the order of repairing: later ones count what earlier ones leave. */
const CHECKS: readonly Check[] = [tables, references, rows, lookups, vectorRows, tallyRows, feed]
const PAGES = 'pages'
const FILE = 'file'
const ALTERED_LIST: StoreFinding = {
  ...{ check: FILE, ok: false, message: 'the list of tables is not as it was written' },
  ...{ help: REPAIR_HELP, isRepairable: true },
}
/** SQLite's own lines that are reported. */
const LINES = 5

/** Reads everything under one state of the store. Throws what opening a store throws. */
export function examineStore(file: string): readonly StoreFinding[] {
  return looking(file, examine)
}

/**
 * Repairs what `examineStore` calls repairable and touches nothing else: all of it or, when that fails, nothing. Other
 * processes may go on working; `store_locked` when they do not let this one write.
 */
export function repairStore(file: string, now: Instant): readonly Repaired[] {
  const list = restoreAlteredList(file)
  const head = headRepair(file)
  head?.repair(file)
  const done = [...(list ? ['wrote the list of tables again'] : []), ...(head === null ? [] : [head.done])]
  return [...done.map(what => ({ check: FILE, done: what })), ...repairRows(file, now)]
}

/** Of a file that can be opened. */
function restoreAlteredList(file: string): boolean {
  return (
    orNothing(() => {
      const db = openFile(file, 'repair')
      try {
        const copy = copyOfAlteredList(db)
        if (copy !== null) db.write(() => writeList(db, copy.parts))
        return copy !== null
      } finally {
        db.close()
      }
    }) ?? false
  )
}

function repairRows(file: string, now: Instant): readonly Repaired[] {
  const pages = looking(file, checkPages)
  if (!isRepairable(pages)) return []
  const db = openFile(file, 'repair')
  try {
    db.exec('pragma secure_delete = on; pragma foreign_keys = off; pragma synchronous = full')
    // Before anything is written: a wrong list of free pages could give one away that is in use.
    if (pages.isOutside) pack(db)
    const packed = pages.isOutside ? [{ check: PAGES, done: 'packed the file' }] : []
    const { repaired, leaves } = db.write(() => {
      const done = repair(db, pages, now)
      if (done.repaired.length > 0) advanceRevision(db)
      return done
    })
    if (leaves) pack(db)
    else renewSchemaCopy(db)
    return [...packed, ...repaired]
  } finally {
    db.close()
  }
}

/** Moves root pages. */
function pack(db: SqlDatabase): void {
  db.exec('vacuum')
  renewSchemaCopy(db)
}

/** On a connection of its own: one that met damage cannot commit any more. */
function looking<T>(file: string, look: (db: SqlDatabase) => T): T {
  const db = openFile(file, 'read')
  try {
    // Ends when the connection is closed.
    db.exec('begin')
    return look(db)
  } finally {
    db.close()
  }
}

/** As `examineStore`, on a connection that has the file open, inside a transaction. */
export function examine(db: SqlDatabase): readonly StoreFinding[] {
  if ((orNothing(() => copyOfAlteredList(db)) ?? null) !== null) return [ALTERED_LIST]
  const pages = checkPages(db)
  const [first] = pages.lines
  if (first !== undefined) return [ofPages(pages)]
  return [sound(PAGES, 'every page and index is sound'), ...CHECKS.map(check => examined(check, db))]
}

/** Where damage keeps anything from being looked at. Throws what is no damage. */
export function unreadable(error: unknown): readonly StoreFinding[] {
  if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
  return [wrong(PAGES, [{ what: error.message, help: RESTORE_HELP, repair: null }])]
}

function examined(check: Check, db: SqlDatabase): StoreFinding {
  const problems = lookedAt(check, db)
  return problems.length === 0 ? sound(check.name, check.sound) : wrong(check.name, problems)
}

/** What one check cannot read keeps nobody from the others. */
function lookedAt(check: Check, db: SqlDatabase): readonly Problem[] {
  try {
    return check.look(db)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    return [{ what: error.message, help: RESTORE_HELP, repair: null }]
  }
}

function wrong(check: string, problems: readonly Problem[]): StoreFinding {
  return {
    check,
    ok: false,
    message: problems.map(({ what }) => what).join('; '),
    help: [...new Set(problems.map(({ help }) => help))].join(' '),
    isRepairable: problems.some(({ repair }) => repair !== null),
  }
}

function ofPages(pages: PageReport): StoreFinding {
  const more = pages.lines.length > LINES ? `; and ${pages.lines.length - LINES} more` : ''
  const where = pages.damaged.map(({ table, part }) => (part === 'rows' ? table : `indexes of ${table}`))
  const place = where.length === 0 ? '' : ` (in ${where.join(', ')})`
  const canRepair = isRepairable(pages)
  return {
    check: PAGES,
    ok: false,
    message: `${counted(pages.lines.length, 'damage')}${place}: ${pages.lines.slice(0, LINES).join('; ')}${more}`,
    help: canRepair ? `No knowledge is lost. ${REPAIR_HELP}` : RESTORE_HELP,
    isRepairable: canRepair,
  }
}

function repair(
  db: SqlDatabase,
  { damaged }: PageReport,
  now: Instant,
): { readonly repaired: readonly Repaired[]; readonly leaves: boolean } {
  const repaired: Repaired[] = []
  if (damaged.length > 0) repaired.push({ check: PAGES, done: rebuildTables(db, damaged) })
  for (const check of CHECKS) {
    for (const repairIt of repairersOf(check, db)) repaired.push({ check: check.name, done: repairIt(db, now) })
  }
  return { repaired, leaves: damaged.length > 0 && assertSound(db).leaves }
}

/** Each once, whatever it repairs. */
function repairersOf(check: Check, db: SqlDatabase): ReadonlySet<NonNullable<Problem['repair']>> {
  return new Set(lookedAt(check, db).flatMap(({ repair }) => (repair === null ? [] : [repair])))
}
