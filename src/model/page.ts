/** The page of results that a requester gets: items in order, a cursor for the next page, how much was searched, and notes. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import type { Explanation } from './explanation.ts'
import type { QueryInput } from './query-input.ts'

export const explanationOutput: z.ZodType<Explanation> = z
  .strictObject({
    label: z.string().describe('What is measured'),
    value: z.number().describe('Its value: a score, or a part of a score'),
    formula: z
      .enum(['sum', 'product', 'quotient', 'max'])
      .optional()
      .describe('How the value follows from the children; absent: it is a fact'),
    get children(): z.ZodOptional<z.ZodArray<z.ZodType<Explanation>>> {
      return z.array(explanationOutput).optional().describe('What the value is made of')
    },
    note: z.string().optional().describe('A remark for readers: a unit, a source, what was matched'),
  })
  .register(z.globalRegistry, { id: 'Explanation' })

// Schema of an object with any JSON content. `z.json()` would accept the same values inside a larger schema, but would make the published
// JSON Schema recursive.
export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.json())

const excerptFields = {
  text: z.string().describe('The passage of the text that answers best'),
  start_line: z.int().describe('First line in the text, from 1'),
  end_line: z.int().describe('Last line in the text, included, from 1'),
  // Numbers of UTF-16 units at the beginning and at the end of the excerpt's text that are not in the passage's own lines, such as a
  // repeated table header or the closing line of fenced code.
  framed: z
    .tuple([z.int().min(0), z.int().min(0)])
    .optional()
    .describe(
      'How much of the text, at its beginning and its end, repeats the header of a table or opens and closes a fence',
    ),
  section: z
    .array(z.string())
    .describe(
      'Headings above the first marked word of the excerpt, or above its beginning when none is marked; outermost first',
    ),
  highlights: z
    .array(z.tuple([z.int(), z.int()]))
    .describe('Words that were found: [start, end) in the passage, in UTF-16 units from 0'),
  cut_start: z.boolean().optional().describe('It begins inside a sentence'),
  cut_end: z.boolean().optional().describe('It ends inside a sentence'),
}
const excerptOutput = z.strictObject(excerptFields)
export type Excerpt = ReadonlyDeep<z.output<typeof excerptOutput>>

/** Schema of a passage of a result: an excerpt of one chunk of its entry. */
const passageOutput = z.strictObject({
  ...excerptFields,
  // A passage's score is never higher than its result's score where all passages of the entry have vectors: the result combines the entry's
  // best score for words with its best score for meaning, which may come from different passages.
  score: z
    .number()
    .describe('Higher is better. By the same formula as the score of the result, over this passage alone'),
  explanation: explanationOutput.optional().describe('With explain: how its score was made, as a tree'),
})

export type Passage = ReadonlyDeep<z.output<typeof passageOutput>>

/** Schema of a result as every interface prints it: times are ISO 8601 in UTC, names snake_case. */
const itemOutput = z.strictObject({
  rank: z.int().describe('Place in the answer, from 1'),
  id: z.string().describe('Id of the entry'),
  holder: z.string().describe('Id of the viewer that holds the entry'),
  passage: z.int().min(1).optional().describe('Only with group passage: position of this passage in the entry, from 1'),
  collection: z.string().describe('Collection of the entry'),
  kind: z.string().describe('Kind of entry, such as note or code'),
  title: z.string().describe('Title; empty: none'),
  score: z.number().describe('Higher is better; comparable within one answer'),
  components: z.record(z.string(), z.number()).describe('Components of the score by name, such as words and meaning'),
  excerpt: excerptOutput.describe('The best passage'),
  // The list of passages begins with the best one, whose text and lines `excerpt` also has. It is empty where the entry has no text.
  passages: z.array(passageOutput).describe('The best passages, as many as requested, best first'),
  tags: z.array(z.string()).describe('Tags of the entry'),
  metadata: jsonObject.describe('Metadata that was stored with it'),
  origin: z.string().nullable().describe('Where it comes from, such as a path; null: not known'),
  created_at: z.string().describe('When it was created, ISO 8601'),
  updated_at: z.string().describe('When it was last changed, ISO 8601'),
  source: z.string().describe('Name of the store that it comes from; local is this one'),
  related_ids: z.array(z.string()).optional().describe('Ids of the entries that a lens merged into this one'),
  why: z.string().describe('Components of its score, in one line'),
  explanation: explanationOutput.optional().describe('With explain: how its score was made, as a tree'),
})

