/** Text to token ids, cut to what the model takes. The one place that imports the tokenizer package. */
import { Tokenizer } from '@huggingface/tokenizers'
import { cutText } from './cut-text.ts'

/** Text to the ids of its tokens, special ones included; never more than the limit it was opened with. */
export type Tokenize = (text: string) => readonly number[]

/**
 * No word needs more (WordPiece takes a word of over 100 characters as unknown), so text behind `maxTokens` times this
 * is not even read: a document of 64 MB costs what a page costs.
 */
const CHARACTERS_PER_TOKEN = 100

/** `tokenizerJson` and `configJson` are the parsed files of a Hugging Face model folder. */
export function openTokenizer(tokenizerJson: object, configJson: object, maxTokens: number): Tokenize {
  const tokenizer = new Tokenizer(tokenizerJson, configJson)
  const closing = countClosing(tokenizer)
  return text => {
    const { ids } = tokenizer.encode(cutText(text, maxTokens * CHARACTERS_PER_TOKEN))
    if (ids.length <= maxTokens) return ids
    return [...ids.slice(0, maxTokens - closing), ...ids.slice(ids.length - closing)]
  }
}

/** How many special tokens ([SEP], </s>) end every text: they are kept when it is cut. */
function countClosing(tokenizer: Tokenizer): number {
  const one = tokenizer.encode('a').ids
  const other = tokenizer.encode('b').ids
  let count = 0
  while (count < one.length && one.at(-1 - count) === other.at(-1 - count)) count++
  return count
}
