/**
 * kill -9 of a process that asks by hashtags, with accesses written at once, and runs decay cycles and lifecycle checks:
 * the next one goes on, and at every kill all is as in a history that nobody interrupted, to 1e-9. A query's accesses are
 * all there or none; a cycle that was cut off is finished by the next, at the same time or later.
 */
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'
import { type History, kindOf, LATER, type Memory, openHistory } from './kill-chroma-acts.ts'

const CLOSE = 1e-9
/** Before a child says its first line it opens the store and loads the code. */
const MAX_LINES = 14
const MAX_WAIT_MS = 25

export interface ChromaKills {
  kills: number
  acts: number
  /** Kills in the middle of a cycle or a check, of which some but not all parts were written. */
  cutOff: number
  /** Cycles that were finished later than they were begun. */
  finishedLater: number
  /** Queries whose accesses were written without being acknowledged. */
  untold: number
  wrong: string[]
}

export async function killChroma(file: string, kills: number, seed: number): Promise<ChromaKills> {
  const random = seededUniform(seed)
  const figures: ChromaKills = { kills: 0, acts: 0, cutOff: 0, finishedLater: 0, untold: 0, wrong: [] }
  await using twin = await openHistory(null)
  await twin.begin()
  {
    await using first = await openHistory(file)
    await first.begin()
  }
  /** The next act for the twin. */
  let next = 0
  let late = 0
  // An act that was partly done twice leaves higher versions.
  let withVersions = true
  while (figures.kills < kills) {
    await using child = new Child('kill-history-child.ts', import.meta.url, [
      'chroma',
      file,
      String(next),
      String(late),
    ])
    await child.says('act')
    const lines = await child.killAfter(Math.floor(random() * MAX_LINES), MAX_WAIT_MS, random)
    figures.kills++
    const did = lines.filter(line => line.startsWith('did')).length
    for (const end = next + did; next < end; next++, late = 0) await twin.take(next, late)
    figures.acts = next
    const isBegun = lines.at(-1) !== undefined && !lines.at(-1)?.startsWith('did')
    const isCut = lines.at(-1) === 'part'
    const store = openSqliteStore({ file })
    const complaints = await damageIn(store)
    store.close()
    const wrong = (line: string) => figures.wrong.push(`kill ${figures.kills}, act ${next} (${kindOf(next)}): ${line}`)
    for (const line of complaints) wrong(line)
    if (isBegun && kindOf(next) !== 'query') {
      if (isCut) figures.cutOff++
      // What was done of it nobody knows: the next child takes it up, and then it must be as if it had been done at once.
      late = kindOf(next) === 'decay' && random() < 0.5 ? late + Math.floor((random() * LATER) / 10) : late
      if (late > 0) {
        figures.finishedLater++
        withVersions = false
      }
      continue
    }
    await using found = await openHistory(file)
    const memories = await found.memories()
    const before = difference(await twin.memories(), memories, withVersions)
    if (before === null) continue
    if (!isBegun) {
      wrong(before)
      continue
    }
    await twin.take(next, late)
    next++
    late = 0
    const after = difference(await twin.memories(), memories, withVersions)
    if (after !== null) wrong(`neither as before (${before}) nor as after it (${after})`)
    figures.untold++
  }
  await finish(file, twin, next, late, withVersions, figures)
  return figures
}

/** Nobody kills the last one: it ends on the same state. */
async function finish(
  file: string,
  twin: History,
  act: number,
  late: number,
  withVersions: boolean,
  figures: ChromaKills,
): Promise<void> {
  await using last = await openHistory(file)
  for (let next = act; next < act + 5; next++) {
    for (const history of [twin, last]) await history.take(next, next === act ? late : 0)
  }
  const left = difference(await twin.memories(), await last.memories(), withVersions)
  if (left !== null) figures.wrong.push(`at the end: ${left}`)
}

/** The first thing in which the two differ; null: they agree. */
function difference(wanted: readonly Memory[], found: readonly Memory[], withVersions: boolean): string | null {
  if (wanted.length !== found.length) return `${found.length} nodes instead of ${wanted.length}`
  for (const [at, one] of wanted.entries()) {
    const other = found[at] as Memory
    const isSame =
      JSON.stringify(one.exact) === JSON.stringify(other.exact) &&
      one.close.every((value, place) => Math.abs(value - (other.close[place] as number)) <= CLOSE) &&
      (!withVersions || one.version === other.version)
    if (!isSame) return `${JSON.stringify(other)} instead of ${JSON.stringify(one)}`
  }
  return null
}
