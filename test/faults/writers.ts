/** Several processes that write all the time to one store: how long each waits for its turn, and whether one starves. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { Child } from './child.ts'

export interface WritersFigures {
  readonly writers: number
  readonly writes: number
  readonly writesPerSecond: number
  /** Writes that waited for longer than a millisecond. */
  readonly waited: number
  /** ms */
  readonly p50: number
  readonly p99: number
  readonly longest: number
  /** Writes of the one that wrote least, as a share of the mean. */
  readonly least: number
  readonly refused: number
}

export async function runWriters(file: string, writers: number, ms: number): Promise<WritersFigures> {
  openSqliteStore({ file }).close()
  const children = Array.from(
    { length: writers },
    (_, at) => new Child('writers-child.ts', import.meta.url, [file, String(at)]),
  )
  try {
    await Promise.all(children.map(child => child.says('ready')))
    await sleep(ms)
    for (const child of children) child.tell('stop')
    const said = await Promise.all(children.map(child => child.says('waits')))
    const each = said.map(line => JSON.parse(line.slice('waits '.length)) as readonly number[])
    const all = each.flat().toSorted((a, b) => a - b)
    const at = (share: number) => all[Math.min(all.length - 1, Math.floor(share * all.length))] ?? 0
    const refused = children.flatMap(child => child.lines.filter(line => line.startsWith('locked'))).length
    const least = Math.min(...each.map(waits => waits.length)) / (all.length / writers)
    const writesPerSecond = Math.round(all.length / (ms / 1_000))
    const waited = all.filter(wait => wait > 1).length
    const percentiles = { p50: at(0.5), p99: at(0.99), longest: at(1) }
    return { writers, writes: all.length, writesPerSecond, waited, ...percentiles, least, refused }
  } finally {
    await Promise.all(children.map(child => child.kill()))
  }
}
