/** The bound is compared with tokenizers that are in use; where it is loose is printed by nothing but its own test. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { maxTokensOf } from '../../../src/interfaces/mcp/answer.ts'

const real = (text: string): number => Math.max(o200k(text).length, cl100k(text).length)

/** Words as people write them, in some scripts; handles; numbers. */
const word = fc.oneof(
  fc.constantFrom(
    'the',
    'Bienen',
    'señorita',
    'knowledge',
    'retrieval-augmented',
    'Grüße',
    'привет',
    '知识库',
    'שלום',
    '🐝',
  ),
  fc.base64String({ minLength: 12, maxLength: 40 }).map(text => text.replace(/[+/=]/g, '_')),
  fc.uuid(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
)
const value = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 12 }).map(words => words.join(' ')),
  fc.integer(),
  fc.boolean(),
)
const document = fc.array(fc.dictionary(fc.constantFrom('id', 'title', 'text', 'score', 'lines'), value), {
  maxLength: 5,
})

describe('the bound of tokens', () => {
  it('is no less than what tokenizers make of JSON, whatever the language', () => {
    fc.assert(
      fc.property(document, items => {
        const text = JSON.stringify(items)
        expect(maxTokensOf(text)).toBeGreaterThanOrEqual(real(text))
        // As a text within JSON, as a result of a tool is.
        const within = JSON.stringify([{ type: 'text', text }])
        expect(maxTokensOf(within)).toBeGreaterThanOrEqual(real(within))
      }),
    )
  })

  it('is at most half as many more of prose and of code', () => {
    for (const file of ['README.md', 'docs/guide/http.md', 'src/engine/local-engine.ts']) {
      const text = readFileSync(file, 'utf8')
      expect(maxTokensOf(text), file).toBeGreaterThanOrEqual(real(text))
      expect(maxTokensOf(text), file).toBeLessThanOrEqual(1.5 * o200k(text).length)
    }
  })
})
