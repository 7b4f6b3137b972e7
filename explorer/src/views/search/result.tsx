import { useId } from 'preact/hooks'
import type { Item } from '../../../../src/model/page.ts'
import { EntryLink, titleOf } from '../../parts/entry-link.tsx'
import { ExplanationTree } from '../../parts/explanation-tree.tsx'
import { day } from '../../parts/format.ts'
import { MarkedText } from '../../parts/marked-text.tsx'
import { ScoreBar } from '../../parts/score-bar.tsx'

export interface ResultProps {
  readonly item: Item
  /** The highest score of the answer: the longest bar. */
  readonly most: number
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly isPicked: boolean
  focused(): void
  toggle(): void
  pick(): void
}

export function Result({ item, most, isActive, isOpen, isPicked, focused, toggle, pick }: ResultProps) {
  const id = useId()
  const { rank, score, components, excerpt, why, explanation } = item
  return (
    <article
      class={isPicked ? 'result card picked' : 'result card'}
      tabIndex={isActive ? 0 : -1}
      aria-labelledby={`${id}-title`}
      onFocus={focused}
    >
      <header>
        <h2 id={`${id}-title`}>
          <span class="quiet">{rank}.</span> <EntryLink id={item.id}>{titleOf(item)}</EntryLink>
        </h2>
        <p class="result-place quiet small">{placeOf(item)}</p>
      </header>
      <p class="result-excerpt text">
        <MarkedText excerpt={excerpt} />
      </p>
      {Object.keys(components).length > 0 && <ScoreBar score={score} components={components} most={most} />}
      <footer class="row small">
        {item.tags.slice(0, 8).map(tag => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        <span class="result-tools">
          <button type="button" aria-expanded={isOpen} aria-controls={`${id}-why`} onClick={toggle}>
            Why
          </button>
          <button type="button" aria-pressed={isPicked} onClick={pick}>
            Compare
          </button>
        </span>
      </footer>
      <div id={`${id}-why`} class="result-why" hidden={!isOpen}>
        <p>{why}</p>
        {isOpen && explanation && <ExplanationTree tree={explanation} score={score} />}
        <p class="quiet small">
          id <code>{item.id}</code>, held by {item.holder}, from {item.source}, created {day(item.created_at)}, changed{' '}
          {day(item.updated_at)}
        </p>
      </div>
    </article>
  )
}

/** `docs/decay.md, lines 3 to 9 · Decay › Half life · notes · note`. */
function placeOf({ origin, excerpt: { start_line: from, end_line: to, section }, collection, kind }: Item): string {
  const lines = from === to ? `line ${from}` : `lines ${from} to ${to}`
  const place = origin === null ? lines : `${shortOrigin(origin)}, ${lines}`
  return [place, section.join(' › '), collection, kind].filter(part => part !== '').join(' · ')
}

/** Of a path the last folders: the whole one stands on the entry's page. */
function shortOrigin(origin: string): string {
  const parts = origin.replace(/^file:\/\//, '').split('/')
  return parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : origin
}
