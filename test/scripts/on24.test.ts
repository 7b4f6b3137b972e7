import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const on24 = fileURLToPath(new URL('../../scripts/on24.mjs', import.meta.url))
const temporary: string[] = []
afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true })
})

describe('on24 runs a script', () => {
  it('with its arguments, input, output and exit code untouched', async () => {
    const child = start(fakeRepository({ installed: '1.0.0' }), ['script.mjs', 'a b', '--c', '$d'])
    child.stdin?.end('from outside')
    const [out, err, code] = await endOf(child)
    expect(JSON.parse(out)).toEqual({ args: ['a b', '--c', '$d'], input: 'from outside' })
    expect({ err, code }).toEqual({ err: '', code: 7 })
  })

  it('with the packaged Node first on the path', async () => {
    const root = fakeRepository({ installed: '1.0.0' })
    const child = start(root, ['-e', 'console.log(process.env.PATH)'])
    const [out] = await endOf(child)
    expect(out.split(delimiter)[0]).toBe(join(root, 'node_modules/.bin'))
  })

  it('and passes a signal on, then dies of it too', async () => {
    const child = start(fakeRepository({ installed: '1.0.0' }), [
      '-e',
      'console.log("up"); setInterval(() => {}, 1000)',
    ])
    await once(child.stdout ?? child, 'data')
    child.kill('SIGTERM')
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGTERM')
  })
})

describe('on24 installs', () => {
  it('when nothing is installed, saying so on standard error only', async () => {
    const root = fakeRepository({})
    const [out, err] = await endOf(start(root, ['-e', 'console.log("ran")']))
    expect(out).toBe('ran\n')
    expect(err).toContain('installing dependencies')
    expect(installs(root)).toBe(1)
    expect(existsSync(join(root, '.install-lock'))).toBe(false)
  })

  it('when another version is locked', async () => {
    const root = fakeRepository({ installed: '0.9.0' })
    await endOf(start(root, ['-e', '']))
    expect(installs(root)).toBe(1)
  })

  it('not when only the date of the lockfile is newer', async () => {
    const root = fakeRepository({ installed: '1.0.0' })
    await endOf(start(root, ['-e', '']))
    expect(installs(root)).toBe(0)
  })

  it('once when two start together', async () => {
    const root = fakeRepository({})
    const ends = await Promise.all([
      endOf(start(root, ['-e', 'console.log(1)'])),
      endOf(start(root, ['-e', 'console.log(2)'])),
    ])
    expect(ends.map(([out]) => out)).toEqual(['1\n', '2\n'])
    expect(installs(root)).toBe(1)
  })

  it('in spite of the mark of a process that died', async () => {
    const root = fakeRepository({})
    const dead = spawn(process.execPath, ['-e', ''])
    await once(dead, 'exit')
    writeFileSync(join(root, '.install-lock'), String(dead.pid))
    const [out] = await endOf(start(root, ['-e', 'console.log("ran")']))
    expect(out).toBe('ran\n')
  })

  it('and ends with the code of a failed install', async () => {
    const root = fakeRepository({ npmFails: true })
    const [out, err, code] = await endOf(start(root, ['-e', 'console.log("ran")']))
    expect({ out, code }).toEqual({ out: '', code: 3 })
    expect(err).toContain('npm ci failed')
  })
})

/** A folder with a lockfile of one package and an `npm` that installs it by writing the files npm would write. */
function fakeRepository({ installed, npmFails = false }: { installed?: string; npmFails?: boolean }): string {
  const root = mkdtempSync(join(tmpdir(), 'querent-on24-'))
  temporary.push(root)
  mkdirSync(join(root, 'scripts'))
  cpSync(on24, join(root, 'scripts/on24.mjs'))
  writeFileSync(join(root, 'package-lock.json'), lockfile('1.0.0', { root: true }))
  writeFileSync(
    join(root, 'script.mjs'),
    `let input = ''
     for await (const part of process.stdin) input += part
     console.log(JSON.stringify({ args: process.argv.slice(2), input }))
     process.exitCode = 7`,
  )
  mkdirSync(join(root, 'bin'))
  const npm = npmFails ? 'exit 3' : `echo install >> installs\nsleep 0.3\n${installCommands('1.0.0')}`
  writeFileSync(join(root, 'bin/npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })
  if (installed !== undefined) {
    mkdirSync(join(root, 'node_modules/node/bin'), { recursive: true })
    writeFileSync(join(root, 'node_modules/node/bin/node'), nodeStarter, { mode: 0o755 })
    writeFileSync(join(root, 'node_modules/.package-lock.json'), lockfile(installed, { root: false }))
    const before = new Date(Date.now() - 5000) // so that the dates alone never decide
    utimesSync(join(root, 'node_modules/.package-lock.json'), before, before)
  }
  return root
}

const nodeStarter = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`

function installCommands(version: string): string {
  return `mkdir -p node_modules/node/bin
cat > node_modules/node/bin/node <<'END'
${nodeStarter}END
chmod +x node_modules/node/bin/node
cat > node_modules/.package-lock.json <<'END'
${lockfile(version, { root: false })}
END`
}

function lockfile(version: string, { root }: { root: boolean }): string {
  const packages = {
    'node_modules/node': { version },
    ...(root ? { 'node_modules/other': { version, optional: true } } : {}),
  }
  return JSON.stringify({ packages: root ? { '': {}, ...packages } : packages })
}

function start(root: string, args: readonly string[]): ChildProcess {
  const path = [join(root, 'bin'), process.env['PATH']].join(delimiter)
  return spawn(process.execPath, [join(root, 'scripts/on24.mjs'), ...args], {
    cwd: root,
    env: { ...process.env, PATH: path },
  })
}

async function endOf(child: ChildProcess): Promise<readonly [out: string, err: string, code: number | null]> {
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('the child was started without pipes')
  const ended = once(child, 'exit')
  const [out, err] = await Promise.all([text(stdout), text(stderr)])
  const [code] = await ended
  return [out, err, code]
}

function installs(root: string): number {
  const file = join(root, 'installs')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
}
