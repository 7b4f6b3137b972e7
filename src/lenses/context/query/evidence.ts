/**
 * What speaks for an anchor: its name, path, doc comment, code and passages by words, its vector by meaning. How the
 * numbers were chosen, and what they are worth: docs/decisions/024.
 */
import { z } from 'zod'
import type { Concept } from '../concepts.ts'

/** What each part gives to the relevance of a concept; they add up to `total`. */
export const evidence = z.lazy(() =>
  z.strictObject({
    total: z.number().min(0).describe('Sum of the parts; rounded parts may add up to a little more or less'),
    name: z.number().min(0).max(1).describe('Words of the query in its name'),
    path: z.number().min(0).max(1).describe('Words of the query in the path of its file'),
    doc: z.number().min(0).max(1).describe('Words of the query in its doc comment'),
    text: z.number().min(0).max(1).describe('Words of the query in its code'),
    passage: z.number().min(0).max(1).describe('Words of the query in one passage of its file'),
    meaning: z.number().min(0).max(1).describe('Nearness of its vector to that of the query'),
  }),
)
export type Evidence = Readonly<z.infer<typeof evidence>>

/** Each 0 to 1, meaning as a cosine. */
export type Shares = Omit<Evidence, 'total'>

/** As in the pipeline: what meaning counts for, and the parts in words together. */
const MEANING = 0.7
const WORDS = 0.3
const WORD_PARTS = 5
/** What a concept that is a whole file keeps: what stands in the file says more, and the file is told anyway. */
const WHOLE_FILE = 0.8
const WHOLE_FILES: ReadonlySet<string> = new Set(['Module', 'Document', 'Package'])

/** Without meaning, words are all there is. */
export function weighed({ type }: Concept, shares: Shares, hasMeaning: boolean): Evidence {
  const factor = WHOLE_FILES.has(type) ? WHOLE_FILE : 1
  const ofWords = (factor * (hasMeaning ? WORDS : 1)) / WORD_PARTS
  const name = ofWords * shares.name
  const path = ofWords * shares.path
  const doc = ofWords * shares.doc
  const text = ofWords * shares.text
  const passage = ofWords * shares.passage
  const meaning = factor * MEANING * Math.max(0, shares.meaning)
  return { total: name + path + doc + text + passage + meaning, name, path, doc, text, passage, meaning }
}
