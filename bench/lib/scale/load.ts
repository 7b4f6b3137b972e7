/** What comes before the first answer. */
import { readFileSync } from 'node:fs'
import { saveSnapshots } from '../kept-store.ts'
import { MEMBER } from '../people.ts'
import { timed, timedAsync } from '../report.ts'
import type { Figure } from './figures.ts'
import { INDEXES, openAt, rest, shortName } from './opened.ts'
import { openScaleStandIn, questions } from './store.ts'

/** Bytes. What `process.resourceUsage` says begins with what the process had that started this one. */
function maxMemory(): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** Snapshots that this version understands, for the copies that are to be measured. */
export async function freshen(home: string): Promise<readonly Figure[]> {
  await saveSnapshots(home, await openScaleStandIn())
  return []
}

/** From snapshots to the first answer, and what is then held. */
export async function load(home: string): Promise<readonly Figure[]> {
  const texts = questions(3)
  const before = await rest()
  const started = performance.now()
  const engine = await openAt(home)
  const opened = performance.now() - started
  const host = engine.host('default')
  const [words, vectors] = INDEXES.map(name => timed(() => host.index(name))) as [number, number]
  const first = await timedAsync(() => engine.query({ text: texts[0] as string }, { viewer: MEMBER }))
  const second = await timedAsync(() => engine.query({ text: texts[1] as string }, { viewer: MEMBER }))
  const after = await rest()
  const { chunks, indexes } = await engine.status()
  const figures: Figure[] = [
    { name: 'open, without indexes', unit: 'ms', value: opened },
    { name: 'load words from their snapshot', unit: 'ms', value: words },
    { name: 'load vectors from their snapshot', unit: 'ms', value: vectors },
    { name: 'first question after loading', unit: 'ms', value: first },
    { name: 'second question', unit: 'ms', value: second },
    ...indexes.map(({ name, bytes }) => ({
      name: `memory of ${shortName(name)}, counted`,
      unit: 'bytes a chunk',
      value: (bytes ?? 0) / chunks,
    })),
    { name: 'memory, as the process grows', unit: 'bytes a chunk', value: (after - before) / chunks },
    { name: 'memory of the process', unit: 'MiB', value: after / 2 ** 20 },
    { name: 'memory of the process at most', unit: 'MiB', value: maxMemory() / 2 ** 20 },
  ]
  await engine.close()
  return figures
}
