/**
 * Tables that parts of the engine declare: an aspect of entries (one row an entry, gone with it), or a lens's own state
 * (hashtag bindings, trust edges). A declaration is data; every store makes the same table from it, so a lens never
 * meets a concrete store.
 */

export type Cell = string | number | null | Uint8Array
export type Row = Readonly<Record<string, Cell>>

export interface ColumnDeclaration {
  /** snake_case. */
  readonly name: string
  readonly type: 'text' | 'integer' | 'real' | 'blob'
  readonly nullable?: boolean | undefined
  /** Of an aspect: no question may set a condition on it, for it holds what not all who see the entry may know. */
  readonly unasked?: boolean | undefined
}

export interface TableDeclaration {
  /** snake_case, unique in the store; a lens starts it with its own name. */
  readonly name: string
  readonly columns: readonly ColumnDeclaration[]
  /** Columns of the primary key, in the order rows are scanned by. */
  readonly key: readonly string[]
  /** Rows belong to the entry named by the integer column `entry` and are deleted with it. */
  readonly ofEntry?: boolean | undefined
  /** With `ofEntry` and key `['entry']`: filters may name `<aspect>.<column>`. */
  readonly aspect?: string | undefined
  /**
   * The column that names whose quota of bytes a row counts in; null: nobody's, for rows of bounded size that reading leaves
   * behind. Default: with `ofEntry` the holder of the entry, else nobody.
   */
  readonly countedFor?: string | null | undefined
  /** Its rows say nothing that anybody said, and come and go all the time: to delete them is not to forget. */
  readonly mechanical?: boolean | undefined
  /** Nothing that anybody is shown is made of its rows: to write them is no change (`Store.version`). */
  readonly aside?: boolean | undefined
  /**
   * With `ofEntry`: an entry with a row here repeats the text of the file that the column `url` names; not where that is null, or
   * `symbol` is, as of what was written by hand. A document made of the same file is shown in its place.
   */
  readonly readOf?: { readonly url: string; readonly symbol?: string } | undefined
  /** Further columns to look rows up by, each a list of columns. */
  readonly indexes?: readonly (readonly string[])[] | undefined
}

/** A table whose entries repeat the text of files. */
export type ReadingTable = TableDeclaration & { readonly readOf: NonNullable<TableDeclaration['readOf']> }

export function readingsAmong(tables: readonly TableDeclaration[]): readonly ReadingTable[] {
  return tables.filter((table): table is ReadingTable => table.readOf !== undefined)
}
