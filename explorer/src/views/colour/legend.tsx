import { count } from '../../parts/format.ts'
import { LIVES, type Life, type Outlooks } from './outlook.ts'

const MEANING: Readonly<Record<Life, string>> = {
  active: 'active: the larger, the stronger its memory',
  faded: 'faded: paler, less than half of its health is left',
  rotten: 'rotten: hollow, no longer found',
  ascended: 'ascended: gold rim, neither decays nor rots',
}

export function Legend({ counts, when }: { readonly counts: Outlooks['counts']; readonly when: string }) {
  return (
    <ul class="colour-legend" aria-label={`Nodes ${when}`}>
      {LIVES.map(life => (
        <li key={life}>
          <i class={`colour-mark colour-mark-${life}`} aria-hidden="true" />
          <strong>{count(counts[life])}</strong> {MEANING[life]}
        </li>
      ))}
      <li>
        <i class="colour-mark colour-mark-anchor" aria-hidden="true" />
        the place of a hashtag
      </li>
      <li>
        <i class="colour-mark colour-mark-question" aria-hidden="true" />
        the question, with a line to each hit
      </li>
    </ul>
  )
}
