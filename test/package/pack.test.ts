import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const temporary: string[] = []
afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true })
})

describe('the command on a Node that is too old', () => {
  it.each(['12.22.12', '20.20.2', '22.15.1'])('%s says so in one line and fails', version => {
    const { status, stdout, stderr } = runAs(version)
    expect(stderr).toMatch(
      /^querent needs Node 22\.16 or newer, this is \d+\.\d+\.\d+\. Without installing Node: npx .*\n$/,
    )
    expect(stderr).toContain(version)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })

  it.each(['22.16.0', '23.0.0', '24.21.0'])('%s is not too old', version => {
    expect(runAs(version).stderr).not.toContain('needs Node')
  })

  /** The bin, told that it runs on another version; where it is new enough it goes on and finds a program or not. */
  function runAs(version: string): { status: number | null; stdout: string; stderr: string } {
    const folder = temporaryFolder()
    const fake = join(folder, 'fake.cjs')
    writeFileSync(
      fake,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )
    const args = ['--require', fake, join(root, 'bin/querent.js'), '--version']
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  }
})

// Needs the registry's client and about half a minute: the package is built, packed and installed as a user would.
describe('the package, installed into an empty folder', () => {
  let app = ''
  beforeAll(() => {
    const packed = temporaryFolder()
    npm(root, ['pack', '--silent', '--pack-destination', packed])
    app = temporaryFolder()
    const tarball = readdirSync(packed).find(name => name.endsWith('.tgz')) ?? 'no tarball'
    npm(app, ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', join(packed, tarball)])
  }, 300_000)

  it('carries program, model, kernel and licence, and no source or test', () => {
    const files = readdirSync(join(app, 'node_modules/querent'), { recursive: true, encoding: 'utf8' })
    const wanted = ['bin/querent.js', 'dist/index.js', 'dist/index.d.ts', 'dist/doors/cli/main.js', 'LICENSE', 'NOTICE']
    expect(wanted.filter(name => !files.includes(name))).toEqual([])
    expect(files.filter(name => name.startsWith('model/') && name.endsWith('.onnx'))).toHaveLength(1)
    expect(files.filter(name => name.endsWith('.wasm')).length).toBeGreaterThan(0)
    expect(files.filter(name => /^(src|test|scripts|bench)\/|testing\//.test(name))).toEqual([])
  })

  it('says its version', () => {
    expect(querent('--version').trim()).toBe('0.1.0')
  })

  it('answers a question about a folder, by meaning, with the model it carries', () => {
    mkdirSync(join(app, 'notes'))
    writeFileSync(join(app, 'notes/pets.md'), '# Animals\n\nThe kitten sleeps on the warm sofa all afternoon.\n')
    writeFileSync(join(app, 'notes/money.md'), '# Budget\n\nInvoices are paid within thirty days of receipt.\n')
    querent('add', 'notes')
    const page = JSON.parse(querent('query', 'where does the young cat rest?', '--json'))
    expect(JSON.stringify(page.items[0])).toContain('pets.md')
    expect(JSON.stringify(page.notes)).not.toContain('words only')
  })

  it('can be imported', () => {
    const program = `import { openEngine } from 'querent'; console.log(typeof openEngine)`
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: app,
      encoding: 'utf8',
    })
    expect(output.trim()).toBe('function')
  })

  function querent(...args: string[]): string {
    return execFileSync('npx', ['--no-install', 'querent', ...args], {
      cwd: app,
      encoding: 'utf8',
      env: cleanEnvironment(),
    })
  }
})

function npm(folder: string, args: readonly string[]): void {
  execFileSync('npm', args, { cwd: folder, env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Without what an outer `npm test` has set, and with this Node first: `npm` and `npx` start with `env node`. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|QUERENT_|VITEST|NODE_ENV)/.test(name))
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  return { ...Object.fromEntries(kept), PATH: path }
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'querent-package-'))
  temporary.push(folder)
  return folder
}
