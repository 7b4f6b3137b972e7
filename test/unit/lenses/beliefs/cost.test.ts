/** BQ-190: what requests to the lens cost. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BELIEFS_OPERATIONS } from '../../../../src/lenses/beliefs/operations/beliefs-operations.ts'
import type { LensHost } from '../../../../src/lenses/lens.ts'
import type { Operation } from '../../../../src/model/operation.ts'

/** As admission charges it: of what is not checked yet, 1 for what is refused. */
function cost(name: string, input: unknown): number {
  const operation: Operation<LensHost> | undefined = BELIEFS_OPERATIONS.find(each => each.name === `beliefs.${name}`)
  const checked = operation?.input.safeParse(input)
  return checked?.success ? (operation?.cost?.(checked.data) ?? 1) : 1
}

const EVERYWHERE = { local: true, federated: true, network: true }
const query = (options: object) => ({ semantic: 'x', options })

describe('a query costs 1, and (BQ-190)', () => {
  it('28 with everything', () => {
    const options = {
      scope: EVERYWHERE,
      include_explanation: true,
      include_derivation: true,
      max_derivation_depth: 10,
      diversity: { enabled: true },
      limit: 1000,
    }
    expect(cost('query', query(options))).toBe(28)
    expect(cost('query', query({ ...options, stream: true, chunk_size: 100 }))).toBe(28)
    expect(cost('query', query({ ...options, stream: false }))).toBe(28)
  })

  it.each<[string, object, number]>([
    ['nothing more by itself', {}, 1],
    ['2 more for federations', { scope: { federated: true } }, 3],
    ['4 more for the network', { scope: { network: true } }, 5],
    ['1 more for explanations', { include_explanation: true }, 2],
    ['5 more for chains of the usual depth', { include_derivation: true }, 6],
    ['3 more for chains of three steps', { include_derivation: true, max_derivation_depth: 3 }, 4],
    ['nothing for a depth without chains', { max_derivation_depth: 10 }, 1],
    ['1 more for diversity', { diversity: { enabled: true } }, 2],
    ['nothing for diversity that is off', { diversity: { enabled: false } }, 1],
    ['nothing for 100 results', { limit: 100 }, 1],
    ['1 more for 101 results', { limit: 101 }, 2],
    ['1 more for 200 results', { limit: 200 }, 2],
    ['2 more for 201 results', { limit: 201 }, 3],
    ['9 more for 1,000 results', { limit: 1000 }, 10],
  ])('%s', (_, options, units) => {
    expect(cost('query', query(options))).toBe(units)
  })

  it('1 in all when it is wrong (BQ-186)', () => {
    for (const input of [
      null,
      7,
      [],
      {},
      query({ scope: EVERYWHERE, limit: 0 }),
      { ...query({ limit: 500 }), no: 1 },
    ]) {
      expect(cost('query', input)).toBe(1)
    }
  })

  it('as much whomever it names: who may not ask learns no more by asking dearly', () => {
    const context = { requester_id: 'somebody', trust_graph: 'ref:somebody' }
    expect(cost('query', { ...query({ scope: EVERYWHERE }), context })).toBe(7)
  })

  it('at least 1 and at most 28, for any input', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (options, more) => {
        for (const input of [more, query(options as object), { ...query({}), more }]) {
          const units = cost('query', input)
          expect(Number.isInteger(units) && units >= 1 && units <= 28).toBe(true)
        }
      }),
    )
  })
})

describe('other questions cost', () => {
  const dear = query({ scope: EVERYWHERE, limit: 201 })

  it.each<[string, unknown, number]>([
    ['count', dear, 9],
    ['facets', { query: dear, fields: ['domains'] }, 9],
    ['explain', { query: dear, belief_id: 'a' }, 10],
    ['context_query', { ...dear, purpose: 'answer', max_tokens: 100 }, 9],
    ['similar', { belief_id: 'a', options: { scope: EVERYWHERE, limit: 201 } }, 9],
    ['contradictions', { belief_id: 'a', options: { scope: EVERYWHERE } }, 7],
    ['derivation', { belief_id: 'a', max_depth: 10 }, 11],
    ['get', { belief_id: 'a' }, 1],
    ['put', { content: 'a' }, 1],
  ])('as a query does: %s', (name, input, units) => {
    expect(cost(name, input)).toBe(units)
  })

  it('nothing as a whole where each part pays for itself: a batch (BQ-175)', () => {
    expect(cost('batch', { queries: [dear, dear] })).toBe(0)
    expect(cost('batch', { queries: [] })).toBe(1)
  })
})
