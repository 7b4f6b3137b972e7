/** `querent watch` with nothing to tell: what it ends with is good for ten minutes from its end (BQ-165). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import type * as Opening from '../../../src/engine/open.ts'
import { runInProcess } from '../../support/in-process.ts'
import { ManualTimers } from '../../support/manual-timers.ts'

const shared = vi.hoisted(() => ({ timers: null as unknown, engine: null as Engine | null }))

vi.mock('../../../src/engine/open.ts', async original => {
  const { openEngine } = await original<typeof Opening>()
  const opened: typeof openEngine = async options => {
    shared.engine = await openEngine({ ...options, embedder: 'none', live: { timers: shared.timers as ManualTimers } })
    return shared.engine
  }
  return { openEngine: opened }
})

it('tells in the end how to go on from there, not from its last event', async () => {
  const timers = new ManualTimers()
  shared.timers = timers
  const folder = mkdtempSync(join(tmpdir(), 'querent-watch-'))
  const options = { workingFolder: folder, env: {} }
  vi.stubEnv('QUERENT_HOME', join(folder, 'home'))
  try {
    const stdin = JSON.stringify({ entries: [{ id: 'a', content: 'Honey keeps.' }] })
    expect(await runInProcess(['init'], options)).toMatchObject({ status: 0 })
    expect(await runInProcess(['call', 'put', '-'], { ...options, stdin })).toMatchObject({ status: 0 })
    const watching = runInProcess(['watch', 'honey', '--words', '--json'], options)
    while (shared.engine?.live.count() !== 1) await new Promise(resolve => setTimeout(resolve, 5))
    await timers.pass(60_000)
    await timers.pass(60_000)
    process.emit('SIGINT')
    const { status, stdout, stderr } = await watching
    expect(status).toBe(0)
    const lines = stdout.trim().split('\n')
    expect(lines.map(line => JSON.parse(line).type)).toEqual(['added'])
    const token = /--resume (\S+)/.exec(stderr)?.[1]
    expect(token).toMatch(/./)
    expect(token).not.toBe(JSON.parse(lines[0] as string).resume_token)
    expect(stderr.split('\n').length).toBe(3)
  } finally {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  }
})
