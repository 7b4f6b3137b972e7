import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { libraryEntry } from '../../scripts/bundle-command.ts'
import { nodeOf } from '../support/node-version.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const temporary: string[] = []
afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true })
})

describe('the command', () => {
  it.each(['12.22.12', '20.20.2', '22.15.1'])('says in one line that Node %s is too old', version => {
    const { status, stdout, stderr } = runAs(version, program)
    expect(stderr).toMatch(
      /^querent needs Node 22\.16 or newer, this is \d+\.\d+\.\d+\. Without installing Node: npx .*\n$/,
    )
    expect(stderr).toContain(version)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })

  it.each(['20.20.2', '22.15.1'])('says the same where a program imports the library on Node %s', version => {
    const { status, stderr } = runAs(version, 'export const openEngine = null', 'dist/command/library.js')
    expect(stderr).toContain(`Error: querent needs Node 22.16 or newer, this is ${version}. Without installing Node: `)
    expect(status).toBe(1)
    const newer = runAs('22.16.0', `console.log('loaded'); export const openEngine = null`, 'dist/command/library.js')
    expect(newer).toMatchObject({ status: 0, stdout: 'loaded\n', stderr: '' })
  })

  it.each(['22.16.0', '24.21.0'])(
    'passes arguments in and the exit code out on Node %s, and keeps warnings',
    version => {
      const { status, stdout, stderr } = runAs(version, program)
      expect({ status, stdout }).toEqual({ status: 5, stdout: '["--version"]\n' })
      expect(stderr).toContain('another warning')
    },
  )

  it('shows an unforeseen error as one line', () => {
    const { status, stderr } = runAs('24.21.0', `export function main() { throw new Error('out of paper') }`)
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'querent: out of paper\n' })
  })

  const program = `export async function main(args) {
    process.emitWarning('another warning', { type: 'ExperimentalWarning' })
    console.log(JSON.stringify(args))
    return 5
  }`

  /** Starts a module of the package on what claims to be this version of Node; `main` is the code of the built command and library. */
  function runAs(version: string, main: string, start = 'bin/querent.js') {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'dist/command'), { recursive: true })
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'dist/command/main.js'), main)
    writeFileSync(join(folder, 'dist/command/index.js'), main)
    writeFileSync(join(folder, 'dist/command/library.js'), libraryEntry(['openEngine']))
    const fake = join(folder, 'fake.cjs')
    writeFileSync(
      fake,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )
    return spawnSync(process.execPath, ['--require', fake, join(folder, start), '--version'], {
      encoding: 'utf8',
    })
  }
})

