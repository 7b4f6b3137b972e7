/**
 * Several processes at once on one store: each adds, asks, deletes, decays; some are killed and begin again, above all
 * those that hold a lease. Held against what they said: see `many-processes-facts.ts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { LEASES } from '../../src/store/core-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'
import { compareWithFacts } from './many-processes-checks.ts'
import { AGENTS, answersOf, LANDMARKS, openShared } from './many-processes-engine.ts'
import { Facts } from './many-processes-facts.ts'

/** A dead holder blocks a job for one term (15 s) at most; what is late because the machine is busy is not wrong. */
const PATIENCE_MS = 60_000
/** How often the holder of a lease is chosen when a process is to be killed. */
const HOLDERS_SHARE = 0.5

export interface ManyInput {
  readonly processes: number
  readonly ms: number
  /** From one kill to the next, on average. */
  readonly killEveryMs: number
  /** From one comparison of all processes' answers to the next. */
  readonly compareEveryMs: number
  readonly seed: number
}

export interface ManyFigures {
  acts: number
  kills: number
  /** Of those, while a lease was held. */
  holdersKilled: number
  /** From the death of a holder to the next one's taking, at most. */
  longestMoveMs: number
  /** Answers of the processes held against those of an engine opened just then. */
  answersCompared: number
  /** Acts refused since the store was busy for longer than writers wait. */
  busy: number
  /** What was found in the end and had been acknowledged. */
  found: number
  deleted: number
  uses: number
  usesUncounted: number
  relayTurns: number
  wrong: string[]
}

export async function runMany(folder: string, input: ManyInput): Promise<ManyFigures> {
  await using run = await ManyProcesses.begin(folder, input)
  return await run.all()
}

