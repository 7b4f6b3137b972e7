import type { ExplainAnswer } from '../../../../src/model/explain-answer.ts'
import type { Item } from '../../../../src/model/page.ts'
import type { QueryInput } from '../../../../src/model/query-input.ts'
import { Busy } from '../../parts/busy.tsx'
import { colourOf } from '../../parts/components.ts'
import { titleOf } from '../../parts/entry-link.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useAnswer } from '../../parts/use-answer.ts'

export interface ComparisonProps {
  readonly query: QueryInput
  readonly picked: readonly Item[]
  close(): void
}

/** Why this over that: the gap, what it is made of, and what would turn it round. Stays in sight while one picks. */
export function Comparison({ query, picked, close }: ComparisonProps) {
  const [above, below] = [...picked].sort((a, b) => a.rank - b.rank)
  const input = above && below ? { query, id: above.id, over: below.id } : null
  const { value, error, isLoading } = useAnswer<ExplainAnswer>('explain', input)
  return (
    <section class="comparison card" aria-label="Comparison" aria-live="polite">
      <header class="row">
        <h2>
          {above && (below ? `Why “${titleOf(above)}” over “${titleOf(below)}”` : `“${titleOf(above)}” is picked`)}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </header>
      {input === null && <p class="quiet">Pick another result to see why one stands over the other.</p>}
      {isLoading && <Busy what="Comparing" />}
      {error !== null && <Failure error={error} />}
      {value?.over && <Gap over={value.over} />}
      {value !== null && value.over === null && <p>{value.sentence}</p>}
    </section>
  )
}

function Gap({ over }: { readonly over: NonNullable<ExplainAnswer['over']> }) {
  const parts = Object.entries(over.by_component)
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), Number.MIN_VALUE)
  return (
    <>
      <p>{over.sentence}</p>
      <table class="comparison-parts">
        <thead>
          <tr>
            <th scope="col">Component</th>
            <th scope="col" class="number">
              Difference
            </th>
            <td />
          </tr>
        </thead>
        <tbody>
          {parts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{signed(value)}</td>
              <td class="comparison-bar" aria-hidden="true">
                <i class={value < 0 ? 'less' : ''} style={{ width: width(value, most), background: colourOf(name) }} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">gap</th>
            <td class="number">{signed(over.gap)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </>
  )
}

/** From the middle: to the right what speaks for the upper one. */
function width(value: number, most: number): string {
  return `${(Math.abs(value) / most) * 50}%`
}

function signed(value: number): string {
  if (value === 0) return '0'
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`
}
