/** Maps field names of records from other programs to this program's field names. */
import { QuerentError } from './errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** For each of this program's fields, the names under which other programs' records have it, the likeliest first. */
export type UsualNames<Field extends string> = Readonly<Record<Field, readonly string[]>>

export class FieldMap<Field extends string> {
  readonly #usual: UsualNames<Field>
  readonly #given: ReadonlyMap<Field, string>

  /** `given`: for a program field, the name of the record's field that the caller names for it, or a path of names joined by dots. */
  constructor(usual: UsualNames<Field>, given: ReadonlyMap<Field, string>) {
    this.#usual = usual
    this.#given = given
  }

  /** Value of a program field in a record; undefined when the record does not have it. */
  value(record: Fields, field: Field): unknown {
    const name = this.nameIn(record, field)
    return name === null ? undefined : Object.hasOwn(record, name) ? record[name] : valueAt(record, name.split('.'))
  }

  /**
   * The name under which the record has a program field, or null. For a field that the caller mapped, only the name given by the caller is
   * used.
   */
  nameIn(record: Fields, field: Field): string | null {
    return this.#given.get(field) ?? this.#usual[field].find(name => Object.hasOwn(record, name)) ?? null
  }
}

/** Error: the caller's map of fields names a field that this program does not have. */
export function unknownMapField(field: string, known: readonly string[]): QuerentError {
  return new QuerentError('unknown_field', `map: there is no field ${field}; known are ${known.join(', ')}`, {
    field: `map.${field}`,
    known: [...known],
  })
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Fields)[key]
  }
  return value
}
