/**
 * Text that a store can keep. Half a surrogate pair cannot be written as UTF-8, and the character NUL cannot be read
 * back through `node:sqlite` of Node 22 (seen on 22.16 and 22.22), which cuts text there.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The text with U+FFFD in place of what a store cannot keep: one unit for one unit, so that offsets stay. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
