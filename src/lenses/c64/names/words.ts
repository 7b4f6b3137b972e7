/** The words of a question, and whether it is written in capitals throughout, so that capitals tell nothing. */

export interface Word {
  readonly text: string
  readonly upper: string
  readonly isUpper: boolean
  /** Half-open, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** Words of letters, digits and underscores that begin with a letter and belong to no number such as `$ADC0`. */
export function wordsOf(query: string): readonly Word[] {
  return [...query.matchAll(/(?<![\p{L}\p{N}_$&%])[A-Za-z][A-Za-z0-9_]*(?![\p{L}\p{N}_])/gu)].map(match => {
    const [text] = match
    const upper = text.toUpperCase()
    return { text, upper, isUpper: text === upper, start: match.index, end: match.index + text.length }
  })
}

/** At least two words and not one lower-case letter. */
export function isShouted(query: string): boolean {
  return !/\p{Ll}/u.test(query) && wordsOf(query).length >= 2
}
