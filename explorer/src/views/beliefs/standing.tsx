import type { Explanation } from '../../../../src/model/explanation.ts'
import { leaf, node } from '../../../../src/model/explanation.ts'
import { Busy } from '../../parts/busy.tsx'
import { ExplanationTree } from '../../parts/explanation-tree.tsx'
import { Failure } from '../../parts/failure.tsx'
import { score } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { TrustReasons } from './trust-reasons.tsx'
import { type Explained, questionOf, type Standing } from './wire.ts'
import { plain } from './words.ts'

export interface StandingReasonsProps {
  readonly id: string
  readonly question: string
}

/** Why a belief stands where it does for a question, whose trust it rests on, and what would lift it. */
export function StandingReasons({ id, question }: StandingReasonsProps) {
  const { value, error } = useAnswer<Standing>('beliefs.explain', {
    belief_id: id,
    query: questionOf(question, '', 10),
  })
  if (error !== null) return <Failure error={error} />
  if (value === null) return <Busy what="Asking why" />
  const { summary, explanation, hints = [] } = value
  return (
    <div class="stack">
      <p>{summary}</p>
      {explanation !== undefined && (
        <>
          <ExplanationTree tree={treeOf(explanation)} score={explanation.final} />
          <TrustReasons of={explanation.trust} />
        </>
      )}
      {hints.length > 0 && (
        <div>
          <h3>What would lift it</h3>
          <ul>
            {hints.map(({ dimension, current, target, rank }) => (
              <li key={dimension}>
                {plain(dimension)} at {score(target)} instead of {current === null ? 'not known' : score(current)}:
                number {rank}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function treeOf({ semantic, confidence, trust, recency }: Explained): Explanation {
  const words = semantic.matched_terms
  const matched = words.length === 0 ? undefined : `says ${words.join(', ')}`
  return node('score', 'sum', [
    part('meaning', semantic, matched),
    part('confidence', confidence),
    part('trust', trust, trust.kind),
    part('recency', recency, `${Math.round(recency.age_days)} days old`),
  ])
}

function part(
  label: string,
  of: { readonly value: number | null; readonly weight: number },
  note?: string,
): Explanation {
  if (of.value === null) return leaf(label, 0, 'not asked for')
  return node(label, 'product', [leaf('value', of.value, note), leaf('weight', of.weight)])
}
