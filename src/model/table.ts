/**
 * Declarations of tables: an aspect of entries (one row per entry, deleted with the entry), or state of a lens (such as trust between
 * agents). A declaration is data from which every store creates the table, so a lens depends on no concrete store.
 */

export type Cell = string | number | null | Uint8Array
export type Row = Readonly<Record<string, Cell>>

export interface ColumnDeclaration {
  /** Name of the column, in snake_case. */
  readonly name: string
  readonly type: 'text' | 'integer' | 'real' | 'blob'
  readonly nullable?: boolean | undefined
  /**
   * For a column of an aspect: queries must not have conditions on it, since some viewers who see the entry may not know the column's
   * value.
   */
  readonly unasked?: boolean | undefined
}

export interface TableDeclaration {
  /** Name of the table in snake_case, unique in the store; a lens's tables begin with the lens's name. */
  readonly name: string
  readonly columns: readonly ColumnDeclaration[]
  /** Columns of the primary key; rows are scanned in their order. */
  readonly key: readonly string[]
  /** Whether each row belongs to an entry, whose key is in the row's integer column `entry`; the row is deleted with that entry. */
  readonly ofEntry?: boolean | undefined
  /** Name of the aspect, if the table is one. With `ofEntry` and the key `['entry']`, filters can use `<aspect>.<column>`. */
  readonly aspect?: string | undefined
  /**
   * Column with the viewer whose byte quota is charged for a row; null: no quota is charged, for rows of bounded size that reading creates.
   * Default: with `ofEntry`, the holder of the entry is charged, else nobody.
   */
  readonly countedFor?: string | null | undefined
  /** Whether rows contain nothing that a user wrote, and are added and deleted often; then deleted rows need not be wiped from the file. */
  readonly mechanical?: boolean | undefined
  /** Whether no answer depends on the rows; then writing them does not change `Store.version`. */
  readonly aside?: boolean | undefined
  /**
   * With `ofEntry`: names of the columns with the URL of a file and, optionally, with a symbol. An entry with a row here repeats the text
   * of that file, so that a document made from the file is shown instead of the entry. Where one of these columns is null, as for an entry
   * written by hand, the entry counts as repeating no file.
   */
  readonly readOf?: { readonly url: string; readonly symbol?: string } | undefined
  /** Further lists of columns (besides the key) by which rows can be looked up through an index. */
  readonly indexes?: readonly (readonly string[])[] | undefined
}

/** A table whose entries repeat the text of files (the declaration has `readOf`). */
export type ReadingTable = TableDeclaration & { readonly readOf: NonNullable<TableDeclaration['readOf']> }
