import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import { colourOf } from './components.ts'
import './explanation-tree.css'

const SIGNS = { sum: '= sum of', product: '= product of', quotient: '= quotient of', max: '= greatest of' } as const

/** Rounding may take or give so much when many leaves are added. */
const SLACK = 1e-9

export interface ExplanationTreeProps {
  readonly tree: Explanation
  /** What the leaves must come to: the score beside which the tree stands. */
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
