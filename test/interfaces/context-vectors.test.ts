/** When vectors are there (CX-024, CX-069), with the model that is shipped and processes as users run them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { sampleFiles } from '../unit/lenses/context/indexing/sample.ts'

const env = { QUERENT_EMBEDDER: 'local' }
/** Shares no word with what it means. */
const QUESTION = 'sign in'

describe('vectors of code', () => {
  it('are all there when the run ends', async () => {
    using folder = makeSample()
    const run = await querentHere(['context', 'index'], { cwd: folder.path, env })
    expect(run).toMatchObject({ status: 0, stderr: '' })
    const { chunks, embedded } = await statusOf(folder.path)
    expect([chunks > 10, embedded]).toEqual([true, chunks])
    expect(await namesFor(folder.path, 'semantic', QUESTION)).toContain('LoginService.login')
  })

  it('are left by --no-wait to a process that stays open; names and words answer meanwhile', async () => {
    using folder = makeSample()
    const run = await querentHere(['context', 'index', '--no-wait'], { cwd: folder.path, env })
    expect(run.stdout).toMatch(/^4 files read/)
    expect(await statusOf(folder.path)).toMatchObject({ embedded: 0 })
    expect(await namesFor(folder.path, 'exact', 'LoginService.login')).toEqual(['LoginService.login'])
    expect(await namesFor(folder.path, 'hybrid', 'login')).toContain('LoginService')
    const words = await querentHere(['call', '/body/fts/search', '{"query":"trim"}'], { cwd: folder.path, env })
    expect(JSON.parse(words.stdout)).toMatchObject({ result: { total: 1 } })
    expect(await namesFor(folder.path, 'semantic', QUESTION)).toEqual([])
    const server = start(['serve', '--port', '0'], { cwd: folder.path, env })
    try {
      for (let left = 1; left > 0; ) {
        const { chunks, embedded } = await statusOf(folder.path)
        left = chunks - embedded
      }
    } finally {
      server.kill('SIGTERM')
      await ended(server)
    }
    expect(await namesFor(folder.path, 'semantic', QUESTION)).toContain('LoginService.login')
  })

  it('are made by the next run that waits, where no process is open', async () => {
    using folder = makeSample()
    await querentHere(['context', 'index', '--no-wait'], { cwd: folder.path, env })
    const run = await querentHere(['context', 'index', '-j'], { cwd: folder.path, env })
    expect(JSON.parse(run.stdout)).toMatchObject({ result: { indexed: 0, skipped: 4 } })
    const { chunks, embedded } = await statusOf(folder.path)
    expect(embedded).toBe(chunks)
  })
})

async function namesFor(cwd: string, mode: string, question: string): Promise<readonly string[]> {
  const run = await querentHere(['context', 'query', question, '-m', mode, '-d', '0', '-j'], { cwd, env })
  const { result } = JSON.parse(run.stdout) as { result: { concepts: { name: string }[] } }
  return result.concepts.map(({ name }) => name)
}

async function statusOf(cwd: string): Promise<{ readonly chunks: number; readonly embedded: number }> {
  return JSON.parse((await querentHere(['status', '--json'], { cwd, env })).stdout)
}

function makeSample(): TempFolder {
  const folder = tempFolder()
  for (const [name, text] of Object.entries(sampleFiles)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  return folder
}
