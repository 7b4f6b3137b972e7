/** What the guide to live queries shows is what happens: its two terminals, its request over HTTP, its program. */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIVE_REASONS, LIVE_TEXTS } from '../../src/model/live.ts'
import { ended, start } from '../support/command.ts'
import { blocks, guidePage, pattern, printedBy, runSession, shellIn } from '../support/guide-page.ts'
import { querentHere, runInProcess } from '../support/in-process.ts'

const page = guidePage('live.md')
/** Those that end with Ctrl-C, and what is typed in the other terminal meanwhile. */
const watching = blocks(page, 'console').filter(block => block.includes('^C'))
const sessions = blocks(page, 'console').filter(block => !block.includes('^C'))
const writing = blocks(page, 'sh').filter(block => block.includes('querent'))
const request = blocks(page, 'sh').find(block => block.includes('curl')) ?? ''
const [sent = '', printed = ''] = blocks(page, 'text')

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-live-'))
  cpSync(fileURLToPath(new URL('../../examples/notes', import.meta.url)), join(folder, 'notes'), { recursive: true })
  expect(await querentHere(['add', 'notes'], { cwd: folder })).toMatchObject({ status: 0 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a process prints, as it prints it. */
function outputs(child: ChildProcess): { stdout: string; stderr: string } {
  const reported = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8')
    child[name]?.on('data', (part: string) => {
      reported[name] += part
    })
  }
  return reported
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 10))
}

describe('the guide to live queries', () => {
  it.each([0, 1])('shows what watcher %i prints while another terminal writes', async at => {
    if (at === 1) expect(await querentHere(['agents', 'create', 'ben'], { cwd: folder })).toMatchObject({ status: 0 })
    const { env, shell } = shellIn(folder)
    const [command = '', ...shown] = (watching[at] ?? '').trimEnd().split('\n')
    const watcher = spawn(shell, ['-c', `exec ${command.replace('$ ', '')}`], { cwd: folder, env })
    const over = ended(watcher)
    const found = outputs(watcher)
    const lines = (): number => found.stdout.split('\n').length - 1
    const writes = (writing[at] ?? '').trimEnd().split('\n')
    const events = shown.filter(line => /…Z {2}/.test(line))
    await until(() => found.stderr.includes('watching') && lines() === events.length - writes.length)
    for (const line of writes) {
      const before = lines()
      const writer = spawn(shell, ['-c', line], { cwd: folder, env, stdio: 'ignore' })
      expect(await ended(writer), line).toBe(0)
      await until(() => lines() === before + 1)
    }
    watcher.kill('SIGINT')
    expect(await over).toBe(0)
    expect(found.stdout).toMatch(pattern(events.join('\n')))
    expect(found.stderr).toMatch(pattern(shown.filter(line => line.startsWith('querent:')).join('\n')))
  })

  it('shows what its other commands print', async () => {
    const steps = await runSession(sessions.map(block => `\`\`\`console\n${block}\`\`\`\n`).join(''), folder)
    for (const { command, shown, printed: output } of steps) expect(output, `$ ${command}`).toMatch(pattern(shown))
    expect(steps).toHaveLength(1)
  })

  it('shows what a server sends', async () => {
    const [, path = '', accept = '', body = ''] = /7411(\S+) -H 'Accept: (.*?)' -d '(.*?)'/.exec(request) ?? []
    const server = start(['serve', '--port', '0'], { cwd: folder })
    const over = ended(server)
    const received = outputs(server)
    await until(() => received.stderr.includes('\n'))
    const url = /http:\S+/.exec(received.stderr)?.[0]
    const response = await fetch(`${url}${path}`, { method: 'POST', headers: { accept }, body })
    let events = ''
    for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      events += part
      if (events.includes('event: added') && events.endsWith('\n\n')) break
    }
    expect(events).toMatch(pattern(sent))
    server.kill('SIGTERM')
    expect(await over).toBe(0)
  })

  it('shows what its program prints', async () => {
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder)).toBe(printed)
  })

  it('names every reason, and options that there are', async () => {
    const table = page.split('\n## Events')[1]?.split('\n## ')[0] ?? ''
    const reasons = [...table.matchAll(/^\| `[a-z]+` \| `([a-z_]+)` \|/gm)].map(match => match[1])
    expect(reasons.sort()).toEqual([...LIVE_REASONS].sort())
    expect(Object.keys(LIVE_TEXTS).sort()).toEqual([...LIVE_REASONS].sort())
    const commands = ['watch', 'query', 'delete', 'beliefs put', 'beliefs supersede']
    const helps = await Promise.all(
      commands.map(async command => {
        const { stdout } = await runInProcess([...command.split(' '), '--help'], { workingFolder: folder })
        return stdout
      }),
    )
    const options = [...page.matchAll(/--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.some(help => help.includes(option)))).toEqual([])
  })
})
