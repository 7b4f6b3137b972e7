/** The command as a process among processes: pipes, signals, exit codes, files. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine, ended, environment, querent, type Run, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'

const NOW = '2026-03-01T12:00:00Z'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-process-'))
  writeFileSync(join(folder, 'decay.md'), '# Decay\n\nMemory fades with a half life of seven days.\n')
  const { status, stderr } = await run(['add', 'decay.md'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(args: readonly string[], more: { stdin?: string; cwd?: string } = {}): Promise<Run> {
  const { stdin, cwd = folder } = more
  return querent(args, { cwd, stdin, env: { QUERENT_NOW: NOW } })
}

describe('a process', () => {
  it('answers from the store of its folder, on standard output, and ends with 0', async () => {
    const { status, stdout, stderr } = await run(['query', 'half', 'life'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^1\. Decay {2}decay\.md:/)
    expect(stdout).not.toContain('\u001b')
  })

  it('ends with 1, 2 and 3', async () => {
    expect(await run(['get', 'nothing'])).toMatchObject({ status: 1, stdout: '' })
    expect(await run(['query'])).toMatchObject({ status: 2, stdout: '' })
    expect(await run(['query', 'xylophone', '--fail-empty'])).toMatchObject({ status: 3, stderr: '' })
  })
})

describe('streams and signals', () => {
  it('a reader that has read enough is no failure', async () => {
    const many = Array.from({ length: 2000 }, (_, at) => ({ id: `n${at}`, content: `note ${at} ${'x'.repeat(200)}` }))
    const put = await run(['call', 'put', '-'], { stdin: JSON.stringify({ entries: many }) })
    expect(put).toMatchObject({ status: 0 })
    const child = start(['export'], { cwd: folder, env: { QUERENT_NOW: NOW } })
    let complaints = ''
    child.stderr?.on('data', part => {
      complaints += part
    })
    child.stdout?.once('data', () => child.stdout?.destroy())
    expect({ status: await ended(child), complaints }).toEqual({ status: 0, complaints: '' })
  })

  it('output that cannot be written is a failure', async () => {
    const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" > /dev/full', ...commandLine(['list']).flat()], {
      cwd: folder,
      env: environment(),
    })
    let complaints = ''
    child.stderr.on('data', part => {
      complaints += part
    })
    expect(await ended(child)).toBe(1)
    expect(complaints).toMatch(/^querent: standard output: .*ENOSPC.*\n$/)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends with %i and without a word', async (signal, code) => {
    const home = join(folder, signal)
    const child = start(['import', '-', '--home', home], { cwd: folder }) // waits for lines that never come
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', part => {
        output += part
      })
    }
    while (!existsSync(join(home, 'store.db'))) await new Promise(resolve => setTimeout(resolve, 20))
    child.kill(signal)
    expect({ status: await ended(child), output }).toEqual({ status: code, output: '' })
  })

  it('a server ends well on a signal', async () => {
    const child = start(['serve', '--port', '0'], { cwd: folder })
    const url = await new Promise<string>(resolve => {
      child.stderr?.on('data', part => resolve(/http:\S+/.exec(String(part))?.[0] ?? ''))
    })
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ok: true })
    const headers = { accept: 'application/x-ndjson' }
    const lines = await fetch(`${url}/v1/ops/export`, { method: 'POST', headers })
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson')
    expect(await lines.text()).toBe((await run(['export'])).stdout)
    child.kill('SIGTERM')
    expect(await ended(child)).toBe(0)
  })
})

describe('export and import', () => {
  it('carry everything over', async () => {
    const other = mkdtempSync(join(tmpdir(), 'querent-other-'))
    const { stdout: lines } = await run(['export'])
    const imported = await run(['import', '-', '--json'], { cwd: other, stdin: lines })
    expect(imported).toMatchObject({ status: 0, stderr: '' })
    expect((await run(['export'], { cwd: other })).stdout).toBe(lines)
    await run(['export', 'copy.jsonl'])
    expect((await run(['import', join(folder, 'copy.jsonl')], { cwd: other })).status).toBe(0)
    rmSync(other, { recursive: true })
  })
})

describe('the native runtime', () => {
  it('reads a long command line, and writes no usage data to the home folder of the user', async () => {
    const home = mkdtempSync(join(tmpdir(), 'querent-native-'))
    try {
      const env = { QUERENT_EMBEDDER: 'local', QUERENT_HOME: join(home, 'store'), HOME: home, XDG_CACHE_HOME: '' }
      const long = 'Tulips like cold winters. '.repeat(2000)
      expect(await querent(['remember', long, '--id', 'tulips'], { cwd: home, env })).toMatchObject({ status: 0 })
      const { status, stdout } = await querent(['status'], { cwd: home, env })
      expect(status).toBe(0)
      expect(stdout).toMatch(/^embedder: .*, native runtime, \d+ workers? of one thread$/m)
      expect(readdirSync(home)).toEqual(['store'])
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})

describe('an installation without the native runtime', () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (name === 'onnxruntime-node') throw new Error('not installed')
      return next(name, context)
    } })`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`
  const home = mkdtempSync(join(tmpdir(), 'querent-wasm-'))
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const env = { NODE_OPTIONS, QUERENT_EMBEDDER: 'local' }
  const without = (args: readonly string[]) => querent(args, { cwd: home, env })

  it('says so at the first command for people, once, and how to get it; status and doctor say it each time', async () => {
    writeFileSync(join(home, 'tulips.md'), 'Tulips like cold winters.')
    const first = await without(['add', 'tulips.md', '--json'])
    expect(first).toMatchObject({ status: 0, stderr: expect.not.stringContaining('ONNX') })
    const second = await without(['list'])
    expect(second.stderr).toBe(
      'querent: using the slower WebAssembly runtime; for the faster native runtime, install Querent again with ' +
        'ONNXRUNTIME_NODE_INSTALL=skip in the environment (this skips a download for GPUs)\n',
    )
    expect(await without(['list'])).toMatchObject({ status: 0, stderr: '' })
    expect((await without(['status'])).stdout).toMatch(/^embedder: .*, wasm runtime, \d+ workers? of one thread$/m)
    expect((await without(['doctor'])).stdout).toMatch(/embedder: .*WebAssembly.*ONNXRUNTIME_NODE_INSTALL=skip/)
    rmSync(join(home, '.querent', 'wasm-notice'))
    const setting = '{"provider":"local","runtime":"wasm"}'
    expect(await without(['config', 'set', 'embedder', setting])).toMatchObject({ status: 0 })
    expect(await querent(['list'], { cwd: home, env: { QUERENT_EMBEDDER: '' } })).toMatchObject({ stderr: '' })
    expect(await without(['config', 'unset', 'embedder'])).toMatchObject({ status: 0 })
    const native = await querent(['status'], { cwd: home, env: { QUERENT_EMBEDDER: 'local' } })
    expect(native.stdout).toMatch(/^embedder: .*, native runtime, \d+ workers? of one thread$/m)
  })

  it('says nothing where no model is run here', async () => {
    const other = mkdtempSync(join(tmpdir(), 'querent-none-'))
    const env = { NODE_OPTIONS, QUERENT_EMBEDDER: 'none' }
    expect(await querent(['init'], { cwd: other, env })).toMatchObject({ status: 0, stderr: '' })
    rmSync(other, { recursive: true, force: true })
  })
})

describe('a question whose vector does not come in time', () => {
  const home = mkdtempSync(join(tmpdir(), 'querent-late-'))
  const silent = createServer(() => {}) // takes every request and answers none
  beforeAll(async () => {
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    writeFileSync(join(home, 'decay.md'), '# Decay\n\nMemory fades with a half life of seven days.\n')
    expect(await querent(['add', 'decay.md'], { cwd: home })).toMatchObject({ status: 0 })
    const { port } = silent.address() as AddressInfo
    const embedder = { provider: 'openai', model: 'silent', baseUrl: `http://127.0.0.1:${port}/v1`, dimensions: 3 }
    writeFileSync(join(home, '.querent', 'config.json'), JSON.stringify({ embedder }))
  })
  afterAll(() => {
    silent.closeAllConnections()
    silent.close()
    rmSync(home, { recursive: true, force: true })
  })

  it('ends `add` with a line that says how far it came when a signal stops it', async () => {
    const other = mkdtempSync(join(tmpdir(), 'querent-stopped-'))
    expect(await querent(['init'], { cwd: other })).toMatchObject({ status: 0 })
    copyFileSync(join(home, '.querent/config.json'), join(other, '.querent/config.json'))
    writeFileSync(join(other, 'growth.md'), '# Growth\n\nMemory grows with use.\n')
    const asked = once(silent, 'request')
    const child = start(['add', 'growth.md'], { cwd: other, env: { QUERENT_EMBEDDER: '' } })
    let said = ''
    child.stderr?.on('data', part => {
      said += part
    })
    await asked
    child.kill('SIGINT')
    expect(await ended(child)).toBe(130)
    expect(said).toMatch(
      /^querent: stopped at \w+ \d+ of \d+; what is in the store stays, and the next `querent add` of the same paths continues\n$/m,
    )
    expect((await querent(['list'], { cwd: other })).stdout).toContain('growth.md')
    rmSync(other, { recursive: true, force: true })
  })

  it('waits as long as --timeout says, is answered by words, and is never called nothing relevant (QE-005)', async () => {
    // Loaded already: of this time only the words take a part.
    const args = ['query', '--timeout', '2', '--fail-empty', '--json']
    const ask = (more: readonly string[]) => querentHere(more, { cwd: home, env: { QUERENT_EMBEDDER: '' } })
    const [known, unknown] = [await ask([...args, 'half life']), await ask([...args, 'guarding against losing data'])]
    expect(JSON.parse(known.stdout)).toMatchObject({ verdict: 'answered', verdict_by: 'words', items: [{ rank: 1 }] })
    expect(unknown.status).toBe(0)
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      ...{ verdict: 'weak', verdict_by: 'words', items: [] },
      notes: [{ code: 'meaning_late' }],
    })
    expect(await ask(['query', '--timeout', '0', 'half life'])).toMatchObject({ status: 2 })
  })
})
