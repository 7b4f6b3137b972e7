/** Turns a text into token ids, cut to the maximum length of the model. The only module that imports the tokenizer package. */
import { Tokenizer } from '@huggingface/tokenizers'
import { must } from '../base/assert.ts'
import { cutText } from './embedder.ts'
import { Unigram, type UnigramModel } from './unigram.ts'

/** Returns the ids of a text's tokens, special tokens included; never more than the limit given at opening. */
export type Tokenize = (text: string) => readonly number[]

/**
 * UTF-16 units per token: no word needs more (WordPiece treats a word of over 100 characters as unknown), so text beyond `maxTokens` times
 * this number is not read: a document of 64 MB costs no more than a page.
 */
const CHARACTERS_PER_TOKEN = 100

/** `tokenizerJson` and `configJson` are the parsed tokenizer.json and tokenizer_config.json of a Hugging Face model folder. */
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

/**
 * The tokenizer package with a segmentation of our own in place of its own: the package gets only the first pieces of the vocabulary, up to
 * the one for unknown text, because building its data structure for all pieces is slow.
 */
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

/** Number of special tokens ([SEP], </s>) at the end of every text: they are kept when the text is cut. */
function countClosing(tokenizer: Tokenizer): number {
  const one = tokenizer.encode('a').ids
  const other = tokenizer.encode('b').ids
  let count = 0
  while (count < one.length && one.at(-1 - count) === other.at(-1 - count)) count++
  return count
}
