/** The texts that columns hold as numbers: ids, holders, contents and sets of domains. */
import type { VersionName } from '../record/references.ts'
import type { BeliefRow } from './belief-rows.ts'
import { Interned } from './interned.ts'

/** What one row holds of each. */
export interface TextNumbers {
  readonly id: number
  readonly holder: number
  readonly content: number
  readonly domainSet: number
}

export class ColumnTexts {
  readonly #load: number
  readonly #ids = new Interned()
  readonly #holders = new Interned()
  readonly #contents = new Interned()
  readonly #domainSets = new Interned()
  /** By number of the domain set; made when first asked for. */
  readonly #domainLists: (readonly string[] | null)[] = []

  /** `load`: how often all was read before, and numbers were given anew. */
  constructor(load: number) {
    this.#load = load
  }

  get byteLength(): number {
    const texts = [this.#ids, this.#holders, this.#contents, this.#domainSets]
    return texts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** One more than any number of each: for arrays by them. */
  get bounds(): {
    readonly ids: number
    readonly holders: number
    readonly contents: number
    readonly domainSets: number
  } {
    return {
      ids: this.#ids.length,
      holders: this.#holders.length,
      contents: this.#contents.length,
      domainSets: this.#domainSets.length,
    }
  }

  id(number: number): string {
    return this.#ids.text(number)
  }

  /** -1: no belief has this id, and none names it as a parent. */
  idNumber(id: string): number {
    return this.#ids.numberOf(id)
  }

  holder(number: number): string {
    return this.#holders.text(number)
  }

  /** -1: holds no belief, and none names one of this holder's. */
  holderNumber(holder: string): number {
    return this.#holders.numberOf(holder)
  }

  /** As long as it is the same, numbers of holders mean what they meant. */
  get holdersMark(): string {
    return `${this.#load}.${this.#holders.given}`
  }

  /** Tells contents apart: of equal ones it is equal. */
  content(number: number): string {
    return this.#contents.text(number)
  }

  /** Normalised domains, as they were written. */
  domainSet(number: number): readonly string[] {
    const known = this.#domainLists[number] ?? null
    if (known !== null) return known
    const made = JSON.parse(this.#domainSets.text(number)) as readonly string[]
    this.#domainLists[number] = made
    return made
  }

  /** Numbers of a belief's texts, each now used once more. */
  take({ id, holder, contentHash, domains }: BeliefRow): TextNumbers {
    return {
      id: this.#ids.take(id),
      holder: this.#holders.take(holder),
      content: this.#contents.take(packed(contentHash)),
      domainSet: this.#domainSets.take(domains),
    }
  }

  leave({ id, holder, content, domainSet }: TextNumbers): void {
    this.#ids.leave(id)
    this.#holders.leave(holder)
    this.#contents.leave(content)
    if (this.#domainSets.leave(domainSet)) this.#domainLists[domainSet] = null
  }

  /** In pairs: number of the holder, number of the id. */
  takeNames(names: readonly VersionName[]): Int32Array {
    return Int32Array.from(names.flatMap(({ holder, id }) => [this.#holders.take(holder), this.#ids.take(id)]))
  }

  leaveNames(pairs: Int32Array): void {
    for (const [at, number] of pairs.entries()) (at % 2 === 0 ? this.#holders : this.#ids).leave(number)
  }
}

/** A hexadecimal hash as a text of half the length. */
function packed(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1')
}
