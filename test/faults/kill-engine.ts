/**
 * kill -9 of an engine at work, again and again on one home: it opens every time, nothing that it said was written is
 * lost, and its indexes answer as if they had been built again.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { Child } from './child.ts'
import { answersOf, differentAnswers, type Found, Ledger } from './kill-acts.ts'

/** When a child is killed, and how often so; `anywhere` is what is left. */
const MOMENTS: readonly (readonly [Moment, number])[] = [
  ['starting', 0.1],
  ['closing', 0.15],
  ['importing', 0.1],
]
type Moment = 'starting' | 'closing' | 'importing' | 'anywhere'
/** What it says when it comes to that. */
const BEFORE: Readonly<Partial<Record<Moment, RegExp>>> = { closing: /^\{"closing"/, importing: /"kind":"import"/ }
/** Closing and importing take some ms. */
const MAX_WAIT_MS = 15
export interface KillFigures {
  kills: number
  /** Acts that were acknowledged. */
  acts: number
  /** Kills before the engine had opened (or just when it had), while it was closing, and while it was importing. */
  early: number
  closing: number
  importing: number
  /** Kills after which there were snapshots to start from. */
  withSnapshots: number
  /** Answers held against those of indexes built again. */
  answersCompared: number
  entries: number
  /** Anything lost, half done, damaged or answered otherwise than by a rebuild. None, one hopes. */
  wrong: string[]
}

export async function killAgainAndAgain(
  folder: string,
  kills: number,
  /** A child is killed at most so long after it is ready; now and then before. */
  lifeMs: number,
  seed: number,
  report: (figures: KillFigures) => void = () => {},
): Promise<KillFigures> {
  const home = join(folder, 'home')
  const files = join(folder, 'files')
  mkdirSync(files)
  await (await openEngine({ home, embedder: 'none', background: false })).close()
  const random = seededUniform(seed)
  const ledger = new Ledger()
  const figures: KillFigures = {
    kills: 0,
    acts: 0,
    ...{ early: 0, closing: 0, importing: 0 },
    withSnapshots: 0,
    answersCompared: 0,
    entries: 0,
    wrong: [],
  }
  while (figures.kills < kills) {
    const moment = momentOf(random())
    const lines = await liveAndDie(home, files, figures.kills * 1e6, random, moment, lifeMs)
    ledger.follow(lines)
    figures.kills++
    if (moment === 'starting') figures.early++
    if (BEFORE.closing?.test(lines.at(-1) ?? '')) figures.closing++
    if (BEFORE.importing?.test(lines.at(-1) ?? '')) figures.importing++
    if (existsSync(join(home, 'index', 'words.snapshot'))) figures.withSnapshots++
    const wrong = await examine(home, ledger, figures)
    figures.wrong.push(...wrong.map(line => `kill ${figures.kills}: ${line}`))
    figures.acts = ledger.acts
    report(figures)
  }
  return figures
}

async function liveAndDie(
  home: string,
  files: string,
  firstAct: number,
  random: () => number,
  moment: Moment,
  lifeMs: number,
): Promise<readonly string[]> {
  const args = [home, files, String(firstAct), String(Math.floor(random() * 2 ** 31))]
  await using child = new Child('kill-engine-child.ts', import.meta.url, args)
  const before = BEFORE[moment]
  if (moment !== 'starting') await child.says('{"ready"')
  if (before !== undefined) await child.saysLike(before)
  await sleep(random() * (before === undefined ? lifeMs : MAX_WAIT_MS))
  return await child.killAtWork()
}

function momentOf(chance: number): Moment {
  let left = chance
  for (const [moment, share] of MOMENTS) {
    if (left < share) return moment
    left -= share
  }
  return 'anywhere'
}

/** What is wrong after a kill, in lines. */
async function examine(home: string, ledger: Ledger, figures: KillFigures): Promise<readonly string[]> {
  const embedder = openToyEmbedder()
  const now = { now: () => Date.UTC(2030, 0, 1) }
  await using survivor = await openEngine({ home, embedder, background: false, clock: now })
  const found = await everything(survivor)
  figures.entries = found.size
  const wrong = [...ledger.settle(found)]
  // On the same file without a home, so without snapshots: it reads the whole store.
  const store = openSqliteStore({ file: join(home, 'store.db') })
  wrong.push(...(await damageIn(store)))
  await using rebuilt = await openEngine({ store, embedder: openToyEmbedder(), background: false, clock: now })
  const [mine, again] = [await answersOf(survivor), await answersOf(rebuilt)]
  figures.answersCompared += Object.keys(again).length
  wrong.push(...differentAnswers(mine, again))
  return wrong
}

async function everything(engine: Engine): Promise<Found> {
  const found = new Map<string, { content: string; uses: number }>()
  for (let cursor: string | undefined; ; ) {
    const page = await engine.list({ limit: 1000, order: 'id', ...(cursor === undefined ? {} : { cursor }) })
    for (const { id } of page.items) {
      const { content, access } = await engine.get({ id, touch: false })
      found.set(id, { content, uses: access?.count ?? 0 })
    }
    if (page.cursor === null) return found
    cursor = page.cursor
  }
}
