/** The lens `collections`: one question over named collections, answered as a list with scores and sources. */
import { z } from 'zod'
import { parseInput } from '../../model/parse-input.ts'
import type { Lens } from '../lens.ts'
import { COLLECTIONS_OPERATIONS } from './operations.ts'

const settingsSchema = z.strictObject({
  /** Beside `items` and `analysis`: names that the command takes for --collection. */
  collections: z.array(z.string().min(1)).optional(),
})

export interface CollectionsSettings {
  readonly collections: readonly string[]
}

export const collectionsLens: Lens = {
  name: 'collections',
  summary: 'One question over several collections, by meaning, with a day filter',
  operations: COLLECTIONS_OPERATIONS,
  settings: (given): CollectionsSettings => {
    const { collections = [] } = parseInput(settingsSchema, given ?? {}, 'lenses.collections')
    return { collections }
  },
}
