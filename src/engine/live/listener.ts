/** Who is told of one subscription. What a handler throws is counted, and holds nothing up. */
import type { LiveEvent, LiveHandlers } from '../../model/live.ts'

export class Listener {
  readonly #handlers: LiveHandlers
  #errors = 0
  #isOver = false

  constructor(handlers: LiveHandlers) {
    this.#handlers = handlers
  }

  /** How often a handler has thrown. */
  get errors(): number {
    return this.#errors
  }

  get takesTokens(): boolean {
    return this.#handlers.onToken !== undefined
  }

  /** Null: the next event would be taken at once; else resolves when that may be so. */
  wanted(): Promise<void> | null {
    return this.#handlers.wanted?.() ?? null
  }

  async hear(event: LiveEvent): Promise<void> {
    try {
      await this.#handlers.onEvent(event)
    } catch (error) {
      this.#errors += 1
      this.failed(error)
    }
  }

  token(make: () => string): void {
    this.#guarded(() => this.#handlers.onToken?.(make()))
  }

  /** Of what fails after the end nobody hears. */
  failed(error: unknown): void {
    if (!this.#isOver) this.#guarded(() => this.#handlers.onError?.(error))
  }

  ended(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    this.#isOver = true
    this.#guarded(() => this.#handlers.onEnd?.(why))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch {
      this.#errors += 1
    }
  }
}
