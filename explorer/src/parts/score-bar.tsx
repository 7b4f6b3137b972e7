import { colourOf } from './components.ts'
import { score as shown } from './format.ts'
import './score-bar.css'

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
