/**
 * An engine of a process of its own on the home that the argument names: it answers each question with what it found, and
 * with the bytes that it holds.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEngine } from '../../../src/engine/open.ts'
import { type ChatQuestion, chatRequester } from './product.ts'

export type Asked = ChatQuestion | 'held'
export type Answered = readonly string[] | number

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void
const engine = await openEngine({ home: process.argv[2] as string, embedder: 'none', background: false })
const ask = chatRequester(engine)
process.on('disconnect', () => void engine.close())
process.on('message', async (asked: Asked) => {
  const answer: Answered = asked === 'held' ? held() : (await ask(asked)).messages.map(({ id }) => id)
  process.send?.(answer)
})
process.send?.('ready')

function held(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
