import { describe, expect, it } from 'vitest'
import { DEFAULTS, resolveSettings } from '../../../../src/lenses/c64/settings.ts'

describe('settings', () => {
  it('have the defaults of the contract (EN-064)', () => {
    expect(resolveSettings({})).toMatchObject({
      ...{ qdrantUrl: 'http://localhost:6333', qdrantCollection: 'c64_training' },
      ...{ embeddingModel: 'text-embedding-3-large', limit: 15, fetchLimit: 20, minScoreRatio: 0.6 },
    })
  })

  it('ask the store itself unless told otherwise, by file, environment or flag (EN-065)', () => {
    expect(resolveSettings({}).backend).toBe('embedded')
    // An address that is set for other programs chooses nothing.
    expect(resolveSettings({ environment: { QDRANT_URL: 'http://q:1' } }).backend).toBe('embedded')
    expect(resolveSettings({ file: { backend: 'qdrant' } }).backend).toBe('qdrant')
    expect(resolveSettings({ environment: { C64_BACKEND: 'qdrant' } }).backend).toBe('qdrant')
    expect(resolveSettings({ constructed: { backend: 'qdrant' } }).backend).toBe('qdrant')
  })

  it.each([
    ['qdrantUrl', 'qdrant_url', 'QDRANT_URL', 'http://one:1', 'http://two:2', 'http://three:3'],
    ['qdrantCollection', 'qdrant_collection', 'QDRANT_COLLECTION', 'one', 'two', 'three'],
    ['embeddingModel', 'embedding_model', 'EMBEDDING_MODEL', 'one', 'two', 'three'],
    ['limit', 'limit', 'C64_LIMIT', 3, 4, 5],
    ['fetchLimit', 'fetch_limit', 'C64_FETCH_LIMIT', 3, 4, 5],
    ['minScoreRatio', 'min_score_ratio', 'C64_MIN_SCORE_RATIO', 0.1, 0.2, 0.3],
    ['fusion', 'fusion', 'C64_FUSION', 'rrf', 'tags-first', 'rrf'],
    ['expandAddresses', 'expand_addresses', 'C64_EXPAND_ADDRESSES', true, false, true],
    ['collection', 'collection', 'C64_COLLECTION', 'one', 'two', 'three'],
    ['timeoutMs', 'timeout_ms', 'C64_TIMEOUT_MS', 3, 4, 5],
  ] as const)('%s: file, environment before it, flags before both (EN-066)', (name, key, variable, one, two, three) => {
    const file = { [key]: one }
    const environment = { [variable]: String(two) }
    expect(resolveSettings({ file })[name]).toBe(one)
    expect(resolveSettings({ file, environment })[name]).toBe(two)
    expect(resolveSettings({ file, environment, constructed: { [name]: three } })[name]).toBe(three)
    // What is empty, or left out, is not set.
    expect(resolveSettings({ environment: { [variable]: '' }, constructed: { [name]: undefined } })).toEqual(DEFAULTS)
  })

  it.each([
    [{ file: { limit: 0 } }, 'invalid_argument', /lenses\.c64: limit/],
    [{ file: { limt: 3 } }, 'unknown_field', /lenses\.c64: limt/],
    [{ environment: { C64_LIMIT: 'many' } }, 'invalid_argument', /environment: limit/],
    [{ environment: { C64_EXPAND_ADDRESSES: 'perhaps' } }, 'invalid_argument', /environment: expand_addresses/],
    [{ constructed: { minScoreRatio: 2 } }, 'invalid_argument', /c64: min_score_ratio/],
  ])('that are wrong are reported by name and place: %j (EN-066)', (layers, code, message) => {
    expect(() => resolveSettings(layers)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    )
  })
})
