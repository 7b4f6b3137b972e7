/** How many tokens a text takes in a language model's input, near enough to keep a limit. */
import { pieceAt } from './piece.ts'

/** Named beside its numbers. */
export const TOKEN_COUNTER = 'querent-estimate'

/** As the chunker estimates them. A long text need not be read to its end to know that it does not fit. */
export function countTokens(text: string, enough: number = Number.POSITIVE_INFINITY): number {
  let tokens = 0
  for (let at = 0; at < text.length && tokens <= enough; ) {
    const piece = pieceAt(text, at)
    tokens += piece.tokens
    at = piece.end
  }
  return tokens
}
