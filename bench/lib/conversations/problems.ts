/** What of a public set could not be read, with its place: `locomo10.json: [3].qa[7].evidence: …`. */
export class Problems {
  readonly #file: string
  readonly #found: string[] = []

  constructor(file: string) {
    this.#file = file
  }

  add(at: string, message: string): void {
    this.#found.push(at === '' ? `${this.#file}: ${message}` : `${this.#file}: ${at}: ${message}`)
  }

  get found(): readonly string[] {
    return this.#found
  }
}

/** The value of a text, or why there is none. */
export function parsed(json: string): { readonly value: unknown } | { readonly why: string } {
  try {
    return { value: JSON.parse(json) as unknown }
  } catch (error) {
    return { why: `not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
