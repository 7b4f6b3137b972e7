import { useState } from 'preact/hooks'
import { count } from '../../parts/format.ts'

/** What is shown at once: a browser takes seconds for the longest entries. */
const SHOWN = 100_000

/** The text of an entry, as text: whatever it holds, nothing of it is run or followed. */
export function Content({ text, isCode }: { readonly text: string; readonly isCode: boolean }) {
  const [shown, setShown] = useState(SHOWN)
  return (
    <section class="content card" aria-label="Content">
      <pre class={isCode ? 'text' : 'text content-prose'}>{text.slice(0, shown)}</pre>
      {text.length > shown && (
        <button type="button" onClick={() => setShown(shown + SHOWN)}>
          Show more of its {count(text.length)} characters
        </button>
      )}
    </section>
  )
}
