import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import requirements from '../../docs/requirements.json' with { type: 'json' }

interface Requirements {
  /** Lenses whose `must` rows are all kept; a lens goes in here with the change that completes it. */
  readonly finished: readonly string[]
  /** Rows of finished lenses that no test proves yet, with the reason: new rows, and old ones whose text has changed. */
  readonly excepted: Readonly<Record<string, string>>
  /** Row -> date on which its text became what it is. Rows without a date have their first text. */
  readonly changed: Readonly<Record<string, string>>
  /** Lens -> level (must, should, future) -> ids. */
  readonly lenses: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

const testFolder = fileURLToPath(new URL('..', import.meta.url))
const idPattern = /\b(?:CQ|BQ|CO|CX|EN|QE)-\d{3}\b/g

describe('requirements', () => {
  const list: Requirements = requirements
  const cited = citedIn(testFolder)

  it('that a finished lens must keep are each cited by a test', () => {
    expect(uncited(list, cited)).toEqual([])
  })

  it('that are excepted are must rows of finished lenses that no test cites, or whose text has changed since', () => {
    const rows = list.finished.flatMap(lens => list.lenses[lens]?.['must'] ?? [])
    const isDone = (id: string) => cited.has(id) && list.changed[id] === undefined
    expect(Object.keys(list.excepted).filter(id => !rows.includes(id) || isDone(id))).toEqual([])
  })

  it('that a test cites exist', () => {
    expect(unknown(list, cited)).toEqual([])
  })

  it('are all in the list, and only lenses of the list are called finished', () => {
    const count = Object.values(list.lenses).flatMap(levels => Object.values(levels).flat()).length
    expect(count).toBe(603)
    expect(list.finished.filter(lens => list.lenses[lens] === undefined)).toEqual([])
  })
})

describe('the check of requirements', () => {
  const list: Requirements = {
    finished: ['one'],
    excepted: {},
    changed: {},
    lenses: { one: { must: ['CQ-001', 'CQ-002'], should: ['CQ-003'] }, two: { must: ['BQ-001'] } },
  }

  it('finds a row without a test, of finished lenses and of level must only', () => {
    expect(uncited(list, new Set(['CQ-001']))).toEqual(['CQ-002'])
    expect(uncited(list, new Set(['CQ-001', 'CQ-002']))).toEqual([])
    expect(uncited({ ...list, finished: [] }, new Set())).toEqual([])
    expect(uncited({ ...list, excepted: { 'CQ-002': 'later' } }, new Set())).toEqual(['CQ-001'])
  })

  it('finds a citation of nothing', () => {
    expect(unknown(list, new Set(['CQ-003', 'CQ-004']))).toEqual(['CQ-004'])
  })

  it('reads identifiers as whole words', () => {
    expect(idsIn('proves CQ-014, (BQ-111) and EN-001.')).toEqual(['CQ-014', 'BQ-111', 'EN-001'])
    expect(idsIn('not XCQ-014, CQ-0145, CQ-14 or ZZ-001')).toEqual([])
  })
})

function uncited(list: Requirements, cited: ReadonlySet<string>): string[] {
  return list.finished
    .flatMap(lens => list.lenses[lens]?.['must'] ?? [])
    .filter(id => !cited.has(id) && !Object.hasOwn(list.excepted, id))
}

function unknown(list: Requirements, cited: ReadonlySet<string>): string[] {
  const known = new Set(Object.values(list.lenses).flatMap(levels => Object.values(levels).flat()))
  return [...cited].filter(id => !known.has(id))
}

/** This file does not count: its examples are no proof. */
function citedIn(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const tests = files.filter(name => name.endsWith('.ts') && name !== join('spec', 'coverage.test.ts'))
  return new Set(tests.flatMap(name => idsIn(readFileSync(join(folder, name), 'utf8'))))
}

function idsIn(text: string): string[] {
  return text.match(idPattern) ?? []
}
