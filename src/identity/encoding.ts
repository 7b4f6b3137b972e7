/** Bytes in texts: base64url without padding, in the one form that encoding them gives. */

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** Null unless the text encodes exactly so many bytes and is what encoding them gives: one value has one text. */
export function fromBase64Url(text: string, length: number): Uint8Array | null {
  if (text.length !== Math.ceil((length * 4) / 3)) return null
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text ? Uint8Array.from(bytes) : null
}
