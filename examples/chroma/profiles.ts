/** A query profile of one's own: what a text means, what is added to a score, what becomes of the rows. */
import {
  type EffectiveQuery,
  type ParseContext,
  type PostContext,
  type QueryParams,
  QueryProfile,
  type ResultRow,
} from '../../src/index.ts'
import { openExample, PYTHON } from './store.ts'

class NewestYear extends QueryProfile {
  override parseInput(text: string, context: ParseContext): QueryParams {
    return { hashtags: context.tagsIn(text), k: 3, state: { asked: text } }
  }

  /** From 0 to 1; makes up three tenths of the score. */
  override customScoring(entry: ResultRow, _query: EffectiveQuery): number {
    return (entry.metadata as { year?: number } | null)?.year === 2025 ? 1 : 0
  }

  override postProcess(rows: ResultRow[], { state }: PostContext): readonly ResultRow[] {
    const { asked } = state as { asked: string }
    return rows.filter(row => row.score > 0.5).map(row => ({ ...row, asked }))
  }
}

await using chroma = await openExample()
chroma.registerQueryProfile('newest_year', new NewestYear())
const options = { profile: 'newest_year', updateAccess: false }

for (const row of await chroma.query('python async', options)) console.log(row.label, '<-', row['asked'])

// A list of hashtags needs no parsing; scores and rows are the profile's all the same.
const direct = await chroma.query(PYTHON, { updateAccess: false })
chroma.setDefaultQueryProfile('newest_year')
const scored = await chroma.query(PYTHON, { updateAccess: false, profile: 'default' })
console.log(direct[0]?.score === scored[0]?.score, 'default is still the built-in profile')
const byDefault = await chroma.query('python async', { updateAccess: false })
console.log(byDefault.length, 'row of the profile that is now the default')

// Prints:
// Python 3.13 async changes <- python async
// true default is still the built-in profile
// 1 row of the profile that is now the default
