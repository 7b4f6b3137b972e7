/** The tests that every scenario has: what the library answers, and that every other interface answers the same. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRecord } from '../../src/base/record.ts'
import { openEngine } from '../../src/engine/open.ts'
import { parseInput } from '../../src/model/parse-input.ts'
import { findOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { INTERFACES } from './interfaces.ts'
import { comparable, type Outcomes, runEverywhere, type Setting } from './run-scenario.ts'
import type { Outcome, Step } from './scenario.ts'

/** The scenarios' clock. */
export const NOW = '2026-03-01T12:00:00Z'

export interface Everywhere extends Omit<Setting, 'root' | 'now'> {
  /** Requirement rows that equal answers keep. */
  readonly rows?: string
  /** May write files into the folder first. */
  readonly steps: (root: string) => readonly Step[]
  /** How an interface may differ besides; default: not at all. */
  readonly alike?: (outcome: unknown, step: Step, via: string) => unknown
}

export function sameEverywhere({
  steps: stepsIn,
  rows = '',
  alike = outcome => outcome,
  ...setting
}: Everywhere): void {
  const root = mkdtempSync(join(tmpdir(), 'querent-interfaces-'))
  const steps = stepsIn(root)
  let outcomes: ReadonlyMap<string, Outcomes>
  beforeAll(async () => {
    outcomes = await runEverywhere(steps, { ...setting, root, now: NOW })
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const outcomeOf = (via: string, { name }: Step): Outcome | undefined => outcomes.get(via)?.get(name)

  describe('through the library', () => {
    it.each(steps)('$name', step => {
      const outcome = outcomeOf('library', step)
      if (step.expect !== undefined) step.expect(outcome)
      else expect(outcome).toHaveProperty('result')
    })

    it('every result is what its schema says', async () => {
      await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
      const catalog = makeCatalog(engine)
      for (const step of steps) {
        const outcome = outcomeOf('library', step)
        if (outcome === undefined || !('result' in outcome)) continue
        const { output } = findOperation(catalog, step.operation)
        expect(parseInput(output, outcome.result, step.name)).toEqual(outcome.result)
      }
    })
  })

  describe.each(Object.keys(INTERFACES).filter(via => via !== 'library'))('through %s as through the library', via => {
    it.each(steps)(`$name${rows === '' ? '' : ` (${rows})`}`, step => {
      if (via === 'routes' && step.atRoute !== undefined) {
        step.atRoute(outcomeOf(via, step))
        return
      }
      const [there, here] = [via, 'library'].map(name => alike(comparable(outcomeOf(name, step), root), step, via))
      expect(withUses(there, here)).toEqual(here)
    })
  })
}

/**
 * A use that meets a writer of another process, such as one that folds the log, is counted soon after (`Uses`): in `one`, an
 * access that is not counted yet, or was not in `other`, is that of `other`.
 */
function withUses(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other)) {
    return Array.isArray(one) && Array.isArray(other) ? one.map((item, at) => withUses(item, other[at])) : one
  }
  return Object.fromEntries(
    Object.entries(one).map(([name, value]) => {
      const isOwed = name === 'access' && name in other && (value === null || other[name] === null)
      return [name, isOwed ? other[name] : withUses(value, other[name])]
    }),
  )
}
