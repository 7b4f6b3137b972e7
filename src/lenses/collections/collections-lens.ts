/**
 * The lens `collections`: one query over several named collections, answered by one list of results with scores and the collection of each.
 */
import { z } from 'zod'
import { parseInput } from '../../model/parse-input.ts'
import type { Lens } from '../lens.ts'
import { COLLECTIONS_OPERATIONS } from './operations.ts'
import { collectionsOptions } from './request.ts'
import { COLLECTIONS_STAGES } from './stages.ts'

export const settingsSchema = z.strictObject({
  collections: z
    .array(z.string().min(1))
    .optional()
    .describe('Collections for the option --collection, besides items and analysis. Default: none'),
})

export interface CollectionsSettings {
  readonly collections: readonly string[]
}

export const collectionsLens: Lens = {
  name: 'collections',
  summary: 'One query over several collections, by meaning, with a filter by days',
  syntax: 'plain',
  options: collectionsOptions,
  stages: COLLECTIONS_STAGES,
  operations: COLLECTIONS_OPERATIONS,
  settings: (given): CollectionsSettings => {
    const { collections = [] } = parseInput(settingsSchema, given ?? {}, 'lenses.collections')
    return { collections }
  },
}