class ManyProcesses implements AsyncDisposable {
  readonly #folder: string
  readonly #input: ManyInput
  readonly #random: () => number
  readonly #children: Child[] = []
  readonly #lives: number[] = []
  /** Sees what the processes see, and writes nothing. */
  readonly #store: Store
  readonly #figures: ManyFigures = {
    ...{ acts: 0, kills: 0, holdersKilled: 0, longestMoveMs: 0, answersCompared: 0, busy: 0 },
    ...{ found: 0, deleted: 0, uses: 0, usesUncounted: 0, relayTurns: 0, wrong: [] },
  }

  private constructor(folder: string, input: ManyInput) {
    this.#folder = folder
    this.#input = input
    this.#random = seededUniform(input.seed)
    this.#store = openSqliteStore({ file: join(folder, 'home', 'store.db'), readOnly: true })
  }

  static async begin(folder: string, input: ManyInput): Promise<ManyProcesses> {
    await using engine = await openShared({ frozen: null }, 'first', { home: join(folder, 'home'), background: false })
    await callOperation(engine, 'chroma.assign', 'owner', { starter: true })
    for (const id of AGENTS) await callOperation(engine, 'agents.create', 'owner', { id })
    const ids = Array.from({ length: LANDMARKS }, (_, at) => `landmark${at}`)
    const entries = ids.map(id => ({ id, content: `landmark ${id}`, visibility: 'public' as const }))
    await engine.put({ entries, wait: true })
    return new ManyProcesses(folder, input)
  }

  async all(): Promise<ManyFigures> {
    const { processes, ms, killEveryMs, compareEveryMs } = this.#input
    for (let index = 0; index < processes; index++) this.#start(index)
    await Promise.all(this.#children.map(child => child.says('ready')))
    const end = performance.now() + ms
    let compareAt = performance.now() + compareEveryMs
    while (performance.now() < end) {
      await sleep(Math.min(this.#random() * 2 * killEveryMs, Math.max(0, end - performance.now())))
      await this.#killOne()
      if (performance.now() < compareAt) continue
      await this.#compare()
      compareAt = performance.now() + compareEveryMs
    }
    await this.#compare()
    await this.#stop()
    await this.#examine()
    return this.#figures
  }

  #start(index: number): void {
    const life = (this.#lives[index] ?? -1) + 1
    this.#lives[index] = life
    const args = [this.#folder, String(index), String(life)]
    this.#children[index] = new Child('many-processes-child.ts', import.meta.url, args)
  }

  async #killOne(): Promise<void> {
    const held = this.#random() < HOLDERS_SHARE ? await this.#heldLease() : null
    const index = held?.index ?? Math.floor(this.#random() * this.#children.length)
    const died = performance.now()
    this.#heed(await (this.#children[index] as Child).killAtWork())
    this.#figures.kills++
    this.#start(index)
    if (held !== null) await this.#mustMove(held, died)
    await this.#children[index]?.says('ready')
  }

  /** A lease that a process holds just now, of some that are looked for; null: none for a while. */
  async #heldLease(): Promise<HeldLease | null> {
    const names = ['embedding', 'job:relay.lines', 'snapshots', 'job:chroma.memory']
    const name = names[Math.floor(this.#random() ** 2 * names.length)] as string
    for (let look = 0; look < 1_000; look++) {
      const holder = this.#holderOf(name)
      const index = this.#children.findIndex(child => holder?.split('/').at(-2) === String(child.pid))
      if (holder !== null && index >= 0) return { name, holder, index }
      await sleep(2)
    }
    return null
  }

  /** It was dead for a moment when the row was still its own; then others must take it, and they have work to do. */
  async #mustMove({ name, holder }: HeldLease, died: number): Promise<void> {
    if (this.#holderOf(name) !== holder) return
    this.#figures.holdersKilled++
    while (this.#holderOf(name) === holder) {
      if (performance.now() - died > PATIENCE_MS) {
        this.#figures.wrong.push(`the lease ${name} of a dead process was not taken`)
        return
      }
      await sleep(5)
    }
    const took = Math.round(performance.now() - died)
    this.#figures.longestMoveMs = Math.max(this.#figures.longestMoveMs, took)
  }

  #holderOf(name: string): string | null {
    const row = this.#store.table(LEASES).get({ name })
    return row === undefined ? null : String(row['holder'])
  }

  /** All stop between two acts and answer; an engine that is opened now, without snapshots, must answer the same. */
  async #compare(): Promise<void> {
    await this.#pause()
    const frozen = Date.now()
    for (const child of this.#children) child.tell(`answer ${frozen}`)
    await Promise.all(this.#children.map(child => child.says('answers')))
    await using fresh = await this.#fresh(frozen)
    const wanted = await answersOf(fresh)
    for (const index of this.#children.keys()) {
      const text = readFileSync(join(this.#folder, `answers-${AGENTS[index]}`), 'utf8')
      const found = JSON.parse(text) as typeof wanted
      if (found['failed'] !== undefined) this.#figures.wrong.push(`${AGENTS[index]} cannot answer: ${found['failed']}`)
      for (const [question, answer] of Object.entries(wanted)) {
        this.#figures.answersCompared++
        if (JSON.stringify(found[question]) === JSON.stringify(answer)) continue
        this.#figures.wrong.push(
          `${AGENTS[index]} answers "${question}" otherwise than a fresh engine: ${JSON.stringify(found[question])} instead of ${JSON.stringify(answer)}`,
        )
      }
    }
    for (const child of this.#children) {
      child.forget('paused')
      child.forget('answers')
      child.tell('go')
    }
  }

  #fresh(frozen: number): Promise<Engine> {
    const store = openSqliteStore({ file: join(this.#folder, 'home', 'store.db') })
    return openShared({ frozen }, 'fresh', { store, background: false })
  }

  async #pause(): Promise<void> {
    for (const child of this.#children) child.tell('pause')
    await Promise.all(this.#children.map(child => child.says('paused')))
  }

  async #stop(): Promise<void> {
    await this.#pause()
    for (const [index, child] of this.#children.entries()) {
      child.tell('stop')
      const findings = (await child.says('stopped')).slice('stopped '.length)
      if (findings !== '[]') this.#figures.wrong.push(`the doctor of ${AGENTS[index]}: ${findings}`)
      await child.end()
      this.#heed(child.lines)
    }
  }

  #heed(lines: readonly string[]): void {
    this.#figures.acts += lines.filter(line => line.startsWith('did ')).length
    this.#figures.busy += lines.filter(line => line.startsWith('busy ')).length
    this.#figures.wrong.push(...lines.filter(line => line.startsWith('wrong: ')))
  }

  async #examine(): Promise<void> {
    await using engine = await this.#fresh(Date.now())
    const { findings } = await engine.doctor()
    const wrong = findings.filter(({ ok }) => !ok).map(({ check, message }) => `doctor: ${check}: ${message}`)
    using facts = new Facts(join(this.#folder, 'facts')).follow()
    const store = engine.host('chroma').store
    const { counts, wrong: differences } = compareWithFacts(store, facts)
    Object.assign(this.#figures, counts)
    this.#figures.wrong.push(...wrong, ...differences)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map(child => child.kill()))
    this.#store.close()
  }
}

interface HeldLease {
  readonly name: string
  readonly holder: string
  readonly index: number
}
