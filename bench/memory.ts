/**
 * What an engine holds in memory for 100,000 chunks, words and vectors together: as the indexes count it, and as the
 * operating system sees a process of its own grow when it loads them from their snapshots and asks.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { bigHome, ENTRIES } from './lib/big-store.ts'
import type { Row } from './lib/report.ts'

export const name = 'memory'

const GOAL = 1024

interface Measured {
  /** Bytes the process holds, before and after. */
  readonly before: number
  readonly after: number
  readonly indexes: readonly { readonly name: string; readonly bytes: number }[]
}

export async function run(): Promise<readonly Row[]> {
  using home = await bigHome()
  const { before, after, indexes } = await measure(home.folder)
  const counted = indexes.reduce((sum, index) => sum + index.bytes, 0)
  return [
    ...indexes.map(index => row(`index ${index.name.split('-')[0]}`, index.bytes)),
    row('words and vectors, as the indexes count', counted, GOAL),
    row('words and vectors, as the process grows', after - before, GOAL),
    { name: 'the process, all of it', unit: 'MiB', value: after / 2 ** 20, note: `${ENTRIES} chunks` },
  ]
}

function row(name: string, bytes: number, limit?: number): Row {
  const value = bytes / ENTRIES
  const goal = limit !== undefined && { goal: `<= ${limit} bytes`, ok: value <= limit }
  return { name, unit: 'bytes a chunk', value, ...goal }
}

async function measure(folder: string): Promise<Measured> {
  const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const program = `
    import { openEngine } from ${at('../src/engine/open.ts')}
    import { openStandIn } from ${at('./lib/stand-in.ts')}
    // Not the stand-in's vectors: they would lie in memory too.
    const vector = Float32Array.from({ length: 384 }, (_, i) => Number(i === 0))
    const embedder = { ...(await openStandIn()), embed: async texts => texts.map(() => vector) }
    const rest = async () => {
      for (let i = 0; i < 5; i++) {
        globalThis.gc()
        await new Promise(resolve => setTimeout(resolve, 50))
      }
      return process.memoryUsage.rss()
    }
    const engine = await openEngine({ home: ${JSON.stringify(folder)}, embedder, background: false })
    const before = await rest()
    const { indexes } = await engine.status()
    await engine.query({ text: 'anything at all', any: true })
    const after = await rest()
    console.log(JSON.stringify({ before, after, indexes }))
    await engine.close()`
  const args = ['--expose-gc', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as Measured
}
