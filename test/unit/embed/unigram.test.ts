import { Tokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTokenizer } from '../../../src/embed/tokenizer.ts'
import { Unigram, type UnigramModel } from '../../../src/embed/unigram.ts'

const model: UnigramModel = {
  unk_id: 0,
  vocab: [
    ['<unk>', 0],
    ['<s>', 0],
    ['</s>', 0],
    ['▁', -3],
    ['▁the', -2],
    ['▁then', -5],
    ['n', -4],
    ['ab', -4.5],
    ['a', -2],
    ['b', -2.25],
    ['🙂', -6],
    ['猫', -5],
  ],
}
const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
const template = [special('<s>'), { Sequence: { id: 'A', type_id: 0 } }, special('</s>')]
const json = {
  version: '1.0',
  added_tokens: [],
  normalizer: { type: 'Strip', strip_left: true, strip_right: true },
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
  post_processor: {
    type: 'TemplateProcessing',
    single: template,
    pair: template,
    special_tokens: {
      '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] },
      '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] },
    },
  },
  decoder: null,
  model: { type: 'Unigram', ...model },
}

describe('Unigram', () => {
  const unigram = new Unigram(model)

  it('takes the pieces of the highest total score', () => {
    expect(unigram.segment('▁then')).toEqual(['▁then']) // -5 against ▁the + n: -6
    expect(unigram.segment('ab')).toEqual(['a', 'b']) // -4.25 against -4.5
  })

  it('gives a character without a piece by itself, also one outside the basic plane', () => {
    expect(unigram.segment('a犬b')).toEqual(['a', '犬', 'b'])
    expect(unigram.segment('🙂🦆a')).toEqual(['🙂', '🦆', 'a'])
  })

  it('gives nothing for nothing', () => {
    expect(unigram.segment('')).toEqual([])
  })
})

describe('openTokenizer with a unigram model', () => {
  const tokenize = openTokenizer(json, {}, 256)

  it('puts the special tokens around the pieces, and joins unknown ones that follow one another', () => {
    expect(tokenize('then ab')).toEqual([1, 5, 3, 8, 9, 2])
    expect(tokenize('犬鳥a')).toEqual([1, 3, 0, 8, 2])
    expect(tokenize('')).toEqual([1, 2])
  })

  it('keeps the closing token of a text that is cut', () => {
    expect(openTokenizer(json, {}, 4)('ababab')).toEqual([1, 3, 8, 2])
  })

  it('gives the ids of the tokenizer package for any text', () => {
    const reference = new Tokenizer(json, {})
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'n', ' ', 'the', '猫', '犬', '🙂', '🦆') })
    fc.assert(
      fc.property(text, text => {
        expect(tokenize(text)).toEqual(reference.encode(text).ids)
      }),
    )
  })
})
