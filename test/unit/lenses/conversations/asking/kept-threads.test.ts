/** Which conversations stay in memory. */
import { expect, it } from 'vitest'
import { KeptThreads, type Thread } from '../../../../../src/lenses/conversations/asking/kept-threads.ts'
import type { Transcript } from '../../../../../src/lenses/conversations/asking/transcript.ts'

function threadOf(...entries: readonly number[]): { readonly thread: Thread; readonly spoken: { entry: number }[] } {
  const spoken = entries.map(entry => ({ entry }))
  return { thread: new Map([[1, { spoken } as unknown as Transcript]]), spoken }
}

it('keeps the threads used last, as many as have so many messages, and knows whose a message is', () => {
  const kept = new KeptThreads(4)
  const made: string[] = []
  const use = (id: string, thread: Thread) => {
    kept.get(id, () => {
      made.push(id)
      return thread
    })
    kept.forgetOldest()
  }
  const [a, b, c] = [threadOf(1, 2), threadOf(3), threadOf(4)]
  use('a', a.thread)
  use('b', b.thread)
  use('c', c.thread)
  use('a', a.thread)
  expect(made).toEqual(['a', 'b', 'c'])
  c.spoken.push({ entry: 5 })
  kept.grown('c', c.thread)
  kept.forgetOldest()
  expect([1, 2, 3, 4, 5].map(entry => kept.threadOf(entry))).toEqual(['a', 'a', undefined, 'c', 'c'])
  use('d', threadOf(6, 7, 8, 9, 10).thread)
  expect(kept.entries().map(([id]) => id)).toEqual(['d'])
  expect(kept.threadOf(5)).toBeUndefined()
  kept.clear()
  expect(kept.threadOf(6)).toBeUndefined()
})
