/** What the guide shows is what happens: its commands and its programs are run, and their output compared. */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine, environment } from '../support/command.ts'
import { runInProcess } from '../support/in-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string): string => readFileSync(join(root, 'docs/guide', name), 'utf8')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Blocks of one language, without their fences. */
function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(match => match[1] ?? '')
}

/** `…` in what the guide shows stands for anything; a line that is only that stands for any number of lines. */
function pattern(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n')
  const source = lines.map(line => (line.trim() === '…' ? '.*(\\n.*)*' : line.split('…').map(literal).join('.*')))
  return new RegExp(`^${source.join('\\n')}\\n*$`)
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function run(command: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd: folder, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', part => {
        output += part
      })
    }
    child.once('close', () => resolve(output))
  })
}

describe('the command line guide', () => {
  it('shows what its commands print', async () => {
    cpSync(join(root, 'examples/notes'), join(folder, 'notes'), { recursive: true })
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    const [node, [program = '']] = commandLine([])
    const script = (name: string, body: string): void => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    script('querent', `exec '${node}' '${program}' "$@"`)
    script('title', `exec '${node}' -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).items[0].title'`)

    const sessions = blocks(read('cli.md'), 'console').join('').split(/^\$ /m).slice(1)
    const commands = sessions.map(session => session.slice(0, session.indexOf('\n')))
    const mark = '--- end of a command ---'
    // One shell, so that `$?` is the exit code of the command before.
    const lines = commands.map(command => `${command}; code=$?; echo '${mark}'; (exit $code)`)
    const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, QUERENT_NOW: '2026-03-01T12:00:00Z' }
    const outputs = (await run('/bin/sh', ['-c', lines.join('\n')], env)).split(`${mark}\n`)
    for (const [at, session] of sessions.entries()) {
      expect(outputs[at], `$ ${commands[at]}`).toMatch(pattern(session.slice(session.indexOf('\n') + 1)))
    }
    expect(commands.length).toBeGreaterThan(8)
  }, 60_000)

  it('names every command and every option that it mentions as they are', async () => {
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder })).stdout
    const help = await helpOf()
    const commands = [...help.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(match => match[1] ?? '')
    const table = read('cli.md').split('## Commands')[1]?.split('\n## ')[0] ?? ''
    const named = [...table.matchAll(/`([a-z]+)[ `]/g)].map(match => match[1])
    expect(commands.filter(command => !named.includes(command))).toEqual([])
    const helps = await Promise.all(commands.map(command => helpOf(command)))
    const options = [...read('cli.md').matchAll(/--[a-z][a-z-]+/g)]
      .map(match => match[0])
      .filter(name => name !== '--help')
    expect(options.filter(option => !helps.some(text => text.includes(option)))).toEqual([])
  }, 60_000)
})

describe('the library guide', () => {
  const page = read('library.md')
  const programs = blocks(page, 'ts')
  const prints = blocks(page, 'text')

  it.each(programs.map((program, at) => ({ at, program, printed: prints[at] })))(
    'shows what program $at prints',
    async ({ at, program, printed }) => {
      const file = join(folder, `program-${at}.ts`)
      writeFileSync(file, program.replace("'querent'", `'${new URL('../../src/index.ts', import.meta.url)}'`))
      expect(await run(process.execPath, [file], {})).toBe(printed)
    },
  )
})
