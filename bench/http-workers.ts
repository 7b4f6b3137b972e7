/**
 * What several processes on one port gain: mixed questions answered a second by one, two and more workers over one store, in
 * turns. Those who ask are processes too: where there are fewer cores than both need, that is what is measured.
 */
import { availableParallelism } from 'node:os'
import { bigHome } from './lib/big-store.ts'
import { ask, times } from './lib/http/asking.ts'
import { mixed, WARMING } from './lib/http/mixed-questions.ts'
import { startServing } from './lib/http/serving.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row } from './lib/report.ts'

export const name = 'http-workers'

const CORES = availableParallelism()
const WORKERS = [1, 2, ...(CORES >= 4 ? [4] : [])]
const TURNS = quick ? 1 : 5
const QUESTIONS = quick ? 200 : 3000
const CONNECTIONS_EACH = 8

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const workers of WORKERS) {
    using home = await bigHome()
    await using server = await startServing({ home: home.folder, workers })
    const connections = workers * CONNECTIONS_EACH
    const load = async (count: number): Promise<number> => {
      const many = await ask({ url: server.url, connections, next: n => (n < count ? mixed(n) : null) })
      return times(many).length / many.seconds
    }
    await load(quick ? 200 : WARMING * workers)
    const perSecond: number[] = []
    for (let turn = 0; turn < TURNS; turn++) perSecond.push(await load(QUESTIONS))
    const value = percentile(perSecond, 0.5)
    const gain = value / (rows[0]?.value ?? value)
    rows.push({
      name: `${workers} ${workers === 1 ? 'process' : 'workers'}`,
      unit: 'questions/s',
      value,
      note: `${gain.toFixed(2)} times one process; ${CORES} cores, of which those who ask take a part`,
    })
  }
  return rows
}
