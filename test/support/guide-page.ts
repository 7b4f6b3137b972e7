/** Pages of the guide as tests read them: blocks of a language, what a block shows, and a console session run by a shell. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { builtCommand } from './built-command.ts'
import { commandLine, environment } from './command.ts'
import { querentHere } from './in-process.ts'
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

/** A command of this program alone, without anything that only a shell understands, and which does not say how it was started. */
const PLAIN = /^querent(?! mcp install)(?: (?:'[^']*'|"[^"$`\\]*"|[^\s'"|&;<>$`*?~#()\\]+))*$/

/**
 * Runs every `$ command` of the page's console blocks, one after the other. Commands of this program alone run in the process of
 * the test, where that has the version of Node that is tested; all others in a shell: those that follow each other in the same
 * one. `$?` is the exit code of the command before.
 */
export async function runSession(
  page: string,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly SessionStep[]> {
  const sessions = blocks(page, 'console').join('').split(/^\$ /m).slice(1)
  const { env, shell } = shellIn(folder)
  const now = { QUERENT_NOW: '2026-03-01T12:00:00Z', ...more }
  const isHere = commandNode() === process.execPath
  const steps: SessionStep[] = []
  let status = 0
  let others: Omit<SessionStep, 'printed'>[] = []
  const runOthers = async (): Promise<void> => {
    if (others.length === 0) return
    const lines = others.map(({ command }) => `(exit $code); ${command}; code=$?; echo '${MARK}'`)
    const script = [`code=${status}`, ...lines, 'exit $code'].join('\n')
    const ran = await run(shell, ['-c', script], folder, { ...env, ...now })
    const outputs = ran.printed.split(`${MARK}\n`)
    steps.push(...others.map((step, at) => ({ ...step, printed: outputs[at] ?? '' })))
    status = ran.status
    others = []
  }
  for (const session of sessions) {
    const end = session.indexOf('\n')
    const [command, shown] = [session.slice(0, end), session.slice(end + 1)]
    if (!isHere || !PLAIN.test(command)) {
      others.push({ command, shown })
      continue
    }
    await runOthers()
    const args = [...command.matchAll(/ (?:'([^']*)'|"([^"]*)"|([^\s'"]+))/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
    const printed: string[] = []
    status = (await querentHere(args, { cwd: folder, env: now, printed })).status ?? 0
    steps.push({ command, shown, printed: printed.join('') })
  }
  await runOthers()
  return steps
}

const MARK = '--- end of a command ---'

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
export async function printedBy(
  program: string,
  folder: string,
  name = 'program.ts',
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const file = join(folder, name)
  const library = join(dirname(builtCommand()), '../dist/command/library.js')
  writeFileSync(file, program.replace("'querent'", `'${library}'`))
  return (await run(commandNode(), [file], folder, env)).printed
}

/** Both streams, as they come. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly printed: string; readonly status: number }> {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', part => {
        printed += part
      })
    }
    child.once('close', status => resolve({ printed, status: status ?? 1 }))
  })
}
