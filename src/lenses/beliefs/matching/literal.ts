/** When words stand in a content as they are written (BQ-038), and when a phrase does (BQ-039). */

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu
const IN_TOKEN = /[\p{L}\p{N}\p{M}]/u

/** Compatibility characters resolved, lower case of no locale, runs of blanks made one. */
export function foldContent(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ')
}

/** The runs of letters, digits and marks of an operand, folded; empty when it has none. */
export function tokensOf(operand: string): readonly string[] {
  return foldContent(operand).match(TOKEN) ?? []
}

/** Whether these tokens stand next to each other in a folded content. Parts of words do not count. */
export function hasTokens(folded: string, tokens: readonly string[]): boolean {
  const [first] = tokens
  if (first === undefined) return false
  for (let at = folded.indexOf(first); at >= 0; at = folded.indexOf(first, at + 1)) {
    if (!isInTokenBefore(folded, at) && continues(folded, at, tokens)) return true
  }
  return false
}

/** `phrase` is folded and trimmed. */
export function hasPhrase(folded: string, phrase: string): boolean {
  return folded.includes(phrase)
}

/** Whether the content goes on with these tokens, whole ones, from `at`. */
function continues(folded: string, at: number, tokens: readonly string[]): boolean {
  let place = at
  for (const [position, token] of tokens.entries()) {
    if (position > 0) place = nextToken(folded, place)
    if (!folded.startsWith(token, place)) return false
    place += token.length
    if (isInToken(folded, place)) return false
  }
  return true
}

function nextToken(folded: string, from: number): number {
  let at = from
  while (at < folded.length && !isInToken(folded, at)) at += widthAt(folded, at)
  return at
}

function isInToken(text: string, at: number): boolean {
  const code = text.codePointAt(at)
  return code !== undefined && isTokenCode(code)
}

function isInTokenBefore(text: string, at: number): boolean {
  if (at === 0) return false
  const unit = text.charCodeAt(at - 1)
  const isLow = unit >= 0xdc00 && unit <= 0xdfff && at > 1
  return isTokenCode(text.codePointAt(isLow ? at - 2 : at - 1) as number)
}

function isTokenCode(code: number): boolean {
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return IN_TOKEN.test(String.fromCodePoint(code))
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1
}
