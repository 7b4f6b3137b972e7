import type { Excerpt } from '../../../src/model/page.ts'

/** Text with its hits marked. Always as text: whatever is stored, nothing of it is read as HTML. */
export function MarkedText({ excerpt: { text, highlights } }: { readonly excerpt: Excerpt }) {
  const parts = []
  let at = 0
  for (const [start, end] of highlights) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  )
}
