/** Signs texts that leave the engine and come back, so that only our own are taken. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** HMAC-SHA-256 of the text, base64url, 43 characters. */
export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

/** Takes as long for a near miss as for a far one. */
export function isSigned(secret: string, text: string, signature: string): boolean {
  const expected = Buffer.from(sign(secret, text))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
