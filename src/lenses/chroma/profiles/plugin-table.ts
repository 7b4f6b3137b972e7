/** Where the columns of plug-ins are kept: one row a value, so that columns can be added to a store that stands. */
import type { TableDeclaration } from '../../../model/table.ts'

export const PLUGIN_FIELDS: TableDeclaration = {
  name: 'chroma_plugin_fields',
  ofEntry: true,
  key: ['entry', 'name'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** The column; unique among all plug-ins. */
    { name: 'name', type: 'text' },
    /** JSON; never null: an unset column has no row. */
    { name: 'value', type: 'text' },
  ],
  indexes: [['name']],
}
