import type { Excerpt } from '../../../src/model/page.ts'

/** Text with its hits marked; `…` marks an end inside a sentence. Always as text: whatever is stored, nothing of it is read as HTML. */
export function MarkedText({ excerpt: { text, highlights, cut_start, cut_end } }: { readonly excerpt: Excerpt }) {
  const parts = []
  let at = 0
  for (const [start, end] of highlights) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <>
      {cut_start && '… '}
      {parts}
      {text.slice(at)}
      {cut_end && ' …'}
    </>
  )
}
