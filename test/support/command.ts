/** The command as users run it: a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { builtCommand } from './built-command.ts'
import { commandNode } from './node-version.ts'

let program: string | undefined

export interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | undefined
}

export interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs to the end. Words only and nothing inherited from the environment of the tests, unless `env` says so. */
export async function querent(args: readonly string[], options: RunOptions): Promise<Run> {
  const child = start(args, options)
  child.stdin?.on('error', () => {}) // it may end without reading
  child.stdin?.end(options.stdin ?? '')
  const [stdout, stderr, status] = await Promise.all([readAll(child.stdout), readAll(child.stderr), ended(child)])
  return { status, stdout, stderr }
}

export function start(args: readonly string[], { cwd, env }: RunOptions): ChildProcess {
  return spawn(commandNode(), [built(), ...args], { cwd, env: environment(env) })
}

export function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    QUERENT_EMBEDDER: 'none',
    // Their home is none, so the command would keep nothing.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    ...more,
  }
}

/** The command line of the program, for those who start it themselves. */
export function commandLine(args: readonly string[]): readonly [string, readonly string[]] {
  return [commandNode(), [built(), ...args]]
}

/** Built when the first process is started. */
function built(): string {
  program ??= builtCommand()
  return program
}

export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('close', resolve))
}

async function readAll(stream: ChildProcess['stdout']): Promise<string> {
  let text = ''
  stream?.setEncoding('utf8')
  for await (const part of stream ?? []) text += part
  return text
}
