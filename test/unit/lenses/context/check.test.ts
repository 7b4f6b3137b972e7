import { describe, expect } from 'vitest'
import type { Steps } from '../../../../src/base/turns.ts'
import { checkTables, READINGS } from '../../../../src/lenses/context/context-lens.ts'
import { setCounter } from '../../../../src/lenses/context/counters.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../../../../src/lenses/context/tables.ts'
import type { Row } from '../../../../src/model/table.ts'
import type { StoreWriter } from '../../../../src/store/store.ts'
import { type ContextWorld, it, openWorld } from './world.ts'

const ann = { id: 'ann' }

async function openSound(): Promise<ContextWorld> {
  const world = await openWorld()
  await world.concepts('A', 'B', 'C')
  await world.edges([1, 2], [2, 3], [3, 1])
  await world.do('/mind/provenance/create', { concept_id: 1, file_url: 'file:///a.ts' })
  await world.do('/mind/concepts/create', { name: 'Hers', type: 'T' }, ann)
  return world
}

async function complaints(world: ContextWorld): Promise<Readonly<Record<string, string>>> {
  const { findings } = await world.engine.doctor()
  return Object.fromEntries(findings.filter(({ ok }) => !ok).map(({ check, message }) => [check, message]))
}

function row(writer: StoreWriter, id: number): Row & { readonly entry: number } {
  const [found] = writer.table(CONCEPTS).scan({ id })
  return found as Row & { readonly entry: number }
}

describe('the doctor on the tables of the lens', () => {
  it('finds nothing wrong with what calls have written', async () => {
    await using world = await openSound()
    await world.do('/mind/concepts/delete', { id: 2 })
    const { ok, findings } = await world.engine.doctor()
    expect(findings.filter(finding => !finding.ok)).toEqual([])
    expect(ok).toBe(true)
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['lens context', 'index links']))
  })

  it.each<[string, (writer: StoreWriter) => void]>([
    ['1 links have no target', writer => writer.table(EDGES).put({ ...edge(writer), target: 99 })],
    ['1 links have no source', writer => writer.table(EDGES).put({ ...edge(writer), entry: row(writer, 3).entry })],
    [
      '1 links to files have no concept',
      writer => writer.table(PROVENANCE).put({ entry: row(writer, 2).entry, concept: 99, url: 'file:///b.ts' }),
    ],
    [
      '1 concepts have no entry, or entries of concepts no concept; 1 links have no source; 1 links have no target',
      writer => writer.table(CONCEPTS).delete({ entry: row(writer, 2).entry }),
    ],
    [
      '1 concepts share a number with another one; 2 links have no source; 1 links have no target',
      writer => writer.table(CONCEPTS).put({ ...row(writer, 3), id: 2 }),
    ],
    ['the counter of concepts is at 3, but 3 is in use (sequence 0)', writer => setCounter(writer, 'next_concept', 3)],
    ['the counter of edges is at 1, but 3 is in use (sequence 0)', writer => setCounter(writer, 'next_edge', 1)],
  ])('finds that %s', async (message, damage) => {
    await using world = await openSound()
    world.host.store.write(world.host.clock.now(), damage)
    expect(await complaints(world)).toMatchObject({ 'lens context': message })
  })

  it('finds an index of links that missed a change', async () => {
    await using world = await openSound()
    await world.do('/graph/neighbors', { id: 1 })
    world.host.store.write(world.host.clock.now(), writer => writer.table(EDGES).delete({ id: 2 }))
    expect(await complaints(world)).toEqual({ 'index links': expect.stringMatching(/^7 rows, a rebuild has 6$/) })
  })
})

function edge(writer: StoreWriter): Row {
  return writer.table(EDGES).get({ id: 1 }) as Row
}

it('QE-019: are read in a step for every 500 rows, and so is what is missing of files', async ({ world }) => {
  const COUNT = 1_200
  await world.concepts(...Array.from({ length: COUNT }, (_, at) => `C${at}`))
  await world.edges(...Array.from({ length: COUNT - 1 }, (_, at) => [at + 1, at + 2] as const))
  const { store } = world.engine.host('context')
  expect(countSteps(checkTables(store))).toEqual({ steps: expect.any(Number), value: [] })
  expect(countSteps(checkTables(store)).steps).toBeGreaterThanOrEqual((2 * COUNT) / 500)
  expect(countSteps(READINGS.find(store))).toMatchObject({ value: [] })
  expect(countSteps(READINGS.find(store)).steps).toBeGreaterThanOrEqual(COUNT / 500)
})

function countSteps<T>(work: Steps<T>): { readonly steps: number; readonly value: T } {
  for (let steps = 0; ; steps++) {
    const step = work.next(false)
    if (step.done === true) return { steps, value: step.value }
  }
}