export type Item = ReadonlyDeep<z.output<typeof itemOutput>>

const coverageOutput = z.strictObject({
  // The share is 1 when the viewer can see no chunks.
  embedded: z.number().describe('Share of the visible chunks that have a vector, 0 to 1'),
  sources: z.array(z.string()).describe('Names of the stores that answered'),
  failed: z.array(z.string()).describe('Names of the stores that did not'),
  complete: z.boolean().describe('false: something was left out, as notes say'),
})

export type Coverage = ReadonlyDeep<z.output<typeof coverageOutput>>

/**
 * Schema of a note about an answer, such as that words alone were searched, that some entries have no vector yet, or that a source failed.
 */
const noteOutput = z.strictObject({
  code: z.string().describe('What it is about, in snake_case'),
  message: z.string().describe('A sentence for people'),
  details: jsonObject.optional().describe('Details for programs, such as the name of a collection'),
})
export type Note = ReadonlyDeep<z.output<typeof noteOutput>>

const verdict = z.enum(['answered', 'weak', 'nothing_relevant'])
/** Verdict on an answer. `nothing_relevant` means that nothing on the subject is stored, never that a statement is false. */
export type Verdict = z.output<typeof verdict>

const verdictBy = z.enum(['meaning', 'words'])
/** Basis of a verdict: `meaning` (with words), or `words` alone where meaning was not available. */
export type VerdictBy = z.output<typeof verdictBy>

const stageTraceOutput = z.strictObject({
  stage: z.string().describe('Name of the step, such as retrieve'),
  ms: z.number().describe('How long it took, milliseconds'),
  out: z.int().describe('Number of terms, candidates or results that it passed on'),
  detail: jsonObject.optional().describe('Further figures of this stage'),
})

export type StageTrace = ReadonlyDeep<z.output<typeof stageTraceOutput>>

const pageSchema = z
  .strictObject({
    items: z.array(itemOutput).describe('Best first'),
    cursor: z.string().nullable().describe('Cursor of the next page; null: this is the last page'),
    verdict: verdict.describe('Whether something in the store answers the query'),
    reason: z.string().nullable().describe('Why nothing is relevant; null: something is'),
    // The basis of the verdict is absent for a list by conditions, which uses neither words nor meaning, and for lenses with a verdict of
    // their own.
    verdict_by: verdictBy.optional().describe('Basis of the verdict. words: vectors were missing or too few'),
    // `nearest` has at most three items. Showing them does not count as a use of their entries.
    nearest: z
      .array(itemOutput)
      .optional()
      .describe('The nearest results if nothing is relevant; they are not answers'),
    did_you_mean: z.string().optional().describe('Spelling that was searched because the text as given found nothing'),
    lens: z.string().describe('Mode of the query'),
    mode: z
      .enum(['hybrid', 'words', 'meaning', 'list'])
      .describe('What the results were ranked by; list: not ranked by relevance'),
    as_of: z.string().describe('Time that the answer refers to, ISO 8601'),
    coverage: coverageOutput.describe('How much of the store was searched'),
    notes: z.array(noteOutput).describe('What differs from the request without being an error'),
    trace: z.array(stageTraceOutput).optional().describe('With trace: what each stage did'),
  })
  .register(z.globalRegistry, { id: 'Page' })

export type Page = ReadonlyDeep<z.output<typeof pageSchema>>
export const pageOutput: z.ZodType<Page> = pageSchema

/**
 * A chunk of a streamed answer: all chunks together have the items of a page with the same limit. Fields known at the start are in the
 * first chunk, fields known at the end in the last.
 */
