/** Takes a list of steps through one door, on a store of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DOORS } from './doors.ts'
import type { Outcome, Step } from './scenario.ts'

export interface Setting {
  /** A folder for the stores, one for each door. */
  readonly root: string
  readonly now: string
  /** `local` is the built-in model. */
  readonly embedder: 'none' | 'local'
  /** Whose tools MCP offers. */
  readonly lens?: string
}

/** Outcomes by the names of their steps. */
export async function runScenario(
  door: string,
  steps: readonly Step[],
  { root, now, embedder, lens }: Setting,
): Promise<ReadonlyMap<string, Outcome>> {
  const home = join(root, door, '.querent')
  mkdirSync(home, { recursive: true })
  const open = DOORS[door]
  if (open === undefined) throw new Error(`no door ${door}`)
  await using opened = await open({ home, now, embedder, lens })
  const done = new Map<string, Outcome>()
  for (const step of steps) {
    const answers = new Map(
      [...done].map(([name, outcome]) => [name, 'result' in outcome ? outcome.result : undefined]),
    )
    const input = step.inputFrom === undefined ? step.input : step.inputFrom(answers)
    done.set(step.name, await opened.call(step.operation, input, step.viewer))
  }
  return done
}

/** Without what may differ: measured times, cursors (signed by each store's secret), the home, memory and log in use. */
export function comparable(outcome: Outcome | undefined): unknown {
  return JSON.parse(JSON.stringify(outcome ?? null), (key, value) => {
    if (key === 'ms' || key === 'bytes') return 0
    // How far the log is folded back, and what is still to erase, is a matter of the moment.
    if (key === 'log_bytes') return 0
    if (key === 'to_erase') return 'now or later'
    if (key === 'cursor') return value === null ? null : 'a cursor'
    if (key === 'home') return value === null ? null : 'a home'
    // What runs in the background is told of the process that runs it.
    if (key === 'findings') return value.filter(({ check }: { check: string }) => !check.startsWith('job '))
    return value
  })
}
