/**
 * kill -9 of a process that puts, supersedes and deletes beliefs and states trust: whatever it acknowledged is there, what
 * it was at is there whole or not at all, and no version hangs by half a link. Held against a history nobody interrupted.
 */
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'
import { openHistory } from './kill-beliefs-acts.ts'

/** Before a child says its first line it opens the store and loads the code. */
const MAX_LINES = 60
const MAX_WAIT_MS = 15

export interface BeliefsKills {
  kills: number
  /** Acknowledged. */
  acts: number
  /** Kills in the middle of an act. */
  during: number
  /** Of those, acts that were written without being acknowledged. */
  untold: number
  wrong: string[]
}

export async function killBeliefs(file: string, kills: number, seed: number): Promise<BeliefsKills> {
  const random = seededUniform(seed)
  const figures: BeliefsKills = { kills: 0, acts: 0, during: 0, untold: 0, wrong: [] }
  await using twin = await openHistory(null)
  let next = 0
  for (; figures.kills < kills; figures.kills++) {
    await using child = new Child('kill-history-child.ts', import.meta.url, ['beliefs', file, String(next)])
    await child.says('act')
    const lines = await child.killAfter(Math.floor(random() * MAX_LINES), MAX_WAIT_MS, random)
    const did = lines.filter(line => line.startsWith('did')).length
    for (const end = next + did; next < end; next++) await twin.take(next)
    figures.acts += did
    const wrong = (line: string) => figures.wrong.push(`kill ${figures.kills}, act ${next}: ${line}`)
    const store = openSqliteStore({ file })
    for (const line of await damageIn(store)) wrong(line)
    store.close()
    await using found = await openHistory(file)
    for (const line of found.brokenLinks()) wrong(line)
    const isBegun = lines.at(-1)?.startsWith('act') === true
    if (isBegun) figures.during++
    const before = difference(twin.dump(), found.dump())
    if (before === null) continue
    if (!isBegun) {
      wrong(before)
      return figures
    }
    await twin.take(next++)
    figures.untold++
    const after = difference(twin.dump(), found.dump())
    if (after !== null) {
      wrong(`neither as before (${before}) nor as after it (${after})`)
      return figures
    }
  }
  return figures
}

/** The first thing in which the two differ; null: they agree. */
function difference(wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string | null {
  for (const name of new Set([...wanted.keys(), ...found.keys()])) {
    const [one, other] = [wanted.get(name), found.get(name)]
    if (one !== other) return `${name} is ${other ?? 'not there'} instead of ${one ?? 'absent'}`
  }
  return null
}
