/** A process that writes to a store until its input ends; prints a line for each acknowledged act. */
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'

const [file = '', name = ''] = process.argv.slice(2)
const store = openSqliteStore({ file, timeoutMs: 20_000 })
let ends = false
process.stdin.on('data', () => {
  ends = true
})
// Nobody listens any more.
process.stdout.on('error', () => process.exit(1))
let at = 0
const act = async (): Promise<void> => {
  at++
  // Three entries at once: a copy that holds one of them without the others is of no committed state.
  const drafts = ['a', 'b', 'c'].map(part =>
    draftOf({ id: `${name}-${at}-${part}`, content: `${name} ${at} `.repeat(40), tags: [`act${at}`] }),
  )
  await store.writeWhenFree(Date.now(), writer => {
    for (const draft of drafts) writer.put(draft, wholeChunk(draft))
  })
  process.stdout.write(`${at}\n`)
  if (!ends) setTimeout(act, 1)
  else {
    store.close()
    process.exit(0)
  }
}
await act()
