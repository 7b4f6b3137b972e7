/** kill -9 of an engine at work: a few kills in every run of the tests, two hundred with QUERENT_LONG=1. */
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { repeatUntil } from '../support/until-met.ts'
import { type KillLine, Ledger } from './kill-acts.ts'
import { killAgainAndAgain } from './kill-engine.ts'

/** A child that put two entries, showed one, and was killed while it replaced them. */
const SAID: readonly KillLine[] = [
  { ready: true },
  { act: 1, will: { kind: 'put', contents: { a: 'one', b: 'one' } } },
  { act: 1, did: ['a', 'b'] },
  { act: 2, will: { kind: 'query', contents: {} } },
  { act: 2, did: ['a'] },
  { act: 3, will: { kind: 'put', contents: { a: 'two', b: 'two' } } },
]

describe('what is found after a kill', () => {
  const settle = (a: string | null, b: string | null, usesOfA = 1) => {
    const ledger = new Ledger()
    ledger.follow(SAID.map(line => JSON.stringify(line)))
    const found = new Map<string, { content: string; uses: number }>()
    if (a !== null) found.set('a', { content: a, uses: usesOfA })
    if (b !== null) found.set('b', { content: b, uses: 0 })
    return ledger.settle(found)
  }

  it('may be what was there before the last act, or after it', () => {
    expect(settle('one', 'one')).toEqual([])
    expect(settle('two', 'two')).toEqual([])
  })

  it('is wrong when something is lost, half there, never said, or not counted', () => {
    expect(settle('one', null)).toEqual([expect.stringContaining('b: nothing instead of "one"')])
    expect(settle('one', 'two')).toEqual(['half of a put came through'])
    expect(settle('three', 'one')).toHaveLength(1)
    expect(settle('one', 'one', 2)).toHaveLength(1)
  })

  it('may lack the uses of the last queries of the process that was killed, and no others', () => {
    expect(settle('one', 'one', 0)).toEqual([])
    const ledger = new Ledger()
    ledger.follow(SAID.map(line => JSON.stringify(line)))
    ledger.follow([JSON.stringify({ ready: true })])
    const found = new Map(['a', 'b'].map(id => [id, { content: 'one', uses: 0 }]))
    expect(ledger.settle(found)).toEqual(['a: used 0 times instead of 1'])
  })
})

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 5
const LIFE_MS = LONG ? 2_000 : 500
/** Few kills may all come before anything was done. */
const MAX_ROUNDS = LONG ? 1 : 10

it(`an engine survives ${KILLS} kills (QUERENT_LONG=1: 200)`, { timeout: MAX_ROUNDS * KILLS * 15_000 }, async () => {
  let done = 0
  const kill = async () => {
    using folder = tempFolder()
    const { kills, acts, wrong } = await killAgainAndAgain(folder.path, KILLS, LIFE_MS, Date.now() & 0xffff)
    expect(wrong).toEqual([])
    expect(kills).toBe(KILLS)
    done += acts
  }
  await repeatUntil(MAX_ROUNDS, kill, () => expect(done).toBeGreaterThan(KILLS))
})
