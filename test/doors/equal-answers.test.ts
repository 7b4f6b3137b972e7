/** The same questions through library, command line, HTTP and MCP, as real processes: the same answers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseInput } from '../../src/model/parse-input.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { DOORS } from './doors.ts'
import { comparable, runScenario } from './run-scenario.ts'
import { type Outcome, type Step, scenario } from './scenario.ts'

const NOW = '2026-03-01T12:00:00Z'

const root = mkdtempSync(join(tmpdir(), 'querent-doors-'))
const docs = join(root, 'docs')
const steps = scenario(docs)
const outcomes = new Map<string, ReadonlyMap<string, Outcome>>()

beforeAll(async () => {
  mkdirSync(docs)
  writeFileSync(join(docs, 'decay.md'), '# Decay\n\nMemory fades.\n\n## Numbers\n\nIts half life is seven days.\n')
  writeFileSync(join(docs, 'kernel.md'), '# Kernel\n\nThe kernel scans the signs of vectors.\n')
  await Promise.all(
    Object.keys(DOORS).map(async door =>
      outcomes.set(door, await runScenario(door, steps, { root, now: NOW, embedder: 'none' })),
    ),
  )
}, 120_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

const outcomeOf = (door: string, step: Step): Outcome | undefined => outcomes.get(door)?.get(step.name)

describe('through the library', () => {
  it.each(steps)('$name', step => {
    const outcome = outcomeOf('library', step)
    expect(outcome).toBeDefined()
    if (step.expect !== undefined) step.expect(outcome)
    else expect(outcome).toHaveProperty('result')
  })

  it('every result is what its schema says', () => {
    const catalog = makeCatalog({ lensOperations: [] })
    for (const step of steps) {
      const outcome = outcomeOf('library', step)
      const output = catalog.get(step.operation)?.output
      if (outcome === undefined || !('result' in outcome) || output === undefined) continue
      expect(parseInput(output, outcome.result, step.name)).toEqual(outcome.result)
    }
  })
})

describe.each(Object.keys(DOORS).filter(door => door !== 'library'))('through %s as through the library', door => {
  it.each(steps)('$name', step => {
    expect(comparable(outcomeOf(door, step))).toEqual(comparable(outcomeOf('library', step)))
  })
})
