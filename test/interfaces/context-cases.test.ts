import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import { differences, readCases, type SetupStep } from '../support/context-fixtures.ts'
import { querentHere } from '../support/in-process.ts'
import { modelFolder } from '../support/model.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = fileURLToPath(new URL('../fixtures/context', import.meta.url))
const MODEL = { QUERENT_EMBEDDER: 'local' }

/** With the default model, so that all modes have what they need. */
describe('the documented cases of /context/query, each asked by a command (CX-043)', () => {
  beforeAll(() => void modelFolder())

  it('are fourteen', () => expect(readCases(folder)).toHaveLength(14))

  it.each(readCases(folder))('$name', async ({ setup, params, result }) => {
    using workspace = tempFolder()
    await prepare(join(workspace.path, '.querent'), setup)
    const run = await querentHere(['call', 'context.query', '-'], {
      cwd: workspace.path,
      env: MODEL,
      stdin: JSON.stringify(params),
    })
    expect(run.stderr).toBe('')
    expect(differences(result, JSON.parse(run.stdout))).toEqual([])
  })
})

async function prepare(home: string, setup: readonly SetupStep[]): Promise<void> {
  await using engine = await openEngine({ home, background: false })
  const context = new Context(engine.host('context'))
  for (const step of setup) {
    if ('path' in step) expect(await context.call(step.path, step.params)).toMatchObject({ status: 'success' })
    else if (step.operation === 'put') await engine.put(step.input as Parameters<typeof engine.put>[0])
    else throw new Error(`no such step: ${step.operation}`)
  }
}
