/** The parameters of `/context/query`. */
import { z } from 'zod'
import { refusal } from '../envelope.ts'
import { lengthOf } from '../names.ts'
import { clamped, flag, question, weight } from '../schemas.ts'

export const MODES = ['semantic', 'exact', 'hybrid'] as const

/**
 * Of neighbours. `breadth`: as they are reached; `weighted`: by what they were reached from; `closeness`: by a walk from all
 * anchors. `relevance`: as `closeness`, and the anchors by all that speaks for them.
 */
export const RANKS = ['breadth', 'weighted', 'closeness', 'relevance'] as const

/** Characters without which meaning says nothing. */
export const LEAST_SEMANTIC = 3

export const contextRequest = z.lazy(() =>
  z.object({
    query: question
      .transform(value => value.trim())
      .describe('What to look for: a name of the code, words, or a question in plain language'),
    depth: clamped('Links in a row from what was found to its neighbours', 1, 0, 2),
    limit: clamped('Most concepts, neighbours included', 10, 1, 50),
    mode: z
      .enum(MODES)
      .nullish()
      .transform(value => value ?? null)
      .describe(
        `semantic: by meaning, of at least ${LEAST_SEMANTIC} characters; exact: by name; hybrid: both. Default: names and their words, without scores`,
      ),
    rank: z
      .enum(RANKS)
      .nullish()
      .transform(value => value ?? 'breadth')
      .describe(
        'How neighbours are ordered. breadth: as they are reached; weighted: by what they were reached from; closeness: by a walk from all that was found; relevance: as closeness, and what was found by all that speaks for it. Default: breadth',
      ),
    snippet: z
      .enum(['head', 'passage'])
      .nullish()
      .transform(value => value ?? 'head')
      .describe('Which part of a file is shown: its beginning, or the lines of the concept. Default: head'),
    explain: flag.describe('Say how each concept was found and scored. Default: false'),
    max_tokens: weight
      .transform(value => (value === null || value === undefined ? null : Math.trunc(value)))
      .describe('Adds a bundle of texts of at most so many tokens, 0 or more. Default: no bundle'),
  }),
)
/** `mode` null: as the first version of this call had it. `max_tokens` null: no bundle is packed. */
export type ContextRequest = Readonly<z.output<typeof contextRequest>>

/** Throws `Refusal` for what is too short to mean anything. */
export function requireMeaning({ mode, query }: ContextRequest): void {
  if (mode === 'semantic' && lengthOf(query) < LEAST_SEMANTIC) {
    throw refusal('query', 'too_short', `semantic search requires query length >= ${LEAST_SEMANTIC}`)
  }
}
