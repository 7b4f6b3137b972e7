/** Pages of the guide as tests read them: blocks of a language, what a block shows, and a console session run by a shell. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { builtCommand } from './built-command.ts'
import { commandLine, environment } from './command.ts'
import { commandNode } from './node-version.ts'

/** Commands over HTTP are shown with it. */
export const hasCurl: boolean = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0

export function guidePage(name: string): string {
  return readFileSync(new URL(`../../docs/guide/${name}`, import.meta.url), 'utf8')
}

/** Blocks of one language, without their fences. */
export function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(match => match[1] ?? '')
}

/** `…` in what the guide shows stands for anything; a line that is only that stands for any number of lines. */
export function pattern(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n')
  const source = lines.map(line => (line.trim() === '…' ? '.*(\\n.*)*' : line.split('…').map(literal).join('.*')))
  return new RegExp(`^${source.join('\\n')}\\n*$`)
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

export interface SessionStep {
  readonly command: string
  readonly shown: string
  readonly printed: string
}

/** Runs every `$ command` of the page's console blocks in one shell (so that `$?` is the exit code of the one before). */
export async function runSession(
  page: string,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly SessionStep[]> {
  const sessions = blocks(page, 'console').join('').split(/^\$ /m).slice(1)
  const steps = sessions.map(session => {
    const end = session.indexOf('\n')
    return { command: session.slice(0, end), shown: session.slice(end + 1) }
  })
  const { env, shell } = shellIn(folder)
  const mark = '--- end of a command ---'
  const lines = steps.map(({ command }) => `${command}; code=$?; echo '${mark}'; (exit $code)`)
  const now = { QUERENT_NOW: '2026-03-01T12:00:00Z', ...more }
  const outputs = (await run(shell, ['-c', lines.join('\n')], folder, { ...env, ...now })).split(`${mark}\n`)
  return steps.map((step, at) => ({ ...step, printed: outputs[at] ?? '' }))
}

/** A shell that knows the commands of the pages. */
export function shellIn(folder: string): { readonly shell: string; readonly env: Record<string, string> } {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const [node, [program = '']] = commandLine([])
  const script = (name: string, body: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  script('querent', `exec '${node}' '${program}' "$@"`)
  script('title', `exec '${node}' -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).items[0].title'`)
  return { shell: '/bin/sh', env: environment({ PATH: `${bin}${delimiter}${process.env['PATH']}` }) }
}

/** What a program of the page prints, with the bundled library in its place. */
export function printedBy(
  program: string,
  folder: string,
  name = 'program.ts',
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const file = join(folder, name)
  const library = join(dirname(builtCommand()), '../dist/command/library.js')
  writeFileSync(file, program.replace("'querent'", `'${library}'`))
  return run(commandNode(), [file], folder, env)
}

/** Both streams, as they come. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
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
