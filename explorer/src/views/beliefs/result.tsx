import { useState } from 'preact/hooks'
import type { EffectiveWeights, RankedBelief, ScoreComponents } from '../../../../src/lenses/beliefs/model.ts'
import { ScoreBar } from '../../parts/score-bar.tsx'
import { StandingReasons } from './standing.tsx'
import { beliefAddress, contentOf, holderOf, sourceName, validity } from './words.ts'

export interface ResultProps {
  readonly ranked: RankedBelief
  readonly weights: EffectiveWeights
  readonly question: string
}

export function Result({ ranked: { belief, score, source, node }, weights, question }: ResultProps) {
  const [isOpen, setOpen] = useState(false)
  // What another node holds has no page here.
  const isHere = node === undefined
  return (
    <li class="card beliefs-result">
      <p class="text">
        {isHere ? <a href={beliefAddress([belief.id], question)}>{contentOf(belief)}</a> : contentOf(belief)}
      </p>
      <p class="quiet small">
        held by <strong>{holderOf(belief)}</strong>, {belief.visibility}, from {sourceName(source, node)}, valid{' '}
        {validity(belief)}
      </p>
      <ScoreBar score={score.final} components={given(score.components, weights)} />
      {isHere && question.trim() !== '' && (
        <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
          <summary>Why it stands here</summary>
          {isOpen && <StandingReasons id={belief.id} question={question} />}
        </details>
      )}
    </li>
  )
}

/** What each part gives to the score. */
function given(parts: ScoreComponents, weights: EffectiveWeights): Readonly<Record<string, number>> {
  return {
    meaning: (parts.semantic_similarity ?? 0) * weights.semantic,
    confidence: parts.confidence_score * weights.confidence,
    trust: parts.trust_score * weights.trust,
    recency: parts.recency_score * weights.recency,
  }
}
