/** What a holder writes: complete after the check, or refused whole. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BeliefsError } from '../../../../../src/lenses/beliefs/errors.ts'
import { overall } from '../../../../../src/lenses/beliefs/measures/confidence.ts'
import type { BeliefDraft } from '../../../../../src/lenses/beliefs/schema/belief.ts'
import { revised } from '../../../../../src/lenses/beliefs/schema/belief.ts'
import { checkDraft, checkPut, checkRevision, checkSupersede } from './checks.ts'
import { refusal, reported } from './faults.ts'

const NOW = Date.UTC(2026, 4, 1)

function draft(input: object): BeliefDraft {
  return checkDraft({ content: 'Bees dance.', ...input }, NOW)
}

describe('a draft', () => {
  it('of content alone has all else by default (BQ-001, BQ-007, BQ-010, BQ-013)', () => {
    expect(draft({})).toEqual({
      id: null,
      content: 'Bees dance.',
      contentHash: createHash('sha256').update('Bees dance.').digest('hex'),
      confidence: {
        source_reliability: 0.5,
        method_quality: 0.5,
        internal_consistency: 1,
        temporal_freshness: 1,
        corroboration: 0.1,
        domain_applicability: 0.8,
      },
      validFrom: NOW,
      validUntil: null,
      derivation: {
        type: 'assumption',
        sources: [],
        method_description: null,
        confidence_rationale: null,
        note: null,
      },
      domains: [],
      visibility: 'private',
      federationIds: [],
    })
  })

  it('keeps the default of dimensions that it does not name, and null for those it does not know (BQ-012, BQ-013)', () => {
    const { confidence } = draft({ confidence: { source_reliability: 0.95, method_quality: 0.9 } })
    expect(overall(confidence).overall).toBeCloseTo(0.6693, 4)
    const unknown = draft({ confidence: { corroboration: null } }).confidence
    expect(unknown.corroboration).toBeNull()
    expect(overall(unknown).missing).toEqual(['corroboration'])
  })

  it('may hold 65,536 bytes of UTF-8, not characters (BQ-001, BQ-002)', () => {
    expect(draft({ content: 'x'.repeat(65_536) }).content).toHaveLength(65_536)
    expect(draft({ content: 'é'.repeat(32_768) }).content).toHaveLength(32_768)
    expect(reported(() => draft({ content: 'x'.repeat(65_537) }))).toEqual(['content: range'])
    expect(reported(() => draft({ content: 'é'.repeat(32_769) }))).toEqual(['content: range'])
    expect(reported(() => draft({ content: '' }))).toEqual(['content: range'])
  })

  it('may say its hash, which must be the right one (BQ-002)', () => {
    const { contentHash } = draft({})
    expect(draft({ content_hash: contentHash }).contentHash).toBe(contentHash)
    expect(reported(() => draft({ content_hash: contentHash.replace(/^./, c => (c === '0' ? '1' : '0')) }))).toEqual([
      'content_hash: wrong_hash',
    ])
  })

  it('has domains in their normal form, each once (BQ-006)', () => {
    expect(draft({ domains: ['Code:Rust', 'tech', 'code/rust'] }).domains).toEqual(['code/rust', 'tech'])
    const many = Array.from({ length: 21 }, (_, i) => `d${i}`)
    expect(draft({ domains: many.slice(1) }).domains).toHaveLength(20)
    expect(reported(() => draft({ domains: many }))).toEqual(['domains: too_complex'])
  })

  it.each([
    ['federated', 'federated'],
    ['PUBLIC', 'public'],
    ['Private', 'private'],
    ['everyone', 'private'],
    ['trusted', 'private'],
    ['', 'private'],
  ])('%j is seen as %s (BQ-010)', (visibility, expected) => {
    expect(draft({ visibility }).visibility).toBe(expected)
  })

  it('names federations only when it is shared (BQ-092)', () => {
    const shared = draft({ visibility: 'federated', federation_ids: ['g', 'f', 'g'] })
    expect(shared.federationIds).toEqual(['f', 'g'])
    expect(draft({ visibility: 'federated' }).federationIds).toEqual([])
    for (const visibility of ['public', 'private', 'everyone', undefined]) {
      expect(reported(() => draft({ visibility, federation_ids: ['f'] }))).toEqual(['federation_ids: not_federated'])
    }
    expect(() => draft({ visibility: 'public', federation_ids: ['f'] })).toThrow('with network in the scope')
  })

  it('knows when it is valid; times have a zone (BQ-002, BQ-009)', () => {
    const valid = draft({ valid_from: '2026-01-01T01:00:00+01:00', valid_until: '2026-01-01T00:00:00.001Z' })
    expect([valid.validFrom, valid.validUntil]).toEqual([Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1])
    const until = '2026-01-01T00:00:00Z'
    expect(reported(() => draft({ valid_from: until, valid_until: until }))).toEqual(['valid_until: valid_window'])
    expect(reported(() => draft({ valid_until: until }))).toEqual(['valid_until: valid_window'])
    expect(reported(() => draft({ valid_from: '2026-01-01T00:00:00' }))).toEqual(['valid_from: zone_missing'])
  })

  it('keeps a foreign type of derivation as a note beside inference (BQ-007)', () => {
    expect(draft({ derivation: { type: 'prediction' } }).derivation).toMatchObject({
      type: 'inference',
      note: 'prediction',
    })
    expect(draft({ derivation: { type: 'Hearsay' } }).derivation).toMatchObject({ type: 'hearsay', note: null })
    expect(draft({ derivation: {} }).derivation.type).toBe('assumption')
  })

  it('says of each source what it is and what it counts for (BQ-008)', () => {
    const sources = [{ belief_id: 'b' }, { external_ref: 'x'.repeat(2048), contribution_type: 'context', weight: 0 }]
    expect(draft({ derivation: { type: 'inference', sources } }).derivation.sources).toEqual([
      { belief_id: 'b', external_ref: null, contribution_type: 'primary', weight: 1 },
      { belief_id: null, external_ref: 'x'.repeat(2048), contribution_type: 'context', weight: 0 },
    ])
    const hundred = Array.from({ length: 100 }, (_, i) => ({ belief_id: `b${i}` }))
    expect(draft({ derivation: { sources: hundred } }).derivation.sources).toHaveLength(100)
  })

  it.each<[object, string]>([
    [{ content: 7 }, 'content: type'],
    [{ content: 'a\ud800' }, 'content: malformed'],
    [{ content: 'a\0b' }, 'content: malformed'],
    [{ content_hash: 'abc' }, 'content_hash: malformed'],
    [{ id: '' }, 'id: range'],
    [{ id: 7 }, 'id: type'],
    [{ confidence: 0.9 }, 'confidence: type'],
    [{ confidence: { corroboration: 1.01 } }, 'confidence.corroboration: range'],
    [{ confidence: { corroboration: -0.01 } }, 'confidence.corroboration: range'],
    [{ confidence: { corroboration: '1' } }, 'confidence.corroboration: type'],
    [{ confidence: { overall: 1 } }, 'confidence.overall: unknown_field'],
    [{ domains: ['tech', 'not a domain'] }, 'domains[1]: malformed'],
    [{ visibility: 7 }, 'visibility: type'],
    [{ holder_id: 'you' }, 'holder_id: unknown_field'],
    [{ derivation: { sources: [{}] } }, 'derivation.sources[0]: no_reference'],
    [{ derivation: { sources: [{ belief_id: null, external_ref: null }] } }, 'derivation.sources[0]: no_reference'],
    [{ derivation: { sources: [{ external_ref: 'x'.repeat(2049) }] } }, 'derivation.sources[0].external_ref: range'],
    [{ derivation: { sources: [{ belief_id: 'b', weight: 2 }] } }, 'derivation.sources[0].weight: range'],
    [
      { derivation: { sources: [{ belief_id: 'b', contribution_type: 'rumour' }] } },
      'derivation.sources[0].contribution_type: unknown_value',
    ],
    [
      { derivation: { sources: Array.from({ length: 101 }, () => ({ belief_id: 'b' })) } },
      'derivation.sources: too_complex',
    ],
  ])('refuses %j: %s (BQ-002, BQ-006, BQ-008, BQ-011, BQ-012, BQ-025)', (input, expected) => {
    expect(reported(() => draft(input))).toEqual([expected])
    expect(refusal(() => draft(input)).code).toBe('INVALID_QUERY')
  })

  it('tells all that is wrong at once, in document order (BQ-002, BQ-186)', () => {
    const input = {
      domains: ['ok', 'x y'],
      content: '',
      confidence: { corroboration: 2 },
      mood: 1,
      visibility: 'public',
    }
    expect(reported(() => checkDraft(input, NOW))).toEqual([
      'domains[1]: malformed',
      'content: range',
      'confidence.corroboration: range',
      'mood: unknown_field',
    ])
    expect(reported(() => checkDraft({}, NOW))).toEqual(['content: required'])
    expect(reported(() => checkDraft('Bees dance.', NOW))).toEqual(['input: type'])
  })

  it('of any content is kept as it is, or refused (BQ-001, BQ-002, BQ-187)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab \n\0é🐝', '\ud800', '\u0301'), maxLength: 9 }), content => {
        const isKept = content !== '' && content.isWellFormed() && !content.includes('\0')
        if (!isKept) {
          expect(() => draft({ content })).toThrow(BeliefsError)
          return
        }
        const { contentHash, ...kept } = draft({ content })
        expect(kept.content).toBe(content)
        expect(contentHash).toBe(createHash('sha256').update(content, 'utf8').digest('hex'))
      }),
    )
  })
})

describe('a revision', () => {
  const old = draft({
    domains: ['bees'],
    visibility: 'federated',
    federation_ids: ['f'],
    confidence: { corroboration: 0.4 },
    valid_from: '2026-01-01T00:00:00Z',
  })

  it('changes what it names and nothing else (BQ-003)', () => {
    const revision = checkRevision({ belief_id: 'b', content: 'Bees waggle.', confidence: { method_quality: null } })
    expect(revision.belief_id).toBe('b')
    expect(revised(old, revision)).toEqual({
      ...old,
      id: null,
      content: 'Bees waggle.',
      contentHash: createHash('sha256').update('Bees waggle.').digest('hex'),
      confidence: { ...old.confidence, method_quality: null },
    })
    expect(revised(old, checkRevision({ belief_id: 'b' }))).toEqual({ ...old, id: null })
  })

  it('that narrows the visibility lets go of the federations (BQ-004, BQ-010)', () => {
    const narrowed = revised(old, checkRevision({ belief_id: 'b', visibility: 'private' }))
    expect(narrowed).toMatchObject({ visibility: 'private', federationIds: [] })
  })

  it('must go with what stays (BQ-002)', () => {
    const ending = checkRevision({ belief_id: 'b', valid_until: '2025-12-31T00:00:00Z' })
    expect(reported(() => revised(old, ending))).toEqual(['valid_until: valid_window'])
    expect(
      revised({ ...old, validUntil: NOW }, checkRevision({ belief_id: 'b', valid_until: null })).validUntil,
    ).toBeNull()
    const shared = checkRevision({ belief_id: 'b', visibility: 'public', federation_ids: ['f'] })
    expect(reported(() => revised(old, shared))).toEqual(['federation_ids: not_federated'])
    const hashed = checkRevision({ belief_id: 'b', content_hash: 'a'.repeat(64) })
    expect(reported(() => revised(old, hashed))).toEqual(['content_hash: wrong_hash'])
  })

  it('is refused like a draft (BQ-002)', () => {
    expect(reported(() => checkRevision({ content: '' }))).toEqual(['content: range', 'belief_id: required'])
    const wrong = { belief_id: 'b', content: 'x', content_hash: 'a'.repeat(64) }
    expect(reported(() => checkRevision(wrong))).toEqual(['content_hash: wrong_hash'])
  })
})

describe('what is put', () => {
  it('is one or many, and waits for vectors unless told not to', () => {
    expect(checkPut({ content: 'Bees dance.' }, NOW)).toEqual({ drafts: [draft({})], isMany: false, wait: true })
    const many = { beliefs: [{ content: 'Bees dance.' }, { content: 'Bees waggle.' }], wait: false }
    const drafts = [draft({}), draft({ content: 'Bees waggle.' })]
    expect(checkPut(many, NOW)).toEqual({ drafts, isMany: true, wait: false })
    expect(checkPut({ beliefs: [] }, NOW)).toEqual({ drafts: [], isMany: true, wait: true })
    expect(checkSupersede({ belief_id: 'b', wait: false })).toEqual({ belief_id: 'b', wait: false })
  })

  it('tells all that is wrong at once, in document order, of each of many (BQ-186)', () => {
    const beliefs = [
      { content: 'Bees dance.' },
      { domains: ['x y'], content: '' },
      'Bees',
      { content: 'x', confidence: { corroboration: 2 } },
      {},
      { content: 'x', valid_from: '2026-01-02T00:00:00Z', valid_until: '2026-01-01T00:00:00Z' },
    ]
    expect(reported(() => checkPut({ beliefs, wait: 'no' }, NOW))).toEqual([
      'beliefs[1].domains[0]: malformed',
      'beliefs[1].content: range',
      'beliefs[2]: type',
      'beliefs[3].confidence.corroboration: range',
      'beliefs[4].content: required',
      'beliefs[5].valid_until: valid_window',
      'wait: type',
    ])
    expect(reported(() => checkPut({ beliefs: {} }, NOW))).toEqual(['beliefs: type'])
    expect(reported(() => checkPut({ wait: 1, content: '' }, NOW))).toEqual(['wait: type', 'content: range'])
    expect(reported(() => checkSupersede({ wait: 1, content: '' }))).toEqual([
      'wait: type',
      'content: range',
      'belief_id: required',
    ])
    const forty = Array.from({ length: 40 }, () => ({}))
    const faults = reported(() => checkPut({ beliefs: forty }, NOW))
    expect([faults.length, faults[19]]).toEqual([20, 'beliefs[19].content: required'])
  })

  it('is nothing else where there are many: no word of it is passed over (BQ-002)', () => {
    const input = { content: 'Bees', beliefs: [{ content: '' }], foo: 1 }
    expect(reported(() => checkPut(input, NOW))).toEqual([
      'content: not_alone',
      'beliefs[0].content: range',
      'foo: unknown_field',
    ])
  })

  it('is bounded by the belief, not as a whole (BQ-191)', () => {
    const content = 'x'.repeat(60_000)
    const beliefs = Array.from({ length: 9 }, () => ({ content }))
    expect(checkPut({ beliefs }, NOW).drafts).toHaveLength(9)
    const domains = Array.from({ length: 9 }, () => content)
    expect(reported(() => checkPut({ beliefs: [{ content }, { content, domains }] }, NOW))).toEqual([
      'beliefs[1]: too_complex',
    ])
  })
})
