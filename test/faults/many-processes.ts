/**
 * Several engines at work on one home at once, each on ids of its own; some are killed and begin again. What each said was
 * written is there in the end, and all that still run answer as an engine does that is opened just then, without snapshots.
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEngine } from '../../src/engine/open.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { Child } from './child.ts'
import { answersOf, differentAnswers, type Found, Ledger } from './kill-acts.ts'

export interface ManyInput {
  readonly processes: number
  readonly ms: number
  /** From one kill to the next, on average. */
  readonly killEveryMs: number
  readonly seed: number
}

export interface ManyFigures {
  /** Acknowledged. */
  acts: number
  kills: number
  /** Answers of the processes held against those of an engine opened just then. */
  answersCompared: number
  wrong: string[]
}

interface Worker {
  readonly name: string
  readonly files: string
  readonly ledger: Ledger
  lives: number
  child: Child
}

export async function runMany(folder: string, input: ManyInput): Promise<ManyFigures> {
  const home = join(folder, 'home')
  await (await openEngine({ home, embedder: openToyEmbedder(), background: false })).close()
  const random = seededUniform(input.seed)
  const figures: ManyFigures = { acts: 0, kills: 0, answersCompared: 0, wrong: [] }
  const start = (files: string, life: number) => {
    const args = [home, files, String(life * 1e6), String(Math.floor(random() * 2 ** 31)), 'shared']
    return new Child('kill-engine-child.ts', import.meta.url, args)
  }
  const workers: Worker[] = Array.from({ length: input.processes }, (_, at) => {
    const name = `process${at}`
    const files = join(folder, name)
    mkdirSync(files)
    return { name, files, ledger: new Ledger(), lives: 1, child: start(files, 0) }
  })
  const settle = ({ name, ledger }: Worker, lines: readonly string[]) => {
    ledger.follow(lines)
    figures.wrong.push(...ledger.settle(foundOf(home, name)).map(line => `${name}: ${line}`))
  }
  try {
    await Promise.all(workers.map(({ child }) => child.says('{"ready"')))
    for (const end = performance.now() + input.ms; performance.now() < end; ) {
      await sleep(random() * 2 * input.killEveryMs)
      const worker = workers[Math.floor(random() * workers.length)] as Worker
      settle(worker, await worker.child.killAtWork())
      figures.kills++
      worker.child = start(worker.files, worker.lives++)
      await worker.child.says('{"ready"')
    }
    for (const { child } of workers) child.tell('stop')
    await Promise.all(workers.map(({ child }) => child.says('{"stopped"')))
    // A use that met another process's write is counted later; an answer before that would not be a rebuild's.
    for (const { child } of workers) child.tell('settle')
    await Promise.all(workers.map(({ child }) => child.says('{"settled"')))
    const now = Date.now()
    for (const { child } of workers) child.tell(`answer ${now}`)
    await Promise.all(workers.map(({ child }) => child.says('{"answered"')))
    const store = openSqliteStore({ file: join(home, 'store.db') })
    figures.wrong.push(...(await damageIn(store)))
    await using fresh = await openEngine({
      store,
      embedder: openToyEmbedder(),
      background: false,
      clock: { now: () => now },
    })
    const wanted = await answersOf(fresh)
    for (const worker of workers) {
      await worker.child.end()
      settle(worker, worker.child.lines)
      figures.acts += worker.ledger.acts
      const answers = JSON.parse(readFileSync(`${worker.files}.answers`, 'utf8')) as typeof wanted
      figures.answersCompared += Object.keys(wanted).length
      figures.wrong.push(...differentAnswers(answers, wanted).map(line => `${worker.name}: ${line}`))
    }
    const { findings } = await fresh.doctor()
    figures.wrong.push(...findings.filter(({ ok }) => !ok).map(({ check, message }) => `doctor: ${check}: ${message}`))
    return figures
  } finally {
    await Promise.all(workers.map(({ child }) => child.kill()))
  }
}

/** What is there of one process, while the others go on. */
function foundOf(home: string, name: string): Found {
  const store = openSqliteStore({ file: join(home, 'store.db'), readOnly: true })
  try {
    const entries = store.entries(store.scanEntries(0, 1e6)).filter(({ id }) => id.startsWith(name))
    return new Map(entries.map(({ id, content }) => [id, { content, uses: null }]))
  } finally {
    store.close()
  }
}
