/** What separates the words of a question. */

const BLANK = /\s/u

/** White space as Unicode has it; the empty text (the end of a question) is none. */
export function isBlank(character: string): boolean {
  return BLANK.test(character)
}
