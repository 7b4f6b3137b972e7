/** What asking the pipeline costs (BQ-190): by what was asked alone, so that a price tells nothing of what there is. */

import type { Group } from './query.ts'

/** Results that one unit pays for. */
const RESULTS = 100
/** What more results than this are asked for costs no more: some operations have no bound of their own. */
const MAX_RESULTS = 10_000

/** What of a request its price depends on. */
export interface Priced {
  readonly limit?: number | undefined
  readonly explain?: boolean | undefined
  readonly trace?: boolean | undefined
  readonly passages?: number | undefined
  readonly group?: Group | undefined
  readonly diversity?: number | undefined
  readonly approximate?: boolean | undefined
}

/**
 * Units, 1 or more: for each started hundred of results 1, 1 more for reasons, 1 more for spread and 1 more for several passages, or for passages as results; and 1 for exact vectors.
 *
 * @example
 * costOfAsking({ limit: 1000, explain: true, diversity: 0.5, approximate: false }) // 31
 */
export function costOfAsking(asked: Priced): number {
  const { limit = 0, explain = false, trace = false, diversity = 1, passages = 1, group, approximate = true } = asked
  const ranksPassages = passages > 1 || group === 'passage'
  const hundreds = Math.max(1, Math.ceil(Math.min(limit, MAX_RESULTS) / RESULTS))
  return (
    hundreds * (1 + (explain || trace ? 1 : 0) + (diversity < 1 ? 1 : 0) + (ranksPassages ? 1 : 0)) +
    (approximate ? 0 : 1)
  )
}

/** Of a count, which ranks up to 10,000 results and makes none of them. */
export function costOfCounting(asked: Priced): number {
  return costOfAsking({ ...asked, limit: COUNTED, explain: false, trace: false, passages: 1 })
}

/** As a page of so many results. */
const COUNTED = 1_000

/** Code points that one unit pays for, beyond as many that are free. */
const TEXT = 1_000
/** Tokens of an earlier answer, whose length is not the requester's choice. */
const TOKENS: ReadonlySet<string> = new Set(['cursor', 'resume_token'])

/**
 * Units for the length of one query, 0 or more: 1 for each started 1,000 code points of its texts, at any depth, beyond the
 * first 1,000 (BQ-190, QE-019). `input` is plain JSON.
 *
 * @example
 * costOfText({ text: 'fox '.repeat(500) }) // 1
 */
export function costOfText(input: unknown): number {
  return Math.max(0, Math.ceil(codePoints(input) / TEXT) - 1)
}

/** By a list of what is still to count: input may be nested deeper than calls may be. */
function codePoints(input: unknown): number {
  let sum = 0
  const left: unknown[] = [input]
  while (left.length > 0) {
    const value = left.pop()
    // Without an array of them: a text may have a megabyte.
    if (typeof value === 'string') sum += value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
    else if (Array.isArray(value)) for (const item of value) left.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) if (!TOKENS.has(name)) left.push(item)
    }
  }
  return sum
}
