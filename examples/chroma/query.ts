/** Asking by hashtags: every parameter, the fields of a row, and that its numbers follow from the formulas. */
import { DAY, openExample, PYTHON, TODAY } from './store.ts'

await using chroma = await openExample()

// All that is left out is as configured: k 5, no limits, each node's own weights.
const rows = await chroma.query(PYTHON, { updateAccess: false })
for (const { label, score } of rows) console.log(score.toFixed(2), label)

const [row] = await chroma.query(PYTHON, {
  k: 10,
  maxDistance: 50,
  temporalRange: [TODAY - 30 * DAY, TODAY],
  metadataFilters: { paradigm: 'programming_languages', year: [2024, 2025] },
  includeRotten: false,
  scoreWeights: { relevance: 0.7, recency: 0.2, strength: 0.1 },
  profile: 'default',
  updateAccess: false,
})
if (row === undefined) throw new Error('nothing found')
console.log(Object.keys(row).join(' '))

const [L, a, b] = chroma.computeNodeColor(PYTHON)
const distance = Math.hypot(row.color_L - L, row.color_a - a, row.color_b - b)
const relevance = Math.exp(-distance / 20)
const recency = Math.exp(-(TODAY - row.last_accessed) / DAY / 3) // mode Adaptive: 3 days
const strength = row.strength_raw / (row.strength_raw + 5)
const score = 0.7 * relevance + 0.2 * recency + 0.1 * strength
console.log(Math.abs(row.score - score) < 1e-12)

// A query counts as use of what it shows; the row shows the state that was scored.
const [before] = await chroma.query(PYTHON, { k: 1 })
const after = before && (await chroma.getNode(before.entry_id))
console.log(before?.access_count, after?.access_count, after?.last_accessed === TODAY)

// The nearest, whatever memory says.
const nearest = await chroma.queryKnn(PYTHON, { k: 3, updateAccess: false })
console.log(nearest.map(near => near.distance.toFixed(1)).join(' '))

// Prints:
// 0.61 Python 3.13 async changes
// 0.50 Coroutines, as they were
// 0.22 Dictionary comprehension
// 0.00 What agents do with tools
// 0.00 A paper about climate change
// entry_id node_id color_L color_a color_b hashtags label content metadata created_at last_accessed strength_raw decay_health ascension rotten mode_name access_count decay_enabled state distance relevance recency strength_norm score
// true
// 0 1 true
// 0.0 0.0 108.9