// Needs the registry's client and about half a minute: the package is built and packed once, and installed as a user would.
describe('the package, installed into an empty folder', () => {
  let app = ''
  let tarball = ''
  beforeAll(() => {
    const packed = temporaryFolder()
    npm(root, ['pack', '--silent', '--pack-destination', packed])
    app = temporaryFolder()
    tarball = join(packed, readdirSync(packed).find(name => name.endsWith('.tgz')) ?? 'no tarball')
    npm(app, ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', tarball])
  }, 900_000)

  it('has nothing that other tools would stumble over', () => {
    const publint = join(root, 'node_modules/.bin/publint')
    const { status, stdout } = spawnSync(publint, ['run', '--strict', tarball], { encoding: 'utf8' })
    expect({ status, stdout }).toMatchObject({ status: 0 })
  })

  it('carries program, model, kernel and licence, and no source or test', () => {
    const files = readdirSync(join(app, 'node_modules/querent'), { recursive: true, encoding: 'utf8' })
    const wanted = [
      'bin/querent.js',
      'dist/index.d.ts',
      'dist/command/index.js',
      'dist/command/library.js',
      'dist/command/main.js',
      'dist/command/LICENCES',
      'dist/onnx/LICENCE',
      'dist/explorer/index.html',
      'dist/explorer/LICENCES.txt',
      'dist/docs/index.html',
      'dist/docs/LICENCES.txt',
      'LICENSE',
      'NOTICE',
      ...['es', 'en'].flatMap(lang => [
        `dist/lenses/collections/files/${lang}/.claude/skills/chroma-query/SKILL.md`,
        `dist/lenses/collections/files/${lang}/.claude/agents/chroma-agent.md`,
      ]),
    ]
    expect(wanted.filter(name => !files.includes(name))).toEqual([])
    expect(files.filter(name => name.startsWith('model/') && name.endsWith('.onnx'))).toHaveLength(1)
    expect(files.filter(name => name.endsWith('.wasm')).sort()).toEqual([
      'dist/command/kernel/kernel.wasm',
      'dist/index/kernel/kernel.wasm',
      'dist/onnx/ort-wasm-simd-threaded.wasm',
    ])
    expect(files.filter(name => /^(src|test|scripts|bench)\/.*(?<!\.md)$/.test(name))).toEqual([])
    // The modules that were bundled are not carried a second time.
    const folders = new Set(files.filter(name => /^dist\/.*\.js$/.test(name)).map(name => name.split('/')[1]))
    expect([...folders].sort()).toEqual(['command', 'docs', 'explorer'])
  })

  it('is packed within 23 MB and installed within 130 MB', () => {
    // Of the packed size 15.7 MB are the weights, which xz at its best makes 15.1 MB.
    expect(statSync(tarball).size).toBeLessThan(23e6)
    const installed = readdirSync(join(app, 'node_modules'), { recursive: true, encoding: 'utf8' })
      // Optional: npm leaves it out where its own installation fails. Its binaries for five platforms are 294 MB.
      .filter(name => !name.startsWith('onnxruntime-'))
      .map(name => lstatSync(join(app, 'node_modules', name)))
      .filter(file => file.isFile())
    expect(installed.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(130e6)
  })

  it('says its version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(querent('--version').trim()).toBe(version)
  })

  it('has types that a strict compiler accepts, those of the package itself included', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
    writeFileSync(join(app, 'typed.mts'), program)
    const options = {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ['node'],
    }
    const compilerOptions = { ...options, typeRoots: [join(root, 'node_modules/@types')] }
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.mts'] }))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', app], { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  it('carries every page and folder that the README links to', () => {
    const package_ = join(app, 'node_modules/querent')
    const readme = readFileSync(join(package_, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter(target => !existsSync(join(package_, target)))).toEqual([])
  })

  it.each(['22', '24'])('gives the first answer of the README and runs its program on Node %s', version => {
    const node = version === '24' ? process.execPath : nodeOf(version)
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [, commands = ''] = /## First answer[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme) ?? []
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
    const lines = commands.split('\n').filter(line => line.startsWith('npx querent '))
    expect(lines).toHaveLength(2)
    const folder = temporaryFolder()
    symlinkSync(join(app, 'node_modules'), join(folder, 'node_modules'))
    const run = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(node, args, {
        ...{ cwd: folder, encoding: 'utf8', env: cleanEnvironment() },
      })
      expect({ status, stderr }).toMatchObject({ status: 0 })
      expect(stderr).not.toContain('ExperimentalWarning: SQLite')
      return stdout
    }
    expect(run('-p', 'process.versions.node.split(".")[0]').trim()).toBe(version)
    const [added = '', answer = ''] = lines.map(line => {
      const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(2)
      return run(join(app, 'node_modules/querent/bin/querent.js'), ...args)
    })
    expect(added).toContain('5 added')
    // The answer at the top of the README, but for the folder of the notes, and for figures, which depend on the runtime.
    const [, shown = 'nothing'] = /\$ querent query 'when[^\n]*\n([\s\S]*?)\n\n/.exec(readme) ?? []
    const withoutFigures = (text: string) => text.replace(/\d\.\d+/g, '#')
    expect(withoutFigures(answer.replace(/\S*\/examples\//g, ''))).toContain(withoutFigures(shown))
    const [here = 0, there = 1] = [answer, shown].map(text => Number(/^ {3}(\d\.\d+) score/m.exec(text)?.[1]))
    expect(Math.abs(here - there)).toBeLessThan(0.01)
    // On a busy machine the vector of the query may take longer than a query waits for it.
    expect(program).toContain('limit: 3 }')
    writeFileSync(join(folder, 'ask.mjs'), program.replace('limit: 3 }', 'limit: 3, timeout_ms: 120_000 }'))
    expect(run('ask.mjs')).toMatch(/^1 Backup policy .*\n[\s\S]*\nanswered\n$/)
    // Node 22 bound what is empty as null.
    writeFileSync(join(folder, 'note.md'), '# A\n\nNothing is named here.\n')
    expect(run(join(app, 'node_modules/querent/bin/querent.js'), 'context', 'index', '--no-wait')).toContain('1')
  })

  it('leads in one command more to a page in the browser that answers about a folder and says why', async () => {
    const folder = temporaryFolder()
    cpSync(join(root, 'examples/notes'), join(folder, 'notes'), { recursive: true })
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [command = ''] = /^npx querent serve \S+ --open/m.exec(readme) ?? []
    // In a folder of its own, so that the store is new. `true` receives the address instead of a browser.
    symlinkSync(join(app, 'node_modules'), join(folder, 'node_modules'))
    const env = { ...cleanEnvironment(), BROWSER: 'true' }
    const server = spawn('npx', ['--no-install', ...command.split(' ').slice(1), '--port', '0'], {
      ...{ cwd: folder, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    })
    const ended = once(server, 'close')
    try {
      let said = ''
      let url: string | undefined
      for await (const part of server.stderr) {
        said += part
        url = /listens on (http:\S+)\n/.exec(said)?.[1]
        if (url !== undefined) break
      }
      expect(said).toContain('5 added')
      const page = await (await fetch(url ?? said)).text()
      const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? 'no script'
      expect((await fetch(new URL(script, url))).headers.get('content-type')).toContain('javascript')
      const body = JSON.stringify({ text: 'how do we guard against losing data', explain: true })
      const answer = (await (await fetch(`${url}/v1/query`, { method: 'POST', body })).json()) as { items: unknown[] }
      expect(answer.items[0]).toMatchObject({ id: 'notes/backup-policy.md', explanation: expect.anything() })
    } finally {
      process.kill(-(server.pid as number), 'SIGTERM') // npx, its shell and the server
      await ended
    }
  })

  it('answers a question about a folder, by meaning, with the model it carries', () => {
    mkdirSync(join(app, 'notes'))
    writeFileSync(join(app, 'notes/pets.md'), '# Animals\n\nThe kitten sleeps on the warm sofa all afternoon.\n')
    writeFileSync(join(app, 'notes/money.md'), '# Budget\n\nInvoices are paid within thirty days of receipt.\n')
    querent('add', 'notes')
    const page = JSON.parse(querent('query', 'where does the young cat rest?', '--any', '--json'))
    const [first] = page.items
    expect(first.id).toBe('notes/pets.md')
    expect(first.components.words).toBe(0) // no word in common: only the model can have found it
    expect(page.coverage.embedded).toBe(1)
    expect(page.notes).toEqual([])
  })

  it.skipIf(!existsSync(join(root, 'node_modules/onnxruntime-node')))(
    'runs the model on the native runtime where that is installed, else on the WebAssembly build that it carries',
    () => {
      const native = join(app, 'node_modules/onnxruntime-node')
      const aside = `${native}-aside`
      const wasInstalled = existsSync(native)
      const add = (): readonly unknown[] => {
        const home = temporaryFolder()
        querent('add', 'examples', '--home', home)
        const { embedder, embedded } = JSON.parse(querent('status', '--json', '--home', home))
        return [embedder.runs_on.runtime, embedded]
      }
      cpSync(join(root, 'examples/notes'), join(app, 'examples'), { recursive: true })
      if (wasInstalled) renameSync(native, aside)
      const [wasm, byWasm] = add()
      // A link is enough: packages resolve their own imports from where they really are.
      if (wasInstalled) renameSync(aside, native)
      else symlinkSync(join(root, 'node_modules/onnxruntime-node'), native)
      const [best, byBest] = add()
      if (!wasInstalled) rmSync(native)
      expect([wasm, best]).toEqual(['wasm', 'native'])
      expect(byWasm).toBe(byBest)
      expect(byWasm).toBeGreaterThan(0)
    },
  )

  it('places the skill and the agent that it carries, and answers what they ask over its sample (CO-057, CO-060)', () => {
    const project = temporaryFolder()
    querent('skills', 'install', '--dir', project)
    expect(readFileSync(join(project, '.claude/skills/chroma-query/SKILL.md'), 'utf8')).toContain('name: chroma-query')
    expect(readFileSync(join(project, '.claude/agents/chroma-agent.md'), 'utf8')).toContain('name: chroma-agent')
    const answer = querent('collections', 'servidores MCP', '--sample', '--n-results', '1')
    expect(answer).toContain('1. **Cómo elegir un servidor MCP** - ')
  })

  it('loads the beliefs that it carries', () => {
    expect(querent('beliefs', 'sample', '--home', temporaryFolder())).toMatch(/^318 beliefs /)
  })

  it('answers about the Commodore 64 as the sources do, with the same plugins (EN-024, EN-078)', () => {
    const empty = temporaryFolder()
    const asked = ['c64', '--json', '--limit', '5', 'What does POKE $D060, 14 do to the edge of the screen, LDA?']
    const answerOf = (program: string) =>
      execFileSync(process.execPath, [program, ...asked], {
        ...{ cwd: empty, encoding: 'utf8', env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] },
      })
    const built = answerOf(join(app, 'node_modules/querent/bin/querent.js'))
    expect(built).toBe(answerOf(join(root, 'scripts/querent.ts')))
    expect(JSON.parse(built).results.length).toBeGreaterThan(0)
  })

  it('carries the command for assistants (EN-075)', () => {
    querent('skills', 'install', '--lens', 'c64')
    expect(readdirSync(join(app, '.claude/commands'))).toEqual(['query-c64.md'])
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

/** A registry that cannot be reached is tried again and again; nothing else takes this long. */
const MAX_NPM_MS = 600_000

function npm(folder: string, args: readonly string[]): void {
  const options = { cwd: folder, env: cleanEnvironment(), timeout: MAX_NPM_MS }
  execFileSync('npm', args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
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
