/** Maps fields of foreign records to the program's own fields. */
import { QuerentError } from './errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** The program's fields, and the names that other programs' records use for them, the likeliest first. */
export type UsualNames<Field extends string> = Readonly<Record<Field, readonly string[]>>

export class FieldMap<Field extends string> {
  readonly #usual: UsualNames<Field>
  readonly #given: ReadonlyMap<Field, string>

  /** `given`: from the program's field to a field of the record, or to a path of fields joined by dots. */
  constructor(usual: UsualNames<Field>, given: ReadonlyMap<Field, string>) {
    this.#usual = usual
    this.#given = given
  }

  /** The field's value; undefined when the record has none. */
  value(record: Fields, field: Field): unknown {
    const name = this.nameIn(record, field)
    return name === null ? undefined : Object.hasOwn(record, name) ? record[name] : valueAt(record, name.split('.'))
  }

  /** The record's name for the field, or null. A field that was mapped explicitly has no other names. */
  nameIn(record: Fields, field: Field): string | null {
    return this.#given.get(field) ?? this.#usual[field].find(name => Object.hasOwn(record, name)) ?? null
  }
}

/** Error: a map names a field that does not exist. */
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
