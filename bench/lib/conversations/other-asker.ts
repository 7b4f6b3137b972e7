/** An engine of a process of its own on the home that the argument names: it answers each question with what it found. */
import { openEngine } from '../../../src/engine/open.ts'
import { type ChatQuestion, chatAsker } from './product.ts'

const engine = await openEngine({ home: process.argv[2] as string, embedder: 'none', background: false })
const ask = chatAsker(engine)
process.on('disconnect', () => void engine.close())
process.on('message', async question => {
  const { messages } = await ask(question as ChatQuestion)
  process.send?.(messages.map(({ id }) => id))
})
process.send?.('ready')
