/** Text to token ids, cut to what the model takes. The one place that imports the tokenizer package. */
import { Tokenizer } from '@huggingface/tokenizers'
import { must } from '../base/assert.ts'
import { cutText } from './embedder.ts'
import { Unigram, type UnigramModel } from './unigram.ts'

/** Text to the ids of its tokens, special ones included; never more than the limit it was opened with. */
export type Tokenize = (text: string) => readonly number[]

/**
 * No word needs more (WordPiece takes a word of over 100 characters as unknown), so text behind `maxTokens` times this
 * is not even read: a document of 64 MB costs what a page costs.
 */
const CHARACTERS_PER_TOKEN = 100

/** `tokenizerJson` and `configJson` are the parsed files of a Hugging Face model folder. */
export function openTokenizer(tokenizerJson: object, configJson: object, maxTokens: number): Tokenize {
  const tokenizer = isUnigram(tokenizerJson)
    ? openUnigram(tokenizerJson, configJson)
    : new Tokenizer(tokenizerJson, configJson)
  const closing = countClosing(tokenizer)
  return text => {
    const { ids } = tokenizer.encode(cutText(text, maxTokens * CHARACTERS_PER_TOKEN))
    if (ids.length <= maxTokens) return ids
    return [...ids.slice(0, maxTokens - closing), ...ids.slice(ids.length - closing)]
  }
}

type UnigramJson = object & { readonly model: UnigramModel & { readonly type: 'Unigram' } }

function isUnigram(tokenizerJson: object): tokenizerJson is UnigramJson {
  const { model } = tokenizerJson as Partial<UnigramJson>
  return model?.type === 'Unigram'
}

/** The package's tokenizer with segmentation of our own: it is opened with the first pieces only, up to the unknown one. */
function openUnigram(json: UnigramJson, config: object): Tokenizer {
  const { vocab, unk_id } = json.model
  const few = { ...json.model, vocab: vocab.slice(0, unk_id + 1) }
  const tokenizer = new Tokenizer({ ...json, model: few }, config)
  const unigram = new Unigram(json.model)
  const model = must(tokenizer.model, 'the model of the tokenizer')
  model.tokens_to_ids = unigram.ids
  model.encode = (texts: readonly string[]) => texts.flatMap(text => unigram.segment(text))
  return tokenizer
}

/** How many special tokens ([SEP], </s>) end every text: they are kept when it is cut. */
function countClosing(tokenizer: Tokenizer): number {
  const one = tokenizer.encode('a').ids
  const other = tokenizer.encode('b').ids
  let count = 0
  while (count < one.length && one.at(-1 - count) === other.at(-1 - count)) count++
  return count
}
