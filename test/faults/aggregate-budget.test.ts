/** Budgets of aggregates among real processes: the last of one is spent once, and who is killed got nothing for free (BQ-105). */
import { expect, it, onTestFinished } from 'vitest'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../../src/lenses/beliefs/tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { foundCensus, openAt, tellOf } from './aggregate-acts.ts'
import { Child } from './child.ts'

const topics = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`)

async function openFile(): Promise<string> {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = folder.file('store.db')
  const engine = await openAt(file)
  await foundCensus(engine)
  await engine.close()
  return file
}

function start(file: string, member: string, asked: readonly string[]): Child {
  const child = new Child('aggregate-child.ts', import.meta.url, [file, member, ...asked])
  onTestFinished(async () => {
    await child.kill()
  })
  return child
}

function looking<T>(file: string, look: (store: Store) => T): T {
  const store = openSqliteStore({ file })
  try {
    return look(store)
  } finally {
    store.close()
  }
}

const toldIn = (lines: readonly string[]) =>
  new Map(lines.filter(line => line.startsWith('told ')).map(line => [line.split(' ')[1] as string, line] as const))

it('BQ-105: two processes that ask at once for one member are told of ten topics, whichever was first', async () => {
  const file = await openFile()
  // Of each some that both ask, and some of its own: more than the budget in all.
  const asked = [topics('a', 8), topics('b', 8)].map(own => own.flatMap((topic, at) => [topic, `both${at}`]))
  const children = asked.map(some => start(file, 'm0', some))
  await Promise.all(children.map(child => child.says('ready')))
  for (const child of children) child.tell('go')
  await Promise.all(children.map(child => child.says('done')))
  const told = children.map(({ lines }) => toldIn(lines))
  const all = new Set(told.flatMap(one => [...one.keys()]))
  expect(all.size).toBe(10)
  const refused = children.flatMap(({ lines }) => lines.filter(line => line.startsWith('refused ')))
  expect(refused.length).toBeGreaterThanOrEqual(24 - 10)
  expect(refused.every(line => line.endsWith(' RATE_LIMITED'))).toBe(true)
  // What both were told is the same.
  for (const [topic, line] of told[0] ?? []) if (told[1]?.has(topic)) expect(told[1].get(topic)).toBe(line)
  const charges = looking(file, store => store.table(AGGREGATE_CHARGES).scan({ member: 'm0' }))
  expect(charges.reduce((sum, row) => sum + (row['epsilon'] as number), 0)).toBe(10_000)
}, 120_000)

it('BQ-105: two processes that ask the same for different members tell both the same', async () => {
  const file = await openFile()
  const same = topics('foxes number ', 8)
  const children = ['m1', 'm2'].map(member =>
    start(
      file,
      member,
      same.map(topic => topic.replaceAll(' ', '_')),
    ),
  )
  await Promise.all(children.map(child => child.says('ready')))
  for (const child of children) child.tell('go')
  await Promise.all(children.map(child => child.says('done')))
  const [some, others] = children.map(({ lines }) => toldIn(lines))
  expect([...(some ?? [])]).toEqual([...(others ?? [])])
  expect(some?.size).toBe(8)
}, 120_000)

it('BQ-105: a process that is killed has told nothing that is not paid for, and what it told is told again', async () => {
  const file = await openFile()
  const uniform = seededUniform(105)
  for (let round = 0; round < 4; round++) {
    const member = `m${3 + round}`
    const child = start(file, member, topics(`r${round}t`, 10))
    await child.says('ready')
    child.tell('go')
    await child.says(`asks r${round}t${Math.floor(uniform() * 6)}`)
    await new Promise(resolve => setTimeout(resolve, uniform() * 5))
    const told = toldIn(await child.kill())
    const { paid, kept } = looking(file, store => ({
      paid: store.table(AGGREGATE_CHARGES).count({ member }),
      kept: store.table(AGGREGATE_ANSWERS).count(),
    }))
    // One more may be there whose answer did not come out.
    expect(paid - told.size === 0 || paid - told.size === 1).toBe(true)
    expect(kept).toBeGreaterThanOrEqual(paid)
    const engine = await openAt(file)
    for (const [topic, line] of told) expect(await tellOf(engine, member, topic)).toBe(line)
    await engine.close()
    expect(looking(file, store => store.table(AGGREGATE_CHARGES).count({ member }))).toBe(paid)
  }
}, 120_000)
