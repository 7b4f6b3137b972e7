/** What can go wrong, and what to do then. */
import { ConfigurationError, DatabaseError, QueryProfileError, ValidationError } from '../../src/index.ts'
import { openExample, PYTHON } from './store.ts'

await using chroma = await openExample()

// Too few hashtags: those that the content names fill the set up.
try {
  await chroma.query(['#python'])
} catch (error) {
  if (!(error instanceof ValidationError)) throw error
  console.log(error.code, error.details['violations'])
  const content = 'Async Python 3.13 (v3.13): asyncio, typing, dataclass, enum and protocol.'
  const suggestions = chroma.suggestHashtags(content)
  const rows = await chroma.query(['#python', ...suggestions], { k: 1 })
  console.log(suggestions.length, 'suggested:', rows[0]?.label)
}

// Nothing near enough is an empty answer, which says how near the nearest is.
const far = ['#security', '#oauth', '#tls', '#jwt', '#acl', '#audit', '#secrets', '#draft']
const { results, warnings } = await chroma.queryDetailed(far, { maxDistance: 1 })
console.log(results.length, warnings[0]?.code)
console.log((await chroma.query(far, { maxDistance: null, k: 1 })).length)

// A text that its profile cannot read: the built-in one reads any.
const text = ' | python async | latest'
try {
  await chroma.query(text, { profile: 'knowledge_patch' })
} catch (error) {
  if (!(error instanceof QueryProfileError)) throw error
  console.log(error.message)
  console.log((await chroma.query(text, { profile: 'default', k: 1 }))[0]?.label)
}
const fallen = await chroma.queryDetailed(text, { profile: 'knowledge_patch', fallbackToDefault: true, k: 1 })
console.log(fallen.warnings[0]?.code)

// A busy database is tried five times before this is thrown; there is no need for a loop of one's own.
try {
  await chroma.query(PYTHON)
} catch (error) {
  if (!(error instanceof DatabaseError) || !error.retryable) throw error
  console.log('somebody has been writing for most of a second: ask later')
}

await openExample({ queryConfig: { defaultK: 0 } }).catch(error => {
  if (!(error instanceof ConfigurationError)) throw error
  console.log(error.message)
})

// Prints:
// invalid_hashtags [ 'outer', 'total', 'mid' ]
// 9 suggested: Python 3.13 async changes
// 0 no_results_within_distance
// 1
// knowledge_patch: paradigm: expected a paradigm in the first field, got ""
// Python 3.13 async changes
// profile_fallback
// queryConfig.defaultK: expected an integer of at least 1, got 0
