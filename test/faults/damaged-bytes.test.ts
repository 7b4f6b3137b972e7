/** QE-018: whatever bytes of a store file are damaged, nothing altered is read as if it were whole, and the rest is saved. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { onFile } from './care/damaged-store.ts'
import {
  type Answers,
  damageFile,
  damagesOf,
  fillStore,
  homeWith,
  isReportedAsDamage,
  pageUses,
  readAll,
  saved,
} from './damaged-bytes.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const DAMAGES = LONG ? 500 : 24
const SEED = 18

let folder: TempFolder
let sound: string
let before: Answers
beforeAll(async () => {
  folder = tempFolder()
  await fillStore(folder.file('sound'))
  sound = join(folder.file('sound'), 'store.db')
  onFile(sound, db => db.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete'))
  const read = await readAll(homeWith(sound, folder.path, 'whole'))
  expect([...read.errors]).toEqual([])
  before = read.answers
})
afterAll(() => folder[Symbol.dispose]())

/** As a salvage saves an entry of which it is not known who may see it. */
function asPrivate(line: string): string {
  const { type, entry } = JSON.parse(line)
  if (type !== 'entry') return line
  return JSON.stringify({ type, entry: { ...entry, audience: { kind: 'private', holder: entry.audience.holder } } })
}

/** Entries that may be lost by damage to these bytes: those of the pages, where pages hold any. */
function mayLose(at: number, length: number): number {
  const uses = pageUses(sound)
  const pages = new Set([at, at + length - 1].map(byte => 1 + Math.floor(byte / 4096)))
  return [...pages].reduce((sum, page) => {
    const { name, type, cells } = uses.get(page) ?? { name: '', type: '', cells: 0 }
    if (!['entries', 'bodies'].includes(name)) return sum
    return sum + (type === 'overflow' ? 1 : cells)
  }, 0)
}

it(`gives nothing altered as if it were whole, and saves the rest (QE-018; ${DAMAGES} damages; QUERENT_LONG=1 for 500)`, {
  timeout: LONG ? 3_600_000 : 600_000,
}, async () => {
  const [wrong, figures]: [string[], Record<string, number>] = [[], {}]
  const count = (what: string) => {
    figures[what] = (figures[what] ?? 0) + 1
  }
  const lines = before.get('export') as ReadonlyMap<string, string>
  const privates = new Set([...lines.keys()].map(asPrivate))
  for (const [number, damage] of damagesOf(statSync(sound).size, DAMAGES, SEED).entries()) {
    const home = homeWith(sound, folder.path, 'damaged')
    const file = join(home, 'store.db')
    damageFile(file, damage)
    const isSame = readFileSync(file).equals(readFileSync(sound))
    const page = 1 + Math.floor(damage.at / 4096)
    const use = pageUses(sound).get(page)
    const place = `damage ${number} at ${damage.at} (${damage.bytes.length} bytes, page ${page} of ${use?.name} ${use?.type})`
    const damagedCopy = homeWith(file, folder.path, 'raw')
    const { answers, errors } = await readAll(home)
    let isAltered = false
    for (const [name, items] of answers) {
      for (const [identity, stored] of items) {
        if (before.get(name)?.get(identity) === stored) continue
        isAltered = true
        wrong.push(`${place}: ${name}, ${identity.slice(0, 200)}: ${stored.slice(0, 300)}`)
      }
    }
    const others = [...errors].filter(([, error]) => !isReportedAsDamage(error))
    for (const [name, error] of others)
      wrong.push(`${place}: ${name} failed with ${(error as Error).stack?.slice(0, 400)}`)
    const isMissing = [...answers].some(([name, items]) => items.size < (before.get(name)?.size ?? 0))
    count(
      isAltered
        ? 'altered'
        : errors.size > 0
          ? 'reported'
          : isMissing
            ? 'incomplete'
            : isSame
              ? 'same bytes'
              : 'no effect',
    )
    const found = await saved(join(damagedCopy, 'store.db'), folder.path).catch((error: Error) => error)
    if (found instanceof Error) {
      wrong.push(`${place}: nothing saved: ${found.stack?.slice(0, 600)}`)
      count('nothing saved')
      continue
    }
    for (const line of found)
      if (!lines.has(line) && !privates.has(line)) wrong.push(`${place}: saved altered: ${line.slice(0, 300)}`)
    const isEntry = (line: string) => line.startsWith('{"type":"entry"')
    const [have, had] = [found, [...lines.keys()]].map(all => all.filter(isEntry).length) as [number, number]
    if (had - have > mayLose(damage.at, damage.bytes.length))
      wrong.push(`${place}: ${had - have} of ${had} entries lost`)
    if (have < had) count('lost entries')
  }
  if (LONG) process.stdout.write(`${JSON.stringify(figures)}\n`)
  expect(wrong).toEqual([])
})
