/** Any number of index runs, watchers and edits at once leave what one run alone leaves (CX-075). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { ended, start } from '../support/command.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'
import { differences, overlapContext, PLAIN } from './context-overlap.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const ROUNDS = Number(process.env['QUERENT_ROUNDS'] ?? (LONG ? 1000 : 8))
const PROCESS_ROUNDS = Number(process.env['QUERENT_PROCESS_ROUNDS'] ?? (LONG ? 25 : 1))
/** More than are written in one transaction. */
const FILES = 60
const MAX_PAUSE_MS = 20

describe('index runs, watchers and edits at once', () => {
  it(`leave what one run alone leaves, in ${ROUNDS} rounds of engines (CX-075; QUERENT_LONG=1: 1,000)`, {
    timeout: 600_000 + ROUNDS * 20_000,
  }, async () => {
    const { rounds, wrong, ...figures } = await overlapContext(ROUNDS, Date.now() & 0xffff)
    if (LONG) process.stderr.write(`${rounds} rounds: ${JSON.stringify(figures)}\n`)
    expect(wrong.slice(0, 20)).toEqual([])
    expect(rounds).toBe(ROUNDS)
    expect(figures.waited, 'none waited: there was no overlap').toBeGreaterThan(0)
  })

  it(`leave it in ${PROCESS_ROUNDS} rounds of processes that also make the store (CX-075; QUERENT_LONG=1: 25)`, {
    timeout: 600_000 + PROCESS_ROUNDS * 120_000,
  }, async () => {
    for (let round = 0; round < PROCESS_ROUNDS; round++) await roundOfProcesses(round)
  })
})

async function roundOfProcesses(round: number): Promise<void> {
  using folder = tempFolder()
  const home = folder.file('.querent')
  for (let at = 0; at < FILES; at++) write(folder.path, at, 0)
  const watcher = start(['context', 'index', '--watch'], { cwd: folder.path })
  try {
    const children = [1, 2, 3].map(
      seed => new Child('context-overlap-child.ts', import.meta.url, argumentsOf(home, round, seed)),
    )
    for (let at = 0; at < FILES; at += 3) {
      write(folder.path, at, round + 1)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    for (const child of children) {
      const { result, errors } = JSON.parse(await child.says('{')) as { result: object | null; errors: unknown }
      expect(errors).toBeNull()
      expect(result).toMatchObject({ errors: { total: 0 } })
      await child.end()
    }
    // What the watcher has not got to yet, one more run does: it waits for the watcher where that is at work.
    await using last = new Child('context-overlap-child.ts', import.meta.url, argumentsOf(home, round, 4))
    await last.says('{')
    await last.end()
    await using engine = await openEngine({ home, ...PLAIN })
    expect((await differences(engine, folder.path)).slice(0, 10)).toEqual([])
  } finally {
    watcher.kill('SIGINT')
    await ended(watcher)
  }
}

function argumentsOf(home: string, round: number, seed: number): readonly string[] {
  return [home, String(MAX_PAUSE_MS), String(round * 10 + seed)]
}

/** Each function calls another file's, so that a lost file shows in the links of others too. */
function write(folder: string, at: number, variant: number): void {
  const other = (at * 7 + variant + 1) % FILES
  mkdirSync(join(folder, 'src'), { recursive: true })
  const text = `import { made${other} } from './f${other}.ts'\nexport function made${at}() { return made${other}() + ${variant} }\n`
  writeFileSync(join(folder, 'src', `f${at}.ts`), text)
}
