/** Vectors that no search could use: of no passage or model, of a wrong length, not of unit length. */
import type { Instant } from '../../base/clock.ts'
import { tellChange } from '../sqlite/changes.ts'
import { checkOf } from '../sqlite/row-checks.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { vectorOf } from '../sqlite/values.ts'
import { type Check, counted, type Problem, problemOf, REPAIR_HELP, RESTORE_HELP, those } from './problem.ts'

/** As for embedders: how far the square of a length may be from 1. */
const TOLERANCE = 0.01

interface Wrong {
  readonly key: number
  readonly chunk: number
  readonly why: 'stray' | 'unknown' | 'length' | 'number' | 'changed'
}

const WORDS: Readonly<Record<Wrong['why'], readonly [one: string, many: string]>> = {
  stray: ['vector of no passage', 'vectors of no passage'],
  unknown: ['vector of an unknown model', 'vectors of an unknown model'],
  length: ['vector of a wrong length', 'vectors of a wrong length'],
  changed: ['vector that is not what was written', 'vectors that are not what was written'],
  number: ['vector that is not of unit length', 'vectors that are not of unit length'],
}

export const vectorRows: Check = {
  name: 'vector rows',
  sound: 'every vector belongs to a passage and can be compared',
  look: db => {
    const wrong = wrongOnes(db)
    const kinds = Object.keys(WORDS) as readonly Wrong['why'][]
    return those([
      ...kinds.map(kind => {
        const chunks = wrong.filter(({ why }) => why === kind).map(({ chunk }) => chunk)
        // All are dropped by the one that comes first.
        const rest = { help: `${REPAIR_HELP} They are then made anew.`, mend: drop }
        return problemOf(chunks, ...WORDS[kind], rest)
      }),
      unreadableModels(db),
    ])
  },
}

function wrongOnes(db: SqlDatabase): readonly Wrong[] {
  const models = new Map(db.prepareArrays<[number, number]>('select id, dimensions from models').all())
  const rows = db.prepareArrays<[number, number, number | null, Uint8Array, number]>(
    'select v.key, v.entry, c.entry, v.vector, v._check from vectors v left join chunks c on c.key = v.key >> 8 order by v.key',
  )
  const found: Wrong[] = []
  for (const [key, entry, owner, blob, check] of rows.each()) {
    const dimensions = models.get(key % 256)
    const why = owner !== entry ? 'stray' : dimensions === undefined ? 'unknown' : faultOf(blob, dimensions)
    const isChanged = why === null && check !== checkOf([key, entry, blob])
    if (why !== null || isChanged) found.push({ key, chunk: Math.floor(key / 256), why: why ?? 'changed' })
  }
  return found
}

function faultOf(blob: Uint8Array, dimensions: number): 'length' | 'number' | null {
  if (blob.byteLength !== dimensions * Float32Array.BYTES_PER_ELEMENT) return 'length'
  let square = 0
  for (const value of vectorOf(blob)) square += value * value
  return Math.abs(square - 1) <= TOLERANCE ? null : 'number'
}

/** Those who follow the feed are told of the entries, whose other vectors stay. */
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
    if (partition !== undefined) tellChange(db, { entry, kind: 'put', partition, from: null, at: now })
  }
  return `dropped ${counted(wrong.length, 'vector')}`
}

function unreadableModels(db: SqlDatabase): Problem | null {
  const names = db
    .prepareArrays<[string]>('select name from models where dimensions < 1 or id not between 1 and 255')
    .all()
    .map(([name]) => name)
  return problemOf(names, 'model of no dimensions', 'models of no dimensions', { help: RESTORE_HELP, mend: null })
}
