/** Whatever comes in, each check accepts it or refuses it with what is wrong: nothing else is thrown, nothing hangs. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BeliefsError } from '../../../../../src/lenses/beliefs/errors.ts'
import { revised } from '../../../../../src/lenses/beliefs/schema/belief.ts'
import * as questions from './checks.ts'
import {
  checkAgent,
  checkContext,
  checkDraft,
  checkEdge,
  checkFederation,
  checkFederationOnly,
  checkMember,
  checkOptions,
  checkPut,
  checkQuery,
  checkRevision,
  checkScope,
  checkSupersede,
  checkTrustQuestion,
} from './checks.ts'
import { anything, hostile } from './hostile.ts'

const REQUESTER = { id: 'me', trustGraph: null }
const OLD = checkDraft({ content: 'Bees dance.' }, 0)

const CHECKS: readonly (readonly [string, (input: unknown) => unknown, readonly string[]])[] = [
  ['query', input => checkQuery(input, REQUESTER), ['semantic', 'filters', 'context', 'options']],
  ['context', input => checkContext(input, REQUESTER), ['ranking_weights', 'confidence_weights', 'trust_graph']],
  ['options', input => checkOptions(input), ['scope', 'diversity', 'limit', 'cursor', 'offset']],
  ['scope', input => checkScope(input), ['local', 'nodes']],
  ['draft', input => checkDraft(input, 0), ['content', 'confidence', 'derivation', 'domains', 'federation_ids']],
  ['put', input => checkPut(input, 0), ['beliefs', 'content', 'wait', 'confidence', 'domains']],
  ['supersede', input => checkSupersede(input), ['belief_id', 'content', 'wait']],
  [
    'revision',
    input => revised(OLD, checkRevision(input)),
    ['belief_id', 'content', 'visibility', 'valid_until', 'federation_ids'],
  ],
  ['edge', input => checkEdge(input), ['target', 'trust_level', 'domain_trust', 'basis', 'signature']],
  ['trust question', input => checkTrustQuestion(input, REQUESTER), ['target', 'context']],
  ['agent', input => checkAgent(input), ['id', 'did', 'reputation_by_domain', 'label']],
  ['federation', input => checkFederation(input), ['id', 'results', 'anonymity']],
  ['member', input => checkMember(input), ['federation', 'agent', 'permissions', 'role']],
  ['id alone', input => checkFederationOnly(input), ['federation']],
  ['explain', input => questions.checkExplain(input, REQUESTER), ['belief_id', 'query']],
  ['facets', input => questions.checkFacets(input, REQUESTER), ['query', 'fields']],
  ['similar', input => questions.checkSimilar(input, REQUESTER), ['belief_id', 'context', 'options']],
  ['contradictions', input => questions.checkContradictions(input, REQUESTER), ['belief_id', 'options']],
  ['batch', input => questions.checkBatch(input), ['queries']],
  ['context query', input => questions.checkContextQuery(input, REQUESTER), ['semantic', 'purpose', 'max_tokens']],
  ['derivation', input => questions.checkDerivation(input), ['belief_id', 'max_depth']],
  ['get', input => questions.checkGet(input), ['belief_id', 'include_superseded']],
]

it.each(CHECKS)('%s (BQ-025, BQ-026, BQ-183, BQ-186, BQ-187)', (_, check, fields) => {
  const named = fc.dictionary(fc.constantFrom(...fields), fc.oneof(anything, hostile, fc.constantFrom('x', 1, 0.5)), {
    maxKeys: 5,
    noNullPrototype: false,
  })
  fc.assert(
    fc.property(fc.oneof(anything, named), input => {
      try {
        check(input)
      } catch (error) {
        if (!(error instanceof BeliefsError)) throw error
        expect(['INVALID_QUERY', 'INVALID_FILTERS', 'UNAUTHORIZED']).toContain(error.code)
        if (error.code !== 'UNAUTHORIZED') expectReported(error)
        // It goes out as it is.
        expect(JSON.stringify(error).isWellFormed()).toBe(true)
      }
    }),
    { numRuns: 400 },
  )
})

function expectReported({ code, message, details }: BeliefsError): void {
  const all = details['all'] as { readonly code: string; readonly path: string; readonly constraint: string }[]
  expect(all.length).toBeGreaterThanOrEqual(1)
  expect(all.length).toBeLessThanOrEqual(20)
  expect(all.every(({ path, constraint }) => path !== '' && constraint !== '')).toBe(true)
  expect(all[0]?.code).toBe(code)
  expect(message).toContain(all[0]?.path)
  const notOfFilters = all.filter(fault => !/^(query\.)?filters/.test(fault.path))
  expect(notOfFilters.filter(fault => fault.code !== 'INVALID_QUERY')).toEqual([])
}
