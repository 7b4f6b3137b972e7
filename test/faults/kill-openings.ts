/** kill -9 while a home is opened for the first time: a new one, or one with a store file of an older version. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'
import { examineOpened } from './kill-openings-acts.ts'

/** Some openings fit into this. */
const MOST_WAIT_MS = 250

export interface OpeningKills {
  kills: number
  /** Openings that were over before the kill. */
  acts: number
  /** Kills between an opening's first line and its last. */
  during: number
  wrong: string[]
}

export async function killOpenings(folder: string, kills: number, seed: number): Promise<OpeningKills> {
  const random = seededUniform(seed)
  const figures: OpeningKills = { kills: 0, acts: 0, during: 0, wrong: [] }
  for (let next = 0; figures.kills < kills; figures.kills++) {
    const lines = await liveAndDie(folder, next, random)
    const opened = lines.filter(line => line.startsWith('open')).length
    const did = lines.filter(line => line.startsWith('did')).length
    figures.acts += did
    figures.during += opened - did
    for (let number = next; number < next + opened; number++) {
      const wrong = examineOpened(folder, number)
      figures.wrong.push(...wrong.map(line => `kill ${figures.kills}, home ${number}: ${line}`))
    }
    next += opened
  }
  return figures
}

async function liveAndDie(folder: string, first: number, random: () => number): Promise<readonly string[]> {
  await using child = new Child('kill-openings-child.ts', import.meta.url, [folder, String(first)])
  await child.says('open')
  await sleep(random() * MOST_WAIT_MS)
  return await child.killAtWork()
}
