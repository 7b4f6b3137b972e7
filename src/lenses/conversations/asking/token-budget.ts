/** How many messages fit into so many tokens of a language model: a token is counted as four characters, plus ten a message. */

const CHARACTERS_A_TOKEN = 4
const TOKENS_A_MESSAGE = 10

export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_A_TOKEN) + TOKENS_A_MESSAGE
}

/** How many of these, from the first on, fit together. */
export function fitting(texts: readonly string[], tokens: number): number {
  let left = tokens
  const end = texts.findIndex(text => {
    left -= tokensOf(text)
    return left < 0
  })
  return end < 0 ? texts.length : end
}

/** The beginning of a text that fits alone. */
export function cutToFit(text: string, tokens: number): string {
  return text.slice(0, Math.max(0, tokens - TOKENS_A_MESSAGE) * CHARACTERS_A_TOKEN).toWellFormed()
}
