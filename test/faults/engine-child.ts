/**
 * Another process with an engine: `node engine-child.ts <task> <home> [argument]`. Lines are written synchronously, so
 * that a line once out tells of something that happened before.
 */
import { openEngine } from '../../src/engine/open.ts'
import { slowEmbedder } from '../support/embedders.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { say } from './say.ts'

const [, , task, home = '', argument = ''] = process.argv

switch (task) {
  case 'ask-as-nobody':
    await askAsNobody()
    break
  case 'embed':
    await embed(Number(argument))
    break
  default:
    throw new Error(`no task ${task}`)
}

/** Opens the home for writing and for reading as a user with no rights, and says what came of it. */
async function askAsNobody(): Promise<void> {
  // Loaded while this process may still read its own source.
  await (await openEngine({ store: 'memory', embedder: 'none', background: false })).close()
  // Root may write whatever the permissions say.
  if (process.getuid?.() === 0) {
    process.setgid?.(65_534)
    process.setuid?.(65_534)
  }
  for (const readOnly of [false, true]) {
    const name = readOnly ? 'reader' : 'writer'
    try {
      const engine = await openEngine({ home, readOnly, embedder: 'none', background: false })
      const { items } = await engine.query({ text: 'fox', touch: true })
      say(`${name} found ${items.map(item => item.id)}`)
      await engine.close()
      say(`${name} closed`)
    } catch (error) {
      say(`${name} got ${(error as { code?: string }).code}`)
    }
  }
}

/** Embeds what waits, taking so many milliseconds a text, and says when it has begun and when it is done. */
async function embed(delayMs: number): Promise<void> {
  const embedder = slowEmbedder(openToyEmbedder(), delayMs, count => say(`embedded ${count}`))
  const engine = await openEngine({ home, embedder, background: false })
  say('ready')
  await engine.embedded()
  say('done')
  await engine.close()
}
