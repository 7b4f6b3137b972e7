/** More about a belief that a context holds (BQ-176): what it rests on, what opposes it, what is like it; so many tokens at most. */
import type { JsonObject } from '../../../base/canonical.ts'
import { countTokens, TOKEN_COUNTER } from '../../../text/count-tokens.ts'
import { listed } from '../answer/listed.ts'
import { type CheckedExpand, EXPANSION_DEPTH, type Expansion } from '../check/questions.ts'
import { detectorOf } from '../opposition/installed.ts'
import type { Call } from '../query/call.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { derivationChain } from '../record/chain.ts'
import type { BeliefsState } from '../state.ts'
import { askAbout, type Subject } from './about-belief.ts'
import { contradicting } from './contradictions.ts'
import { similarIn } from './similar.ts'

/** What may be added: its text is what is counted. */
interface Addition {
  readonly text: string
  readonly shown: JsonObject
}

const MOST_SIMILAR = 20

/** In the order asked for, nearest first; what does not fit is passed over. */
export function expandBelief(state: BeliefsState, asking: CheckedExpand, call: Call): Promise<JsonObject> {
  return askAbout(state, { ...asking, filters: [] }, call, (evaluation, subject, warnings) => {
    let left = asking.maxAdditionalTokens
    let isTruncated = false
    const expanded: Partial<Record<Expansion, JsonObject[]>> = {}
    for (const what of asking.include) {
      const taken: JsonObject[] = []
      for (const { text, shown } of ADDITIONS[what](evaluation, subject)) {
        const tokens = countTokens(text, left)
        if (tokens > left) {
          isTruncated = true
          continue
        }
        left -= tokens
        taken.push({ ...shown, tokens })
      }
      expanded[what] = taken
    }
    return {
      belief_id: asking.beliefId,
      ...expanded,
      additional_tokens: asking.maxAdditionalTokens - left,
      max_additional_tokens: asking.maxAdditionalTokens,
      truncated: isTruncated,
      token_counter: { name: TOKEN_COUNTER, counts: 'content', exact: false },
      warnings: warnings.map(warning => ({ ...warning })),
    } as unknown as JsonObject
  })
}

const ADDITIONS: Readonly<Record<Expansion, (evaluation: Evaluation, subject: Subject) => readonly Addition[]>> = {
  derivation: ({ view }, { seen }) =>
    derivationChain(view, seen.version, EXPANSION_DEPTH, () => view.time?.check())
      .chain.slice(1)
      .map(link => ({ text: link.content_preview, shown: { ...link } })),
  contradictions: (evaluation, subject) =>
    contradicting(evaluation, subject, detectorOf(evaluation.state.host)).map(({ ranked, opposition }) => ({
      text: ranked.belief.content,
      shown: { ...ranked, contradiction: { ...opposition } } as unknown as JsonObject,
    })),
  similar: (evaluation, subject) => {
    const found = similarIn(evaluation, subject, { minSimilarity: 0.7, includeSameHolder: true })
    return listed(evaluation, found.slice(0, MOST_SIMILAR)).map(ranked => ({
      text: ranked.belief.content,
      shown: ranked as unknown as JsonObject,
    }))
  },
}