export interface PageChunk extends Partial<Omit<Page, 'items' | 'trace'>> {
  readonly items: readonly Item[]
  /** Share of the work on the answer that is done, from 0 to 1; it never falls, and is 1 only in the last chunk. */
  readonly progress: number
  /** Whether this is the last chunk of the answer. */
  readonly done: boolean
}

/** A request to explain an entry's place in the answer to a query: its reasons, and why it ranks above or below another entry. */
export interface ExplainRequest {
  readonly query: QueryInput
  /** Id of the entry to explain. */
  readonly id: string
  /** Position of the passage to explain in the entry, from 1, where passages are ranked; absent: the entry's best-ranked passage. */
  readonly passage?: number | undefined
  /**
   * Id of another entry to compare with: the explanation then gives the exact difference of the scores, and the smallest change of a weight
   * that swaps both entries.
   */
  readonly over?: string | undefined
  /** Position, from 1, of the passage to compare with in the entry `over`; absent: the best-ranked passage of that entry. */
  readonly over_passage?: number | undefined
}

/** Schema of an explanation: why an entry has its rank, or which stage of the query dropped it. */

const explainSchema = z.strictObject({
  id: z.string().describe('Id of the entry'),
  passage: z.int().min(1).optional().describe('With query.group passage: its position in the entry, from 1'),
  // Rank of the entry in the whole answer, including later pages.
  rank: z.int().min(1).nullable().describe('Its rank in the answer; null: it is not in the answer'),
  score: z.number().nullable().describe('Higher is better; null: it was not scored'),
  explanation: explanationOutput.nullable().describe('How the score was made; null: it was not scored'),
  // The stage of the query that dropped the entry. `filter`, `validity`, `must`, `phrase`, `exclusion`: the entry does not meet a
  // condition. `retrieve`: no search found it. `score`: it has no evidence. `verdict`: the whole answer was refused. `diversify`: a limit
  // for groups or the demand for unlike results skipped it. `page`: it comes after this page.
  dropped: z
    .strictObject({
      stage: z.string().describe('Step of the query that left it out'),
      reason: z.string().describe('Why, in a sentence'),
    })
    .nullable()
    .describe('Why it is not in the answer; null: it is'),
  over: z
    .strictObject({
      id: z.string().describe('Id of the other entry'),
      passage: z.int().min(1).optional().describe('With query.group passage: position in the other entry, from 1'),
      rank: z.int().min(1).nullable().describe('Rank of the other entry; null: it is not in the answer'),
      // The score of an entry that is not in the answer counts as 0.
      gap: z.number().describe('Score of the first minus that of the other; above 0 if the first leads'),
      // The differences of the components add up to the difference of the scores, except for rounding.
      by_component: z.record(z.string(), z.number()).describe('The gap by component of the score'),
      swap: z
        .strictObject({
          weight: z.string().describe('Name of the weight'),
          from: z.number().min(0).describe('What it is'),
          to: z.number().min(0).describe('Value with which the two swap'),
        })
        .nullable()
        .describe('The smallest change of one weight that swaps them; null: none does'),
      sentence: z.string().describe('The comparison in words'),
    })
    .nullable()
    .describe('With over: the comparison with that entry; null: none was requested'),
  sentence: z.string().describe('The reasons in words'),
})

export type ExplainAnswer = ReadonlyDeep<z.output<typeof explainSchema>>
export type Dropped = NonNullable<ExplainAnswer['dropped']>
export type Comparison = NonNullable<ExplainAnswer['over']>
export const explainOutput: z.ZodType<ExplainAnswer> = explainSchema

/** Schema of a count: the number of results of a query on all pages together. */
const countSchema = z.strictObject({
  count: z.int().min(0).describe('Results of all pages together, 0 or more; counting stops at 10000'),
  exact: z.boolean().describe('false: there are more, or time was up'),
  verdict: verdict.describe('Verdict, as in the page of the query'),
  reason: z.string().nullable().describe('Why, if the verdict is not answered'),
  mode: z.enum(['hybrid', 'words', 'meaning', 'list']).describe('What results are ranked by'),
})

export type Count = ReadonlyDeep<z.output<typeof countSchema>>
export const countOutput: z.ZodType<Count> = countSchema
