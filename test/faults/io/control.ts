/** The calls that the shim must fail and those that it counted, in a file that it has mapped into memory (`struct control`). */
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'

/** In the order of `enum kind`. */
export const CALL_KINDS = ['read', 'write', 'sync', 'truncate', 'open', 'rename', 'unlink', 'mkdir', 'map'] as const
export type CallKind = (typeof CALL_KINDS)[number]

export interface Plan {
  readonly kind: CallKind
  /** From 1: the first call of the kind that fails. */
  readonly nth: number
  /** Only that call, or every one from there on. */
  readonly often: 'once' | 'from then on'
  /** `half`: the call transfers half of what it was asked for, and those that fail after it fail with ENOSPC. */
  readonly error: 'EIO' | 'ENOSPC' | 'EMFILE' | 'EACCES' | 'ENOMEM' | 'half'
}

export interface Reported {
  /** Calls of the kind that was to fail. */
  readonly counted: number
  readonly failed: number
  /** The call that failed first and its path; empty when none did. */
  readonly first: string
  /** Calls since the plan was made, whether they were to fail or not. */
  readonly calls: Readonly<Record<CallKind, number>>
}

/** Places of the numbers, 64 bits each. */
const [KINDS, NTH, FAILURES, ERROR, HOW, COUNTED, FAILED, BY_KIND] = [0, 1, 2, 3, 4, 5, 6, 7]
const NUMBERS = BY_KIND + CALL_KINDS.length
const TEXT_BYTES = 240
const FOR_EVER = 2n ** 40n

export class Control implements Disposable {
  readonly #file: number

  /** Made before the process with the shim starts; not below the folder that is watched. */
  static make(path: string): string {
    writeFileSync(path, Buffer.alloc(8 * NUMBERS + TEXT_BYTES))
    return path
  }

  constructor(path: string) {
    this.#file = openSync(path, 'r+')
  }

  /** Counts begin again. */
  arm({ kind, nth, often, error }: Plan): void {
    const numbers = new BigInt64Array(NUMBERS)
    numbers[KINDS] = 1n << BigInt(CALL_KINDS.indexOf(kind))
    numbers[NTH] = BigInt(nth)
    numbers[FAILURES] = often === 'once' ? 1n : FOR_EVER
    numbers[ERROR] = BigInt(constants.errno[error === 'half' ? 'ENOSPC' : error])
    numbers[HOW] = error === 'half' ? 1n : 0n
    writeSync(this.#file, Buffer.concat([Buffer.from(numbers.buffer), Buffer.alloc(TEXT_BYTES)]), 0, undefined, 0)
  }

  /** Nothing fails nor counts while the body runs. */
  async paused<T>(body: () => Promise<T>): Promise<T> {
    const kinds = this.#numbers()[KINDS] as bigint
    this.#setKinds(0n)
    try {
      return await body()
    } finally {
      this.#setKinds(kinds)
    }
  }

  /** Nothing fails any more; the counts stay. */
  disarm(): void {
    this.#setKinds(0n)
  }

  reported(): Reported {
    const numbers = this.#numbers()
    const text = Buffer.alloc(TEXT_BYTES)
    readSync(this.#file, text, 0, TEXT_BYTES, 8 * NUMBERS)
    const calls = CALL_KINDS.map((kind, at) => [kind, Number(numbers[BY_KIND + at])])
    return {
      counted: Number(numbers[COUNTED]),
      failed: Number(numbers[FAILED]),
      first: text.subarray(0, text.indexOf(0)).toString(),
      calls: Object.fromEntries(calls) as Record<CallKind, number>,
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #setKinds(kinds: bigint): void {
    writeSync(this.#file, Buffer.from(BigInt64Array.of(kinds).buffer), 0, undefined, 8 * KINDS)
  }

  #numbers(): BigInt64Array {
    const bytes = new Uint8Array(8 * NUMBERS)
    readSync(this.#file, bytes, 0, bytes.length, 0)
    return new BigInt64Array(bytes.buffer)
  }
}
