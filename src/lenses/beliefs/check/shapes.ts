/** Checks of objects and lists, made of the checks of what they hold. */
import type { Check, Place } from './faults.ts'

/** Checks by member; what has none is refused (BQ-025). */
export type Shape = Readonly<Record<string, Check<unknown>>>

/** Members that are there and sound; absent ones are undefined. */
export type Members<S extends Shape> = { readonly [K in keyof S]?: S[K] extends Check<infer T> ? T : never }

interface ShapeOptions {
  /** Members that must be there. */
  readonly required?: readonly string[] | undefined
  /** Says the fault of an unknown member in a better way than this does, and then returns true. */
  readonly unknown?: ((name: string, at: Place) => boolean) | undefined
}

/** The members of an object, checked in the order in which they stand there. Undefined: it is no object. */
export function members<S extends Shape>(
  value: unknown,
  at: Place,
  shape: S,
  { required = [], unknown = () => false }: ShapeOptions = {},
): Members<S> | undefined {
  if (!isRecord(value)) return at.fault('type', `an object with ${listed(Object.keys(shape))}`, value)
  const found: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const check = Object.hasOwn(shape, name) ? shape[name] : undefined
    const place = at.member(name)
    if (check === undefined) {
      if (!unknown(name, place)) place.fault('unknown_field', `one of ${listed(Object.keys(shape))}`)
      continue
    }
    const sound = check(member, place)
    if (sound !== undefined) found[name] = sound
  }
  for (const name of required) {
    if (value[name] === undefined) at.member(name).fault('required', 'a value, which is missing')
  }
  // The cast: each member is what its own check gave.
  return found as Members<S>
}

/** Whether every member of the object was sound: then what it lacks, it lacks by will and not by a fault. */
export function isWhole(value: unknown, sound: Readonly<Record<string, unknown>>): boolean {
  return isRecord(value) && Object.keys(value).every(name => value[name] === undefined || Object.hasOwn(sound, name))
}

/** Every item checked; more than `most` are not looked at (BQ-191). */
export function listOf<T>(check: Check<T>, most: number, what = 'items'): Check<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return at.fault('type', 'a list', value)
    if (value.length > most) return at.fault('too_complex', `at most ${most} ${what}`, value.length)
    const items = Array.from(value, (item: unknown, index) => check(item, at.item(index)))
    const sound = items.filter(item => item !== undefined)
    return sound.length === items.length ? sound : undefined
  }
}

/** Null is a value of its own: unset. */
export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, at) => (value === null ? null : check(value, at))
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Each once, in their order. */
export function uniqueItems<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)]
}

function listed(names: readonly string[]): string {
  return names.join(', ')
}
