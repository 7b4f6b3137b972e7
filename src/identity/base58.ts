/** Base58 with Bitcoin's alphabet, as multibase names it `z`: digits and letters without 0, O, I and l. */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((character, digit) => [character, digit]))

export function toBase58(bytes: Uint8Array): string {
  const zeros = leading(bytes, 0)
  const digits = convert(bytes.subarray(zeros), 256, 58)
  return '1'.repeat(zeros) + digits.map(digit => ALPHABET[digit]).join('')
}

/** Null when a character is none of the alphabet's. Every text that is accepted is the only one for its bytes. */
export function fromBase58(text: string): Uint8Array | null {
  const digits: number[] = []
  for (const character of text) {
    const digit = DIGITS.get(character)
    if (digit === undefined) return null
    digits.push(digit)
  }
  const zeros = leading(digits, 0)
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...convert(digits.slice(zeros), 58, 256)])
}

/** A number without leading zeros from one base in another, most significant digit first. Quadratic: for keys. */
function convert(digits: Iterable<number>, from: number, to: number): number[] {
  const result: number[] = []
  for (const digit of digits) {
    let carry = digit
    for (let at = 0; at < result.length; at++) {
      carry += (result[at] as number) * from
      result[at] = carry % to
      carry = Math.floor(carry / to)
    }
    for (; carry > 0; carry = Math.floor(carry / to)) result.push(carry % to)
  }
  return result.reverse()
}

function leading(digits: ArrayLike<number>, value: number): number {
  let count = 0
  while (count < digits.length && digits[count] === value) count++
  return count
}
