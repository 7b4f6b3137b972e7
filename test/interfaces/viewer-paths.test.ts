/** No answer and no error that a viewer gets names a folder of the machine. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { CallContext } from '../../src/model/operation.ts'
import { reportedError } from '../../src/model/reported-error.ts'
import { callOperation, findOperation, streamOperation } from '../../src/ops/catalog.ts'
import { type Call, OWNER_NAME, REQUESTER } from '../fuzz/calls/call.ts'
import { SEED_CALLS } from '../fuzz/calls/seed-calls.ts'
import { openWorld, type World } from '../fuzz/world.ts'

interface Shown {
  readonly text: string
  readonly isAnswer: boolean
}

/** What the viewer gets over HTTP: the answer, the first piece of a stream, or the error. */
async function shownBy({ catalog, engine }: World, { operation, input, streamed }: Call): Promise<Shown> {
  const ending = new AbortController()
  const context: CallContext = { viewer: { id: REQUESTER }, signal: ending.signal }
  try {
    if (!streamed) {
      return { text: JSON.stringify(await callOperation(catalog, engine, operation, input, context)), isAnswer: true }
    }
    for await (const piece of streamOperation(findOperation(catalog, operation), engine, input, context)) {
      return { text: JSON.stringify(piece), isAnswer: true }
    }
    return { text: '', isAnswer: true }
  } catch (thrown) {
    return { text: JSON.stringify(reportedError(thrown, context.viewer)), isAnswer: false }
  } finally {
    ending.abort()
  }
}

it('no operation shows a viewer the path of the home or of the workspace, whole or as a stream', async () => {
  await using world = await openWorld()
  // What the owner brought in from files, open to everybody.
  mkdirSync(`${world.folder}/added`)
  writeFileSync(`${world.folder}/added/page.md`, '# Fox\n\nA quick fox in a file.\n')
  const owner = (operation: string, input: object) => world.call({ operation, viewer: OWNER_NAME }, input)
  await owner('add', { paths: ['added'], visibility: 'public' })
  await owner('context.index', { wait: false })
  const paths = [world.folder, encodeURI(world.folder)]
  const leaks: string[] = []
  const answered = new Set<string>()
  for (const call of SEED_CALLS) {
    const { text, isAnswer } = await shownBy(world, call)
    if (isAnswer) answered.add(call.operation)
    if (paths.some(path => text.includes(path))) leaks.push(`${call.operation}: ${text.slice(0, 300)}`)
  }
  expect(leaks).toEqual([])
  // What is the owner's alone is refused; the rest is not.
  expect(answered.size).toBeGreaterThan(80)
})
