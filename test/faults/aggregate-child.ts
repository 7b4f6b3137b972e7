/**
 * `node aggregate-child.ts <file> <member> <topic>…`: a process with an engine of its own on a store, which at the line `go` asks
 * a federation of each topic in turn; `asks <topic>` before, and after it `told <topic> <aggregate>` or `refused <topic> <code>`.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openAt, tellOf } from './aggregate-acts.ts'

const [, , file = '', member = '', ...topics] = process.argv
const engine = await openAt(file)
const input = createInterface({ input: process.stdin })
say('ready')
await once(input, 'line')
for (const topic of topics) {
  say(`asks ${topic}`)
  say(await tellOf(engine, member, topic))
}
say('done')
input.close()
await engine.close()

/** Synchronously, so that a line that is out tells of something that happened before. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
