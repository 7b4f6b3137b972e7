/** Text for a terminal or a log: what is stored is data, and must not move a cursor, set a title or hide a line. */

/**
 * Stands for the escape character in codes of our own styles, so that all others can be taken for data. A noncharacter of
 * Unicode, which no text has in it for others to read.
 */
export const STYLE_ESCAPE = '\ufdd0'

/** Control characters but tab and line feed, those that reorder text, and `STYLE_ESCAPE`; each is one UTF-16 unit. */
const UNSAFE = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0]/gu
/** As `UNSAFE`; `STYLE_ESCAPE` before a code for bold, dim, red, green, yellow or the end of one is a match of its own. */
const STYLED = new RegExp(String.raw`(\ufdd0)(?=\[(?:[12]|22|3[1-3]|39)m)|${UNSAFE.source}`, 'gu')

/** With `�` in place of every character that could command a terminal; CR LF becomes LF. */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, '\ufffd')
}

/** As `printable`, but codes of our own styles stay, begun by `begin`. */
export function printableStyled(text: string, begin: string): string {
  return text.replace(/\r\n/g, '\n').replace(STYLED, (_, own?: string) => (own === undefined ? '\ufffd' : begin))
}

/** As `JSON.stringify`; what `printable` would replace is escaped instead, so that nothing is lost. */
export function jsonText(value: unknown, indent?: number): string {
  const text: string | undefined = JSON.stringify(value, null, indent)
  return (text ?? 'null').replace(UNSAFE, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
