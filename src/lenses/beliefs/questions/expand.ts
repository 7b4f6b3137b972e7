/**
 * More about a belief that a context holds (BQ-176): what it rests on, what opposes it, what is like it; so many
 * tokens at most.
 */
import { countTokens, TOKEN_COUNTER } from '../../../text/count-tokens.ts'
import { type ShowView, sourceOfSeen } from '../access/show.ts'
import { listed } from '../answer/show-page.ts'
import { noSuchBelief } from '../errors.ts'
import type { DerivationChain } from '../model.ts'
import { detectorOf } from '../opposition/installed.ts'
import type { Call } from '../query/asked.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { derivationChain } from '../record/derivation.ts'
import { versionOfId } from '../record/read.ts'
import type { expandAnswer } from '../schema/answers.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import { type CheckedExpand, EXPANSION_DEPTH, type Expansion } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { askAbout, contradicting, type Subject, similarIn } from './about-belief.ts'

/** What a belief was derived from (BQ-089, BQ-090), asked for by its id. */
export async function derivationOf(
  state: BeliefsState,
  { beliefId, maxDepth }: { readonly beliefId: string; readonly maxDepth: number },
  { requester, signal, machineTime }: Call,
): Promise<DerivationChain> {
  await state.load(signal)
  const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
  const body = (view: ShowView): DerivationChain => {
    const seen = versionOfId(view, beliefId, true)
    if (seen === undefined || sourceOfSeen(view, seen) === null) throw noSuchBelief('belief_id')
    return derivationChain(view, seen.version, maxDepth, () => time.check())
  }
  return state.look(requester, body, time)
}

/** What may be added: its text is what is counted. */
interface Addition<T> {
  readonly text: string
  readonly shown: T
}

type Shown<E extends Expansion> = Omit<NonNullable<Value<typeof expandAnswer>[E]>[number], 'tokens'>

const MAX_SIMILAR = 20

/** In the order asked for, nearest first; what does not fit is passed over. */
export function expandBelief(
  state: BeliefsState,
  asking: CheckedExpand,
  call: Call,
): Promise<Value<typeof expandAnswer>> {
  return askAbout(state, { ...asking, filters: [] }, call, (evaluation, subject, warnings) => {
    let left = asking.maxAdditionalTokens
    let isTruncated = false
    const taken = <T>(additions: readonly Addition<T>[]) =>
      additions.flatMap(({ text, shown }) => {
        const tokens = countTokens(text, left)
        if (tokens > left) {
          isTruncated = true
          return []
        }
        left -= tokens
        return [{ ...shown, tokens }]
      })
    const expanded: Partial<Pick<Value<typeof expandAnswer>, Expansion>> = Object.assign(
      {},
      ...asking.include.map(what => ({ [what]: taken<Shown<Expansion>>(ADDITIONS[what](evaluation, subject)) })),
    )
    return {
      belief_id: asking.beliefId,
      ...expanded,
      additional_tokens: asking.maxAdditionalTokens - left,
      max_additional_tokens: asking.maxAdditionalTokens,
      truncated: isTruncated,
      token_counter: { name: TOKEN_COUNTER, counts: 'content', exact: false },
      warnings,
    }
  })
}

const ADDITIONS: {
  readonly [E in Expansion]: (evaluation: Evaluation, subject: Subject) => readonly Addition<Shown<E>>[]
} = {
  derivation: ({ view }, { seen }) =>
    derivationChain(view, seen.version, EXPANSION_DEPTH, () => view.time?.check())
      .chain.slice(1)
      .map(link => ({ text: link.content_preview, shown: link })),
  contradictions: (evaluation, subject) =>
    contradicting(evaluation, subject, detectorOf(evaluation.state.host)).map(({ ranked, opposition }) => ({
      text: ranked.belief.content,
      shown: { ...ranked, contradiction: { ...opposition } },
    })),
  similar: (evaluation, subject) => {
    const found = similarIn(evaluation, subject, { minSimilarity: 0.7, includeSameHolder: true })
    return listed(evaluation, found.slice(0, MAX_SIMILAR)).map(ranked => ({
      text: ranked.belief.content,
      shown: ranked,
    }))
  },
}
