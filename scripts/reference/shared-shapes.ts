/** Inputs that many operations have in common, and where the page shows each once. */
import { type Catalog, findOperation, jsonSchema } from '../../src/ops/catalog.ts'
import type { Shapes } from './fields.ts'
import { anchor } from './markdown.ts'
import { type Schema, shapeOf } from './schema-text.ts'

/** Of whatever lists or asks the engine itself. */
export function filterSchema(catalog: Catalog): Schema {
  return fieldOf(catalog, 'list', 'filter')
}

export function shapesOf(catalog: Catalog): Shapes {
  return new Map([
    [shapeOf(filterSchema(catalog)), '[Filter](#filter)'],
    ...['explain', 'beliefs.explain'].map(name => {
      const asked = name.replace('explain', 'query')
      return [shapeOf(fieldOf(catalog, name, 'query')), `object, as [${asked}](#${anchor(asked)}) takes it`] as const
    }),
  ])
}

function fieldOf(catalog: Catalog, operation: string, name: string): Schema {
  const input = jsonSchema(findOperation(catalog, operation).input, 'input')
  const of = (input['properties'] as Readonly<Record<string, Schema>> | undefined)?.[name]
  if (of === undefined) throw new Error(`${operation} has no field ${name} any more`)
  return of
}
