/** Filters that every peer can say in its own way: one field, one comparison. */
import type { Fields } from './item.ts'

export interface RowFilter {
  readonly field: keyof Fields
  readonly op: 'below' | 'is'
  readonly value: number
}

export function keeps({ field, op, value }: RowFilter, fields: Fields): boolean {
  return op === 'below' ? fields[field] < value : fields[field] === value
}

/** As a condition of SQL, which half the peers speak. */
export function sqlOf({ field, op, value }: RowFilter): string {
  return `${field} ${op === 'below' ? '<' : '='} ${value}`
}
