/**
 * Tables that parts of the engine declare: an aspect of entries (one row per entry, deleted with it), or a lens's own state (hashtag
 * bindings, trust edges). A declaration is data; every store creates the table from it, so a lens uses no concrete store.
 */

export type Cell = string | number | null | Uint8Array
export type Row = Readonly<Record<string, Cell>>

export interface ColumnDeclaration {
  /** Name of the column, in snake_case. */
  readonly name: string
  readonly type: 'text' | 'integer' | 'real' | 'blob'
  readonly nullable?: boolean | undefined
  /** For an aspect: no query may have a condition on the column, since not everyone who sees the entry may know its values. */
  readonly unasked?: boolean | undefined
}

export interface TableDeclaration {
  /** Name of the table in snake_case, unique in the store; a lens's tables begin with the lens's name. */
  readonly name: string
  readonly columns: readonly ColumnDeclaration[]
  /** Columns of the primary key, in the order in which rows are scanned. */
  readonly key: readonly string[]
  /** Rows belong to the entry whose key is in the integer column `entry`, and are deleted with it. */
  readonly ofEntry?: boolean | undefined
  /** Name of the aspect. With `ofEntry` and key `['entry']`, filters may use `<aspect>.<column>`. */
  readonly aspect?: string | undefined
  /**
   * The column with the viewer in whose byte quota a row counts; null: it counts in none, for rows of bounded size that reading creates.
   * Default: with `ofEntry` the holder of the entry, else none.
   */
  readonly countedFor?: string | null | undefined
  /** Rows contain nothing that a user wrote, and are added and deleted all the time: deleting them needs no wiping from the file. */
  readonly mechanical?: boolean | undefined
  /** No answer depends on the rows: writing them does not change `Store.version`. */
  readonly aside?: boolean | undefined
  /**
   * With `ofEntry`: an entry with a row here repeats the text of the file named in column `url`; not where `url` or `symbol` is null, as
   * for entries written by hand. A document made from the same file is shown instead of it.
   */
  readonly readOf?: { readonly url: string; readonly symbol?: string } | undefined
  /** Further lists of columns by which rows can be looked up. */
  readonly indexes?: readonly (readonly string[])[] | undefined
}

/** A table whose entries repeat the text of files. */
export type ReadingTable = TableDeclaration & { readonly readOf: NonNullable<TableDeclaration['readOf']> }
