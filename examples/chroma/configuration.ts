/** Defaults when the store is opened, overrides in the call, and memory left aside. */
import { openExample, PYTHON } from './store.ts'

await using chroma = await openExample({
  queryConfig: {
    defaultK: 10,
    defaultMaxDistance: 50,
    defaultScoreWeights: { relevance: 0.6, recency: 0.2, strength: 0.2 },
    defaultProfile: 'default',
    includeRotten: false,
  },
})

const configured = await chroma.queryDetailed(PYTHON, { updateAccess: false })
console.log(configured.query.k, configured.query.max_distance, configured.query.score_weights)

const overridden = await chroma.queryDetailed(PYTHON, {
  k: 20,
  maxDistance: null, // no limit, whatever is configured
  scoreWeights: { relevance: 0.8, recency: 0.1, strength: 0.1 },
  updateAccess: false,
})
console.log(overridden.query.k, overridden.query.max_distance, overridden.query.score_weights)

// Each node's mode gives the weights again: Adaptive, Sparse, Spacey and Eidetic may stand in one answer.
const byMode = await chroma.queryDetailed(PYTHON, { scoreWeights: null, updateAccess: false })
console.log(byMode.query.score_weights, byMode.results[0]?.mode_name)

// Nearness alone.
const weights = { relevance: 1, recency: 0, strength: 0 }
const spatial = await chroma.query(PYTHON, { scoreWeights: weights, updateAccess: false })
console.log(spatial.every(row => row.score === row.relevance))

// Prints:
// 10 50 { relevance: 0.6, recency: 0.2, strength: 0.2 }
// 20 null { relevance: 0.8, recency: 0.1, strength: 0.1 }
// null Adaptive
// true
