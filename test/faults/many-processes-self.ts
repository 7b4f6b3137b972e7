/** Which of the processes this one is, by the arguments it was started with, and what it has at hand. */
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../../src/model/page.ts'
import { seededUniform } from '../support/seeded.ts'
import { AGENTS, type Clock, openShared } from './many-processes-engine.ts'
import { Facts, tokenOf } from './many-processes-facts.ts'

export type Kind = 'entry' | 'file' | 'node' | 'belief'

export const [, , folder = '', process_ = '0', life = '0'] = process.argv
export const index = Number(process_)
export const agent = AGENTS[index] as string
export const viewer = { id: agent }
export const random = seededUniform(index * 1_000 + Number(life))
export const PATIENT = { timeout_ms: 120_000, any: true } as const
const WORDS = ['fox', 'vixen', 'dog', 'car', 'automobile', 'garden', 'tulip', 'rain', 'quick', 'swift']

export const clock: Clock = { frozen: null }
export const facts = new Facts(join(folder, 'facts'))
export const ownFiles = join(folder, `files-${agent}`)
mkdirSync(ownFiles, { recursive: true })
export const engine = await openShared(clock, `${agent}-${life}`, { home: join(folder, 'home') })
/** By place, what stands there. */
export const kept: Record<Kind, Map<string, string>> = {
  entry: new Map(),
  file: new Map(),
  node: new Map(),
  belief: new Map(),
}
/** So far: of all lives, and of this one. */
export const count = { tokens: 0, acts: 0 }

export function say(line: string): void {
  writeSync(1, `${line.replaceAll('\n', ' ')}\n`)
}

export function wrong(what: string): void {
  say(`wrong: ${agent}-${life}, act ${count.acts}: ${what}`)
}

export async function finds(token: string): Promise<boolean> {
  return (await itemsOf(token)).length > 0
}

export async function itemsOf(token: string): Promise<Page['items']> {
  const question = { text: token, mode: 'words', touch: false, limit: 3, ...PATIENT } as const
  const { items } = await engine.query(question, { viewer })
  return items.filter(item => JSON.stringify(item).includes(token))
}

export function nextToken(): string {
  return tokenOf(index, count.tokens++)
}

export function sentence(): string {
  return Array.from({ length: 1 + pick(5) }, () => WORDS[pick(WORDS.length)]).join(' ')
}

export function pick(below: number): number {
  return Math.floor(random() * below)
}
