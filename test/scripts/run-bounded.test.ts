import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const module = new URL('../../scripts/run-bounded.ts', import.meta.url)
/** A program that starts another, which never ends and could print. */
const STARTS = `const { spawn } = require('node:child_process')
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })`

/** What is printed up to the end of whoever could print, and how it ended. */
async function bounded(script: string, mostMs: number): Promise<{ printed: string; code: number | null }> {
  const source = `import { runBounded } from ${JSON.stringify(module.href)}
const code = await runBounded(process.execPath, ['-e', ${JSON.stringify(script)}], { cwd: '.', mostMs: ${mostMs} })
console.log('code', code)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>])
  return { printed, code }
}

// That the end of what is printed is read at all says that nobody is left.
it('gives the code of a program, and leaves nothing that it has started', async () => {
  const { printed, code } = await bounded(`${STARTS}; process.exit(3)`, 60_000)
  expect(printed).toContain('code 3')
  expect(code).toBe(0)
})

it('ends a program that does not end, with all that it has started, and says so', async () => {
  const { printed } = await bounded(`${STARTS}; for (;;);`, 1_000)
  expect(printed).toContain('as it would not end by itself')
  expect(printed).toContain('code null')
})
