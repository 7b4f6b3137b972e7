/** The first `length` UTF-16 units, less one where the cut would halve a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const isHighSurrogate = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800
  return text.slice(0, isHighSurrogate ? length - 1 : length)
}
