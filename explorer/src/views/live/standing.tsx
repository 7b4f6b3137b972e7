import type { Item } from '../../../../src/model/page.ts'
import { EntryLink, titleOf } from '../../parts/entry-link.tsx'
import { counted } from '../../parts/format.ts'
import { MarkedText } from '../../parts/marked-text.tsx'
import { ScoreBar } from '../../parts/score-bar.tsx'

/** The answer as it is now. */
export function Standing({ items, isBegun }: { readonly items: readonly Item[]; readonly isBegun: boolean }) {
  const most = Math.max(...items.map(({ score }) => score), 0)
  return (
    <section aria-label="The answer now">
      <h2>The answer now: {counted(items.length, 'entry', 'entries')}</h2>
      {items.length === 0 && isBegun && <p class="quiet">Nothing is in it. What comes in is told.</p>}
      <ol class="live-items">
        {items.map(item => (
          <li key={`${item.holder} ${item.id}`} class="card">
            <h3>
              <EntryLink id={item.id}>{titleOf(item)}</EntryLink>
            </h3>
            <p class="text live-excerpt">
              <MarkedText excerpt={item.excerpt} />
            </p>
            <ScoreBar score={item.score} components={item.components} most={most > 0 ? most : 1} />
          </li>
        ))}
      </ol>
    </section>
  )
}
