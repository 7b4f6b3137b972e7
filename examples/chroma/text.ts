/** Asking in words, through the built-in profile: hashtags, a time, a count. */
import { openExample } from './store.ts'

await using chroma = await openExample()

for (const text of [
  'recent Python async entries',
  'find code snippets about dictionary comprehension',
  'documents from last month about climate change',
  'top 2 python entries from 2025',
]) {
  const { query, results } = await chroma.queryDetailed(text, { updateAccess: false })
  const range = query.temporal_range?.map(seconds => new Date(seconds * 1000).toISOString().slice(0, 10)) ?? ['ever']
  console.log(`${text} (${range.join(' to ')}, k ${query.k}): ${results[0]?.label}`)
}

// Prints:
// recent Python async entries (2025-12-14 to 2025-12-21, k 5): Python 3.13 async changes
// find code snippets about dictionary comprehension (ever, k 5): Dictionary comprehension
// documents from last month about climate change (2025-11-01 to 2025-11-30, k 5): A paper about climate change
// top 2 python entries from 2025 (2025-01-01 to 2025-12-31, k 2): Python 3.13 async changes
