/** Whether the tables and columns that an index is declared over are what it reads. */
import { invalidArgument } from '../model/errors.ts'
import type { ColumnDeclaration, TableDeclaration } from '../model/table.ts'

/** Throws `invalid_argument`, naming the field of the declaration. */
export function checkAspect(field: string, table: TableDeclaration): void {
  if (table.ofEntry === true && table.key.join() === 'entry') return
  throw invalidArgument(field, table.name, 'a table of entries, keyed by entry')
}

/** The same of a column. */
export function checkColumn(
  field: string,
  table: TableDeclaration,
  name: string,
  type: ColumnDeclaration['type'],
): void {
  if (table.columns.find(column => column.name === name)?.type === type) return
  throw invalidArgument(field, name, `a column of type ${type} in ${table.name}`)
}
