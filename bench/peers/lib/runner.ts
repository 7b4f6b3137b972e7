/** One peer while it is measured: its process, the settings found for it, what it answered so far. */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { percentile } from '../../lib/report.ts'
import { K, MEASURED, TUNING, truthOf } from './data.ts'
import type { Asked, Built, Opened, Updated, Way } from './exchange.ts'
import type { Answered, PeerFigures, Times } from './figures.ts'
import type { Peer } from './peer.ts'
import { PeerProcess } from './process.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

/** Share of the right answers that every peer is to find. */
export const TARGET = 0.99
/** Questions in a turn. */
export const BLOCK = 10
/** Milliseconds that a peer may take for the questions of one kind, and how many it answers in any case. */
const BUDGET_MS = 4_000
const LEAST = 40
const UPDATES = 40

export class Runner {
  readonly peer: Peer
  readonly rows: number
  readonly #process: PeerProcess
  readonly opened: Opened
  readonly #folder: string

  static async open(peer: Peer, rows: number, folder: string): Promise<Runner> {
    const started = await PeerProcess.start(peer.name, rows, folder, peer.heap)
    try {
      return new Runner(peer, rows, folder, started, await started.ask<Opened>({ act: 'open' }))
    } catch (error) {
      await started.end()
      throw error
    }
  }

  private constructor(peer: Peer, rows: number, folder: string, started: PeerProcess, opened: Opened) {
    this.peer = peer
    this.rows = rows
    this.#folder = folder
    this.#process = started
    this.opened = opened
  }

  /** Why it answers nothing any more; undefined while it does. */
  failure: string | undefined

  has(way: Way): boolean {
    return this.failure === undefined && this.opened.has[way.kind]
  }

  /** Does what may fail; a peer that has failed is asked nothing further. */
  async try<T>(what: string, body: () => Promise<T>): Promise<T | null> {
    try {
      return await body()
    } catch (error) {
      this.failure ??= `${what}: ${(error as Error).message.slice(0, 300)}`
      return null
    }
  }

  /** Raises the peer's setting until enough is found; in words what it was. */
  async tune(scenario: number): Promise<string | null> {
    const plain = SCENARIOS[scenario]?.narrowing === 'none'
    const knob = this.opened.knobs[plain ? 0 : 1] ?? null
    let enough: number | undefined
    for (const value of knob?.values ?? [null]) {
      if (value !== null) await this.#process.ask({ act: 'set', value, filtered: !plain })
      const recall = await this.#probe(scenario)
      if (recall >= TARGET) enough ??= value ?? 0
      if (enough !== undefined) break
    }
    const chosen = enough ?? knob?.values.at(-1)
    if (knob === null || chosen === undefined) return null
    await this.#process.ask({ act: 'set', value: chosen, filtered: !plain })
    return `${knob.name} ${chosen}`
  }

  async #probe(scenario: number): Promise<number> {
    const way: Way = { kind: 'nearest', scenario }
    const { rows } = await this.#process.ask<Asked>({ act: 'ask', way, from: 0, to: TUNING })
    return this.#recall(scenario, rows, 0)
  }

  /** The questions from `from`, a block; undefined when the time for them is over. */
  async block(way: Way, from: number, spent: Spent): Promise<void> {
    if (spent.total > BUDGET_MS && spent.ms.length >= LEAST) return
    const asked = await this.#process.ask<Asked>({ act: 'ask', way, from: TUNING + from, to: TUNING + from + BLOCK })
    spent.ms.push(...asked.ms)
    spent.rows.push(...asked.rows)
    spent.total += asked.ms.reduce((sum, ms) => sum + ms, 0)
  }

  answered(scenario: number, { ms, rows }: Spent, knob: string | null): Answered {
    return { ...timesOf(ms), recall: this.#recall(scenario, rows, TUNING), knob }
  }

  #recall(scenario: number, rows: readonly (readonly number[])[], from: number): number {
    const truth = truthOf(SCENARIOS[scenario] as Scenario, this.rows)
    const found = rows.reduce((sum, row, i) => sum + row.filter(one => truth[from + i]?.includes(one)).length, 0)
    return found / (rows.length * K)
  }

  async updates(): Promise<PeerFigures['update']> {
    return this.opened.has.put ? this.#process.ask<Updated>({ act: 'update', times: UPDATES }) : null
  }

  builtIn(): { build: number | null; disk: number | null } {
    if (this.peer.sharesBuildOf !== undefined || !existsSync(this.#folder)) return { build: null, disk: null }
    const files = globSync('**/*', { cwd: this.#folder }).map(name => statSync(join(this.#folder, name)))
    const { processor } = JSON.parse(readFileSync(`${this.#folder}.json`, 'utf8')) as Partial<Built>
    const disk = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)
    // Who leaves no file is built when it is opened.
    const isHere = disk > 0 && this.peer.isServer !== true
    return { build: isHere ? (processor ?? null) : null, disk: disk > 0 ? disk : null }
  }

  end(): Promise<void> {
    return this.#process.end()
  }
}

export interface Spent {
  readonly ms: number[]
  readonly rows: (readonly number[])[]
  total: number
}

export function nothingSpent(): Spent {
  return { ms: [], rows: [], total: 0 }
}

export function timesOf(ms: readonly number[]): Times {
  return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), count: ms.length }
}

/** Builds what is not there yet; an index is kept for later runs with the seconds it took. */
export async function build(peer: Peer, rows: number, folder: string): Promise<void> {
  if (existsSync(folder)) return
  console.error(`  building ${peer.name}, ${rows} rows, once …`)
  const started = await PeerProcess.start(peer.name, rows, folder, peer.heap)
  try {
    const built = await started.ask<Built>({ act: 'build' })
    writeFileSync(`${folder}.json`, `${JSON.stringify({ ...built, version: peer.version() })}\n`)
  } finally {
    await started.end()
  }
}

export const QUESTIONS_OF_A_KIND = MEASURED
