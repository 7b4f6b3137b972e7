/**
 * Makes text safe to print to a terminal or a log: stored text is data, and must not move the cursor, set the window title or hide a line.
 */

/**
 * A placeholder for the escape character in the terminal style codes that this program writes, so that every real escape character in a
 * text can be treated as data. The placeholder is a Unicode noncharacter, which does not occur in text meant for interchange.
 */
export const STYLE_ESCAPE = '\ufdd0'

/**
 * Matches control characters except tab and line feed, characters that change the direction of text, and `STYLE_ESCAPE`; each is one UTF-16
 * unit.
 */
const UNSAFE = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0]/gu
/**
 * Matches the characters that could control a terminal, and captures the program's placeholder for the escape character where it begins a
 * style code: bold, dim, red, green, yellow or end of style.
 */
const STYLED = new RegExp(String.raw`(\ufdd0)(?=\[(?:[12]|22|3[1-3]|39)m)|${UNSAFE.source}`, 'gu')

/** The text with `�` in place of every character that could control a terminal; CR LF becomes LF. */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, '\ufffd')
}

/**
 * Replaces every character that could control a terminal by `�`, but keeps the style codes of this program: `begin` is written in place of
 * each escape placeholder in a style code.
 */
export function printableStyled(text: string, begin: string): string {
  return text.replace(/\r\n/g, '\n').replace(STYLED, (_, own?: string) => (own === undefined ? '\ufffd' : begin))
}

/**
 * Serialises a value as JSON and writes the characters that could control a terminal as Unicode escapes, so that the output is safe to
 * print and no information is lost.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text: string | undefined = JSON.stringify(value, null, indent)
  return (text ?? 'null').replace(UNSAFE, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
