/**
 * What a question pays for the log of the store: access updates of ten entries among 100,000, at the pace of a busy server,
 * with the log folded back by the commits that fill it, by a timer on the main thread, and in a thread of its own. Each
 * way works on a store of its own, a round at a time in turn.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OWNER } from '../src/model/partition.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import type { Upkeep } from '../src/store/upkeep.ts'
import { draftOf, wholeChunk } from '../test/support/entries.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'checkpoint'

const ENTRIES = quick ? 5_000 : 100_000
const ROUNDS = quick ? 3 : 12
/** In a round, 2 ms apart: what a round fills is folded back once, as every two seconds in a server. */
const UPDATES = quick ? 200 : 1_000
const TOUCHED = 10
const MIB = 1024 * 1024
const viewer = { id: OWNER }

interface Way {
  readonly name: string
  /** From how large a log on a commit folds it back. */
  readonly inCommits: number
  /** In the middle of each round. */
  readonly fold: (upkeep: Upkeep) => unknown
}

const WAYS: readonly Way[] = [
  { name: 'in commits, at 16 MiB', inCommits: 16 * MIB, fold: () => undefined },
  { name: 'by a timer', inCommits: 128 * MIB, fold: upkeep => upkeep.fold('some', 0) },
  { name: 'in a thread', inCommits: 128 * MIB, fold: upkeep => upkeep.fold('some', 20) },
]

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  return await measure(folder.path)
}

async function measure(folder: string): Promise<readonly Row[]> {
  const filled = join(folder, 'filled.db')
  fill(filled)
  const worlds = WAYS.map((way, at) => {
    const file = join(folder, `${at}.db`)
    cpSync(filled, file)
    const store = openSqliteStore({ file })
    store.upkeep?.foldInCommits(way.inCommits)
    return { way, store, random: seededUniform(at), times: [] as number[], largest: 0 }
  })
  for (let round = 0; round < ROUNDS; round++) {
    for (const world of worlds) {
      const { way, store, random, times } = world
      const upkeep = store.upkeep as Upkeep
      const folding: unknown[] = []
      for (let update = 0; update < UPDATES; update++) {
        // What a timer does on the main thread keeps the next question waiting.
        times.push(
          timed(() => touch(store, random, update === UPDATES / 2 ? () => folding.push(way.fold(upkeep)) : null)),
        )
        await sleep(2)
      }
      world.largest = Math.max(world.largest, upkeep.log()?.bytes ?? 0)
      await Promise.all(folding)
    }
  }
  for (const { store } of worlds) {
    await store.upkeep?.endThread()
    store.close()
  }
  return worlds.map(({ way, times, largest }) => ({
    name: `access update of ${TOUCHED} entries; the log is folded back ${way.name}`,
    unit: 'ms',
    value: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    note: `p99.9 ${percentile(times, 0.999).toPrecision(3)}, worst ${Math.max(...times).toPrecision(3)}; log at most ${(largest / MIB).toFixed(0)} MiB`,
  }))
}

function fill(file: string): void {
  const store = openSqliteStore({ file })
  for (let from = 0; from < ENTRIES; from += 1_000) {
    store.write(1, writer => {
      for (let at = from; at < from + 1_000; at++) {
        const draft = draftOf({ id: `entry-${at}`, content: `Entry ${at}. `.repeat(20) })
        const { key } = writer.put(draft, wholeChunk(draft))
        writer.touch(viewer, [key], 1, 1)
      }
    })
  }
  store.close()
}

function touch(store: Store, random: () => number, before: (() => unknown) | null): void {
  before?.()
  const entries = Array.from({ length: TOUCHED }, () => 1 + Math.floor(random() * ENTRIES))
  store.write(2, writer => writer.touch(viewer, entries, 2, 0.1))
}
