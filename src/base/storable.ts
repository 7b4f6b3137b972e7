/**
 * Text that a store can keep. Half a surrogate pair cannot be written as UTF-8, and the character NUL cannot be read
 * back through `node:sqlite` of Node 22 (seen on 22.16 and 22.22), which cuts text there.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether a store can keep every text in the value, keys included. The value may be of any depth; each object is examined once. */
export function hasStorableTexts(value: unknown): boolean {
  const seen = new Set<object>()
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string' && !isStorable(next)) return false
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    for (const [key, item] of Object.entries(next)) left.push(key, item)
  }
  return true
}

/** The text with U+FFFD in place of every UTF-16 unit that a store cannot keep; the length does not change, so offsets stay valid. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
