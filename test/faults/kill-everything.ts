/** kill -9 of processes of every kind, two at a time: each history is cut into runs, each on a folder of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { seededUniform } from '../support/seeded.ts'
import { killBeliefs } from './kill-beliefs.ts'
import { killChroma } from './kill-chroma.ts'
import { killContext } from './kill-context.ts'
import { killAgainAndAgain } from './kill-engine.ts'
import { killOpenings } from './kill-openings.ts'

/** Kills of one run: enough for a store to grow old, few enough for lanes to end together. */
const RUN = 50
const LANES = 2
/** An engine is killed at most so long after it is ready. */
const LIFE_MS = 500

export type HistoryName = 'engine' | 'chroma' | 'beliefs' | 'context' | 'openings'
/** What a history counts, and what went wrong, which should be nothing. */
export type Figures = Readonly<Record<string, number>> & { readonly kills: number }
export interface Killed {
  readonly figures: Map<HistoryName, Figures>
  readonly wrong: string[]
}

interface History {
  readonly name: HistoryName
  /** Of all kills. */
  readonly share: number
  readonly run: (folder: string, kills: number, seed: number) => Promise<object & { readonly wrong: readonly string[] }>
}

const HISTORIES: readonly History[] = [
  { name: 'engine', share: 0.4, run: (folder, kills, seed) => killAgainAndAgain(folder, kills, LIFE_MS, seed) },
  { name: 'chroma', share: 0.2, run: (folder, kills, seed) => killChroma(join(folder, 'store.db'), kills, seed) },
  { name: 'beliefs', share: 0.2, run: (folder, kills, seed) => killBeliefs(join(folder, 'store.db'), kills, seed) },
  { name: 'context', share: 0.1, run: (_folder, kills, seed) => killContext(kills, seed) },
  { name: 'openings', share: 0.1, run: (folder, kills, seed) => killOpenings(folder, kills, seed) },
]

export async function killEverything(
  folder: string,
  times: number,
  seed: number,
  report: (killed: Killed) => void,
): Promise<Killed> {
  const random = seededUniform(seed)
  const runs = HISTORIES.flatMap(history => cut(Math.round(times * history.share)).map(kills => ({ history, kills })))
  const due = runs.map((run, at) => ({
    ...run,
    folder: join(folder, `run-${at}`),
    seed: Math.floor(random() * 2 ** 31),
  }))
  const killed: Killed = { figures: new Map(), wrong: [] }
  const lane = async () => {
    for (let run = due.shift(); run !== undefined; run = due.shift()) {
      mkdirSync(run.folder)
      const { name } = run.history
      const { wrong, ...found } = await run.history.run(run.folder, run.kills, run.seed)
      killed.wrong.push(...wrong.map(line => `${name}, seed ${run.seed}, ${line}`))
      killed.figures.set(name, added(killed.figures.get(name), found as Figures))
      report(killed)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return killed
}

/** In runs of about the same length. */
function cut(kills: number): readonly number[] {
  const runs = Math.ceil(kills / RUN)
  return Array.from(
    { length: runs },
    (_, at) => Math.floor(((at + 1) * kills) / runs) - Math.floor((at * kills) / runs),
  )
}

function added(before: Figures | undefined, found: Figures): Figures {
  const sums = Object.entries(found).map(([name, value]) => [name, value + (before?.[name] ?? 0)])
  return Object.fromEntries(sums) as Figures
}
