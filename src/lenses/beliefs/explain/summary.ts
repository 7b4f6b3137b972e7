/** The explanation of a belief's place as a paragraph. It speaks of this belief, this question and this requester alone (BQ-109). */
import { weakestDimension } from '../measures/confidence.ts'
import type { RankingWeights } from '../model.ts'
import type { TrustFound } from '../ranking/trust-found.ts'
import { trustBand } from '../trust/trust-in.ts'
import type { ExplainedBelief, ExplanationWorld } from './explained.ts'

export function summaryOf(world: ExplanationWorld, explained: ExplainedBelief): string {
  const { scored, rank, total, penalty } = explained
  const sentences = [
    `Number ${rank} of ${total} with a score of ${three(scored.final)}: ${contributions(world, explained)}.`,
    strongest(world, explained),
    `Trust: ${trustInWords(explained.trust)}.`,
    weakness(world, explained),
  ]
  if (penalty < 0) sentences.push(`Being like beliefs before it counted ${three(-penalty)} against it here.`)
  return sentences.filter(sentence => sentence !== '').join(' ')
}

const PARTS: Readonly<Record<keyof RankingWeights, string>> = {
  semantic: 'meaning',
  confidence: 'confidence',
  trust: 'trust',
  recency: 'recency',
}
const NAMES = Object.keys(PARTS) as (keyof RankingWeights)[]

function contributions({ question: { weights } }: ExplanationWorld, { scored: { parts } }: ExplainedBelief): string {
  return NAMES.filter(name => parts[name] !== null)
    .map(name => `${PARTS[name]} gives ${three(weights[name] * (parts[name] as number))}`)
    .join(', ')
}

function strongest({ question: { weights } }: ExplanationWorld, { scored: { parts, final } }: ExplainedBelief): string {
  const given = NAMES.map(name => ({ name, share: weights[name] * (parts[name] ?? 0) }))
  const most = given.reduce((best, part) => (part.share > best.share ? part : best))
  return final > 0 ? `Most of it is ${PARTS[most.name]}, ${Math.round((100 * most.share) / final)} %.` : ''
}

function trustInWords({ trust, of, isShared }: TrustFound): string {
  const { kind, value, direct, transitive } = trust
  const whom = of === 'holder' ? 'the holder' : 'the federation as a whole'
  switch (kind) {
    case 'self':
      return 'it is your own'
    case 'direct':
      if (isShared) return `you trust ${whom} yourself, ${trustBand(value)}`
      if (direct?.distrusted) return `you distrust ${whom}`
      return `you trust ${whom} yourself, at ${three(direct?.value ?? 0)} after fading`
    case 'transitive':
      return `${whom} is trusted through ${(transitive?.sources ?? 0) > 1 ? 'several' : 'one'} you trust, ${trustBand(transitive?.level ?? 0)}`
    case 'reputation':
      return `${whom} is taken by reputation`
    case 'default':
      return `${whom} counts as a stranger`
  }
}

function weakness({ question }: ExplanationWorld, { belief: { confidence } }: ExplainedBelief): string {
  const weakest = weakestDimension(confidence, question.context.confidenceWeights)
  const value = weakest === null ? null : confidence[weakest]
  if (weakest === null || value === null) return 'Nothing is known of its confidence, so the usual is assumed.'
  return value === 1 ? '' : `Its confidence is held down most by ${weakest.replaceAll('_', ' ')}, ${three(value)}.`
}

function three(value: number): string {
  return value.toFixed(3)
}
