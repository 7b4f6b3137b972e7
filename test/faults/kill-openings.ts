/** kill -9 while a home is opened for the first time: it opens, and what was written first is there whole or not at all. */

import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'

/** Enough to make more than one page of each table, in one transaction. */
export const ENTRIES = 40
/** Some openings fit into this. */
const MAX_WAIT_MS = 250

export interface OpeningKills {
  kills: number
  /** Openings that were over before the kill. */
  acts: number
  wrong: string[]
}

export async function killOpenings(folder: string, kills: number, seed: number): Promise<OpeningKills> {
  const random = seededUniform(seed)
  const figures: OpeningKills = { kills: 0, acts: 0, wrong: [] }
  for (let next = 0; figures.kills < kills; figures.kills++) {
    await using child = new Child('kill-openings-child.ts', import.meta.url, [folder, String(next)])
    await child.says('open')
    const lines = await child.killAfter(0, MAX_WAIT_MS, random)
    const opened = lines.filter(line => line.startsWith('open')).length
    figures.acts += lines.filter(line => line.startsWith('did')).length
    for (let number = next; number < next + opened; number++) {
      const wrong = await examineOpened(folder, number)
      figures.wrong.push(...wrong.map(line => `kill ${figures.kills}, home ${number}: ${line}`))
    }
    next += opened
  }
  return figures
}

async function examineOpened(folder: string, number: number): Promise<readonly string[]> {
  const store = openSqliteStore({ file: join(folder, `home-${number}`, 'store.db') })
  try {
    const wrong = [...(await damageIn(store))]
    const written = store.scanEntries(0, 1e6).length
    if (written !== 0 && written !== ENTRIES) wrong.push(`${written} of ${ENTRIES} entries of one transaction`)
    return wrong
  } finally {
    store.close()
  }
}
