/**
 * That hidden histories change no answer is only worth something if a change would be found: a leak planted in each place
 * where one could be (the first check, the second, explanation, count, facet, similar, cache, error) is.
 */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Requester } from '../../../../src/lenses/beliefs/access/requester.ts'
import { hiddenStories } from '../../../support/beliefs-hidden.ts'
import { findInterference, LIBRARY } from '../../../support/beliefs-hidden-world.ts'

const planted = vi.hoisted(() => ({
  leak: '',
  /** All beliefs of the store, whoever may see them. */
  all: 0,
  /** Who asked, as memberships stood at the first check. */
  first: null as Requester | null,
}))

vi.mock('../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../support/kept-keys.ts')
  return keptKeys(original)
})

vi.mock('../../../../src/lenses/beliefs/matching/in-scope.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/matching/in-scope.ts')>()
  const { inScope } = await import('../../../../src/lenses/beliefs/matching/in-scope.ts')
  class Scopes extends actual.Scopes {
    override of(request: Parameters<typeof inScope>[0]): ReturnType<typeof inScope> {
      planted.all = request.columns.size
      planted.first = request.requester
      if (planted.leak !== 'first check') return super.of(request)
      return inScope({ ...request, requester: seeingAll(request.requester) })
    }
  }
  return { ...actual, Scopes }
})

vi.mock('../../../../src/lenses/beliefs/access/show.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/access/show.ts')>()
  const showCurrent: typeof actual.showCurrent = (view, keys, enabled) => {
    const requester = planted.leak === 'second check' ? (planted.first as Requester) : view.requester
    return actual.showCurrent({ ...view, requester }, keys, enabled)
  }
  return { ...actual, showCurrent }
})

vi.mock('../../../../src/lenses/beliefs/explain/belief-explanation.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/explain/belief-explanation.ts')>()
  const explain: typeof actual.explain = (world, explained) =>
    actual.explain(world, planted.leak === 'explanation' ? { ...explained, total: planted.all } : explained)
  return { ...actual, explain }
})

vi.mock('../../../../src/lenses/beliefs/questions/facets.ts', async original => {
  const { countMatches, countFacets } =
    await original<typeof import('../../../../src/lenses/beliefs/questions/facets.ts')>()
  return {
    countMatches: async (...given: Parameters<typeof countMatches>) =>
      withAll('count', (await countMatches(...given)) as object),
    countFacets: async (...given: Parameters<typeof countFacets>) =>
      withAll('facet', (await countFacets(...given)) as object),
  }
})

vi.mock('../../../../src/lenses/beliefs/questions/about-belief.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/questions/about-belief.ts')>()
  const similarTo: typeof actual.similarTo = (state, asking, call) =>
    actual.similarTo(state, asking, planted.leak === 'similar' ? { ...call, requester: 'bob' } : call)
  return { ...actual, similarTo }
})

vi.mock('../../../../src/lenses/beliefs/paging/reading.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/paging/reading.ts')>()
  const known = new WeakMap<object, Map<string, ReturnType<typeof actual.runQuery>>>()
  const runQuery: typeof actual.runQuery = (state, query, call) => {
    if (planted.leak !== 'cache') return actual.runQuery(state, query, call)
    const ofStore = known.get(state) ?? new Map<string, ReturnType<typeof actual.runQuery>>()
    known.set(state, ofStore)
    // By the question alone, the requester it.
    const key = query.semantic?.text ?? ''
    const answer = ofStore.get(key) ?? actual.runQuery(state, query, call)
    ofStore.set(key, answer)
    return answer
  }
  return { ...actual, runQuery }
})

vi.mock('../../../../src/lenses/beliefs/record/read.ts', async original => {
  const actual = await original<typeof import('../../../../src/lenses/beliefs/record/read.ts')>()
  const { unauthorized } = await import('../../../../src/lenses/beliefs/errors.ts')
  const versionOfId: typeof actual.versionOfId = (view, id, past) => {
    const found = actual.versionOfId(view, id, past)
    const isThere = view.columns.firstOfId(view.columns.texts.idNumber(id)) !== -1
    if (planted.leak === 'error' && found === undefined && isThere) throw unauthorized()
    return found
  }
  // By what an id means to who reads it.
  const mayName: typeof actual.mayName = (view, name) =>
    actual.mayName(view, name) ||
    (planted.leak === 'reference' && actual.versionOfId(view, name.id, true) !== undefined)
  return { ...actual, versionOfId, mayName }
})

/** The search ends with the first history that shows the leak: one of the first two of the seed, as long as histories are drawn as now. */
const MAX_HISTORIES = 2_000

describe('a leak planted on purpose is found:', () => {
  it.each<[string, seed: number, readonly string[]]>([
    ['first check', 1, ['beliefs.query']],
    ['second check', 15, ['beliefs.query']],
    ['explanation', 1, ['beliefs.explain']],
    ['count', 1, ['beliefs.count']],
    ['facet', 1, ['beliefs.facets']],
    ['similar', 1, ['beliefs.similar']],
    ['cache', 5, ['beliefs.query']],
    ['error', 1, ['beliefs.get', 'beliefs.derivation']],
    ['reference', 2, ['beliefs.get', 'beliefs.put']],
  ])('%s', async (leak, seed, operations) => {
    planted.leak = leak
    const property = fc.asyncProperty(hiddenStories(operations), async story => {
      await findInterference(story, LIBRARY)
    })
    const { failed, errorInstance } = await fc.check(property, { numRuns: MAX_HISTORIES, endOnFailure: true, seed })
    planted.leak = ''
    expect([failed, (errorInstance as Error | null)?.name], String((errorInstance as Error | null)?.stack)).toEqual([
      true,
      'Interference',
    ])
  })
})

it('and without one, none is', async () => {
  const property = fc.asyncProperty(hiddenStories(['beliefs.query', 'beliefs.count', 'beliefs.get']), async story => {
    await findInterference(story, LIBRARY)
  })
  expect((await fc.check(property, { numRuns: 10 })).failed).toBe(false)
})

function withAll<T extends object>(leak: string, answer: T): T {
  return planted.leak === leak ? { ...answer, total: planted.all } : answer
}

function seeingAll(requester: Requester): Requester {
  const partitions = Array.from({ length: 100 }, (_, at) => at)
  const seeing = Object.create(requester) as Requester
  Object.defineProperties(seeing, {
    id: { value: requester.id },
    accessScope: { value: { ...requester.accessScope, partitions } },
    kindOf: { value: () => 3 },
    federationsOf: { value: () => [] },
  })
  return seeing
}
