/** Many queries at once, and their use written together. */
import { openExample, PYTHON } from './store.ts'

await using chroma = await openExample({ accessUpdates: 'queued' })

const answers = await chroma.batchQuery([
  { hashtags: PYTHON, k: 1 },
  { hashtags: PYTHON, k: 2 },
  { input: 'agents with tools', k: 1 },
])
for (const rows of answers) console.log(rows.map(row => row.label).join(', '))

// All were scored against one state; the uses wait for 100 of them, a second, or this.
const [first] = answers[0] ?? []
if (first === undefined) throw new Error('nothing found')
console.log('before flush', (await chroma.getNode(first.entry_id))?.access_count)
await chroma.flush()
console.log('after flush', (await chroma.getNode(first.entry_id))?.access_count)

// Prints:
// Python 3.13 async changes
// Python 3.13 async changes, Coroutines, as they were
// What agents do with tools
// before flush 0
// after flush 2
