/** Texts as small numbers, counted, so that the number of a text that nobody uses any more is given to another. */

/** Of a string in V8 with one byte a character, and of its place in a map. */
const BYTES_EACH = 24 + 48

export class Interned {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []
  #characters = 0
  #given = 0

  /** One more than the highest number given. */
  get length(): number {
    return this.#texts.length
  }

  get size(): number {
    return this.#numbers.size
  }

  /** How often a number was given to a text: as long as that does not change, numbers mean what they meant. */
  get given(): number {
    return this.#given
  }

  get byteLength(): number {
    return this.#characters + this.#numbers.size * BYTES_EACH + this.#texts.length * 16
  }

  /** The number of a text, now used once more. */
  take(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) {
      this.#uses[known] = (this.#uses[known] as number) + 1
      return known
    }
    const number = this.#free.pop() ?? this.#texts.length
    this.#texts[number] = text
    this.#uses[number] = 1
    this.#numbers.set(text, number)
    this.#given++
    this.#characters += text.length
    return number
  }

  /** One use less; true when that was the last. */
  leave(number: number): boolean {
    const uses = (this.#uses[number] as number) - 1
    this.#uses[number] = uses
    if (uses > 0) return false
    const text = this.#texts[number] as string
    this.#numbers.delete(text)
    this.#characters -= text.length
    this.#free.push(number)
    return true
  }

  /** -1: nobody uses it. */
  numberOf(text: string): number {
    return this.#numbers.get(text) ?? -1
  }

  /** Of a number in use; of one that is not, what it meant last: see `given`. */
  text(number: number): string {
    return this.#texts[number] as string
  }
}
