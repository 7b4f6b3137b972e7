import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openToyEmbedder } from '../../../../src/testing/toy-embedder.ts'
import { differences, readCases, type SetupStep } from '../../../support/context-fixtures.ts'
import { openWorld } from './world.ts'

const folder = join(fileURLToPath(new URL('../../../fixtures/context', import.meta.url)))

describe('the documented cases of /context/query (CX-013, CX-043)', () => {
  const cases = readCases(folder)

  it('are fourteen', () => {
    expect(cases).toHaveLength(14)
  })

  it.each(cases)('$name', async ({ setup, params, result }) => {
    expect(await differencesOf(setup, params, result)).toEqual([])
  })

  // The first contract has no mode, and calls what is found by name `direct`.
  it.each(cases.slice(0, 8))('$name, by the first contract (CX-015)', async ({ setup, params, result }) => {
    const { mode: _, ...plain } = params as { readonly mode?: string }
    const direct = JSON.parse(JSON.stringify(result).replaceAll('"relevance":"exact"', '"relevance":"direct"'))
    expect(await differencesOf(setup, plain, direct)).toEqual([])
  })
})

async function differencesOf(
  setup: readonly SetupStep[],
  params: unknown,
  result: unknown,
): Promise<readonly string[]> {
  await using world = await openWorld({ empty: true, embedder: openToyEmbedder() })
  for (const step of setup) {
    if ('path' in step) await world.do(step.path, step.params)
    else if (step.operation === 'put') await world.engine.put(step.input as Parameters<typeof world.engine.put>[0])
    else throw new Error(`no such step: ${step.operation}`)
  }
  return differences(result, await world.call('/context/query', params))
}

describe('comparing with a fixture (CX-043)', () => {
  it.each([
    ['<timestamp>', '2026-01-28T10:00:00.000Z'],
    ['<number>', 1.5],
    ['<string>', ''],
    ['<any>', null],
    ['<array>', [1]],
    ['<array:2>', [1, 2]],
    [{ a: ['<number>'] }, { a: [0] }],
  ])('%j fits %j', (expected, actual) => {
    expect(differences(expected, actual)).toEqual([])
  })

  it.each([
    ['<timestamp>', 'yesterday'],
    ['<number>', '1'],
    ['<array:2>', [1]],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [[1], [1, 2]],
    [null, undefined],
  ])('%j does not fit %j', (expected, actual) => {
    expect(differences(expected, actual)).not.toEqual([])
  })
})
