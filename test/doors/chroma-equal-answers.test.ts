/** The lens chroma through library, command line, HTTP and MCP: equal rows, equal errors (CQ-122, CQ-001). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMA_STEPS } from './chroma-scenario.ts'
import { DOORS } from './doors.ts'
import { comparable, runScenario } from './run-scenario.ts'
import type { Outcome, Step } from './scenario.ts'

const root = mkdtempSync(join(tmpdir(), 'querent-chroma-doors-'))
const outcomes = new Map<string, ReadonlyMap<string, Outcome>>()

beforeAll(async () => {
  const setting = { root, now: '2026-03-01T12:00:00Z', embedder: 'none', lens: 'chroma' } as const
  await Promise.all(
    Object.keys(DOORS).map(async door => outcomes.set(door, await runScenario(door, CHROMA_STEPS, setting))),
  )
}, 120_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

const outcomeOf = (door: string, step: Step): Outcome | undefined => outcomes.get(door)?.get(step.name)

describe('through the library', () => {
  it.each(CHROMA_STEPS)('$name', step => {
    const outcome = outcomeOf('library', step)
    if (step.expect === undefined) expect(outcome).toHaveProperty('result')
    step.expect?.(outcome)
  })
})

describe.each(Object.keys(DOORS).filter(door => door !== 'library'))('through %s as through the library', door => {
  it.each(CHROMA_STEPS)('$name (CQ-122)', step => {
    expect(alike(step, outcomeOf(door, step))).toEqual(alike(step, outcomeOf('library', step)))
  })
})

/** New nodes get random ids; how much was left to decay depends on what ran in the background. */
function alike({ operation }: Step, outcome: Outcome | undefined): unknown {
  if (operation === 'chroma.decay' || operation === 'chroma.lifecycle') return Object.keys(outcome ?? {})
  const text = JSON.stringify(comparable(outcome))
  return JSON.parse(text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'a new id'))
}
