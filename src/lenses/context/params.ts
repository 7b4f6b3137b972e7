/** Reading parameters. Each reader collects what is wrong; `done` refuses with all of it at once. */
import { isRecord } from '../../base/record.ts'
import { isStorable } from '../../base/storable.ts'
import { type ErrorMap, errorAt, joined, Refusal } from './envelope.ts'

export type Params = Readonly<Record<string, unknown>>

export class ParamReader {
  readonly #params: Params
  readonly #at: readonly string[]
  #errors: ErrorMap[] = []

  /** `at` is where the parameters stand in those of the call. */
  constructor(params: Params, at: readonly string[] = []) {
    this.#params = params
    this.#at = at
  }

  get errors(): readonly ErrorMap[] {
    return this.#errors
  }

  has(field: string): boolean {
    return (this.#params[field] ?? null) !== null
  }

  /** A text that says something. */
  text(field: string): string {
    const value = this.question(field)
    return isStorable(value) ? value : this.fail(field, 'invalid', `${field} must be well-formed text`, '')
  }

  /** As `text`, of what is only looked for: any text at all. */
  question(field: string): string {
    const value = this.#params[field] ?? null
    if (value === null || (typeof value === 'string' && value.trim() === '')) {
      return this.fail(field, 'required', `${field} is required`, '')
    }
    if (typeof value !== 'string') return this.fail(field, 'invalid', `${field} must be text`, '')
    return value
  }

  optionalText(field: string): string | null {
    return this.has(field) ? this.text(field) : null
  }

  /** The id of something: a whole number from 1. */
  id(field: string): number {
    if (!this.has(field)) return this.fail(field, 'required', `${field} is required`, 0)
    const value = this.#params[field]
    const isId = Number.isSafeInteger(value) && (value as number) > 0
    return isId ? (value as number) : this.fail(field, 'invalid', `${field} must be a whole number from 1`, 0)
  }

  optionalId(field: string): number | null {
    return this.has(field) ? this.id(field) : null
  }

  /** Any finite number. */
  number(field: string, fallback: number): number {
    if (!this.has(field)) return fallback
    const value = this.#params[field]
    return Number.isFinite(value)
      ? (value as number)
      : this.fail(field, 'invalid', `${field} must be a number`, fallback)
  }

  /** Cut to a whole number, then to the range. */
  clamped(field: string, fallback: number, least: number, most: number): number {
    return Math.min(most, Math.max(least, Math.trunc(this.number(field, fallback))))
  }

  /** A number from 0. */
  weight(field: string, fallback: number): number {
    const value = this.number(field, fallback)
    return value >= 0 ? value : this.fail(field, 'invalid', `${field} must be a number of 0 or more`, fallback)
  }

  flag(field: string): boolean {
    if (!this.has(field)) return false
    const value = this.#params[field]
    return typeof value === 'boolean' ? value : this.fail(field, 'invalid', `${field} must be true or false`, false)
  }

  choice<T extends string>(field: string, choices: readonly T[], fallback: T): T {
    if (!this.has(field)) return fallback
    const found = choices.find(choice => choice === this.#params[field])
    return found ?? this.fail(field, 'invalid', `${field} must be one of: ${choices.join(', ')}`, fallback)
  }

  /** A list of objects with at least one, each read by `read` on a reader of its own. */
  list<T>(field: string, read: (item: ParamReader) => T): readonly T[] {
    if (!this.has(field)) return this.fail(field, 'required', `${field} is required`, [])
    const value = this.#params[field]
    if (!Array.isArray(value)) return this.fail(field, 'invalid', `${field} must be a list`, [])
    return value.map((item: unknown, position) => {
      const at = [...this.#at, field, String(position)]
      const reader = new ParamReader(isRecord(item) ? item : {}, at)
      const made = read(reader)
      if (!isRecord(item)) this.#errors.push(errorAt(at, 'invalid', 'an item must be an object'))
      else this.#errors.push(...reader.errors)
      return made
    })
  }

  texts(field: string): readonly string[] {
    if (!this.has(field)) return []
    const value = this.#params[field]
    const isList = Array.isArray(value) && value.every((item: unknown) => typeof item === 'string')
    return isList ? (value as string[]) : this.fail(field, 'invalid', `${field} must be a list of texts`, [])
  }

  fail<T>(field: string, code: string, message: string, instead: T): T {
    this.#errors.push(errorAt([...this.#at, field], code, message))
    return instead
  }

  /** Throws `Refusal` when anything was wrong. */
  done(): void {
    if (this.#errors.length > 0) throw new Refusal(joined(this.#errors))
  }
}
