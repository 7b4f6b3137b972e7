import { DIMENSIONS } from '../../../../src/lenses/beliefs/dimensions.ts'
import type { Confidence as Vector } from '../../../../src/lenses/beliefs/model.ts'
import { dimensionName } from './words.ts'

const SIZE = 340
const CENTRE = { x: SIZE / 2, y: 120 }
const RADIUS = 82
const RINGS = [0.25, 0.5, 0.75, 1]

export interface ConfidenceProps {
  readonly of: Vector
  /** The table is left out where two stand side by side and one table has both. */
  readonly hasTable?: boolean
}

/** Six dimensions as a radar, and as a table. What is not known has no point. */
export function Confidence({ of, hasTable = true }: ConfidenceProps) {
  return (
    <div class="beliefs-confidence">
      <Radar of={of} />
      {hasTable && <Table of={of} />}
    </div>
  )
}

function Radar({ of }: { readonly of: Vector }) {
  const known = DIMENSIONS.flatMap((dimension, at) => {
    const value = of[dimension]
    return value === null ? [] : [pointAt(at, value)]
  })
  const said = DIMENSIONS.map(dimension => `${dimensionName(dimension)} ${shown(of[dimension])}`).join(', ')
  return (
    <svg class="beliefs-radar" viewBox={`0 0 ${SIZE} 240`} role="img" aria-label={`Confidence: ${said}`}>
      {RINGS.map(ring => (
        <polygon key={ring} class="beliefs-ring" points={DIMENSIONS.map((_, at) => pointAt(at, ring)).join(' ')} />
      ))}
      {DIMENSIONS.map((dimension, at) => {
        const [x = 0, y = 0] = pointAt(at, 1)
        return <line key={dimension} class="beliefs-axis" x1={CENTRE.x} y1={CENTRE.y} x2={x} y2={y} />
      })}
      <polygon class="beliefs-area" points={known.join(' ')} />
      {known.map(([x, y]) => (
        <circle key={`${x} ${y}`} class="beliefs-point" cx={x} cy={y} r={3} />
      ))}
      {DIMENSIONS.map((dimension, at) => {
        const [x = 0, y = 0] = pointAt(at, 1.16)
        const anchor = Math.abs(x - CENTRE.x) < 1 ? 'middle' : x < CENTRE.x ? 'end' : 'start'
        const [first = '', ...others] = dimensionName(dimension).split(' ')
        return (
          <text key={dimension} class="beliefs-label" x={x} y={y + shift(y)} text-anchor={anchor}>
            <tspan x={x}>{others.length === 0 || anchor === 'middle' ? dimensionName(dimension) : first}</tspan>
            {others.length > 0 && anchor !== 'middle' && (
              <tspan x={x} dy="1.1em">
                {others.join(' ')}
              </tspan>
            )}
            <tspan x={x} dy="1.1em" class="beliefs-number">
              {shown(of[dimension])}
            </tspan>
          </text>
        )
      })}
    </svg>
  )
}

function Table({ of }: { readonly of: Vector }) {
  return (
    <table class="beliefs-numbers">
      <caption class="visually-hidden">Confidence by dimension</caption>
      <tbody>
        {DIMENSIONS.map(dimension => (
          <tr key={dimension}>
            <th scope="row">{dimensionName(dimension)}</th>
            <td>{shown(of[dimension])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Above the points at the top, and with room for a line below those at the bottom. */
function shift(y: number): number {
  if (y < CENTRE.y - 50) return -10
  return y > CENTRE.y + RADIUS ? 6 : 0
}

/** Of a value from 0 to 1 on an axis; the first points up, the others follow clockwise. */
function pointAt(axis: number, value: number): readonly [x: number, y: number] {
  const angle = (axis / DIMENSIONS.length) * 2 * Math.PI - Math.PI / 2
  return [CENTRE.x + RADIUS * value * Math.cos(angle), CENTRE.y + RADIUS * value * Math.sin(angle)]
}

export function shown(value: number | null): string {
  return value === null ? 'not known' : String(Math.round(value * 1000) / 1000)
}
