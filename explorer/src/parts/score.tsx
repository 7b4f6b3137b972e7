/** A score in pictures: a bar of its components, and the tree of its reasons. */
import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import { score as shown } from './format.ts'
import './score-bar.css'
import './explanation-tree.css'

// The colour of each part: bars, trees and legends use the same.

const COLOURS: Readonly<Record<string, string>> = {
  words: 'var(--words)',
  meaning: 'var(--meaning)',
  memory: 'var(--memory)',
  strength: 'var(--memory)',
  recency: 'var(--memory)',
  trust: 'var(--trust)',
  confidence: 'var(--confidence)',
}

export function colourOf(component: string): string {
  return COLOURS[component] ?? 'var(--other)'
}

export interface ScoreBarProps {
  readonly score: number
  readonly components: Readonly<Record<string, number>>
  /** The longest bar beside it; default 1. */
  readonly most?: number
}

/** A score and its parts: one stretch a component, named below for those who do not see colours. */
export function ScoreBar({ score, components, most = 1 }: ScoreBarProps) {
  const parts = Object.entries(components).filter(([, value]) => value > 0)
  const sum = parts.reduce((total, [, value]) => total + value, 0)
  const width = (value: number) => `${sum > 0 ? (value / sum) * Math.min(1, Math.max(0, score) / most) * 100 : 0}%`
  return (
    <div class="score-bar">
      <strong class="score-bar-value">{shown(score)}</strong>
      <div class="score-bar-track" aria-hidden="true">
        {parts.map(([name, value]) => (
          <span key={name} style={{ width: width(value), background: colourOf(name) }} />
        ))}
      </div>
      <ul class="score-bar-parts">
        {parts.map(([name, value]) => (
          <li key={name}>
            <i aria-hidden="true" style={{ background: colourOf(name) }} />
            {name} {shown(value)}
          </li>
        ))}
      </ul>
    </div>
  )
}

const SIGNS = { sum: '= sum of', product: '= product of', quotient: '= quotient of', max: '= greatest of' } as const

/** Rounding may take or give so much when many leaves are added. */
const SLACK = 1e-9

export interface ExplanationTreeProps {
  readonly tree: Explanation
  /** What the leaves must come to: the score that is shown beside the tree. */
  readonly score?: number
}

/** Why a number is what it is, down to the facts; and the same number, made again here from these facts alone. */
export function ExplanationTree({ tree, score = tree.value }: ExplanationTreeProps) {
  const made = recompute(tree)
  const agrees = Math.abs(made - score) <= SLACK
  return (
    <div class="explanation">
      <ul class="explanation-tree">
        <Node node={tree} />
      </ul>
      <p class={agrees ? 'explanation-sum' : 'explanation-sum bad'}>
        {agrees ? '✓' : '✗'} Computed here from the leaves: <strong>{exact(made)}</strong>
        {agrees ? ', which is the score.' : `, but the score is ${exact(score)}.`}
      </p>
    </div>
  )
}

function Node({ node }: { readonly node: Explanation }) {
  const { label, value, formula, children, note } = node
  return (
    <li>
      <span class="explanation-node">
        <i aria-hidden="true" style={{ background: colourOf(label) }} />
        <span>{label}</span>
        <span class="explanation-value" title={String(value)}>
          {exact(value)}
        </span>
        {formula && <span class="quiet">{SIGNS[formula]}</span>}
        {note && <span class="explanation-note">{note}</span>}
      </span>
      {children && (
        <ul>
          {children.map((child, at) => (
            <Node key={`${at} ${child.label}`} node={child} />
          ))}
        </ul>
      )}
    </li>
  )
}

function exact(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(Math.abs(value) >= 1 ? 5 : 4)
}
