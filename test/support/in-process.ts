/** The command line in the process of the test: quicker than a process, with streams that can pretend to be a terminal. */
import { PassThrough, type Readable } from 'node:stream'
import { main } from '../../src/interfaces/main.ts'
import { environment, type Run, type RunOptions } from './command.ts'

export interface InProcessOptions {
  readonly workingFolder: string
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  /** Whether standard output and standard error are terminals. */
  readonly terminal?: boolean | undefined
}

/** The engine reads its own settings (QUERENT_HOME, QUERENT_EMBEDDER) from the environment of the test's process. */
export async function runInProcess(args: readonly string[], options: InProcessOptions): Promise<Run> {
  const { workingFolder, env = {}, stdin = '', terminal = false } = options
  const output = { isTTY: terminal, columns: 100 }
  const stdout = Object.assign(new PassThrough(), output)
  const stderr = Object.assign(new PassThrough(), output)
  const input = Object.assign(new PassThrough(), { isTTY: false })
  input.end(stdin)
  const streams = { stdin: input, stdout, stderr }
  const [status, out, err] = await Promise.all([
    main(args, { ...streams, env, workingFolder }).finally(() => {
      stdout.end()
      stderr.end()
    }),
    gather(stdout),
    gather(stderr),
  ])
  return { status, stdout: out, stderr: err }
}

let turn: Promise<unknown> = Promise.resolve()

/**
 * As `querent` of command.ts, in the process of the test. One runs at a time: for as long as it runs, the working folder and
 * the environment of this process are its own.
 */
export function querentHere(args: readonly string[], options: Omit<RunOptions, 'through'>): Promise<Run> {
  const run = turn.then(() => runInPlace(args, options))
  turn = run.catch(() => undefined)
  return run
}

async function runInPlace(args: readonly string[], { cwd, env, stdin }: RunOptions): Promise<Run> {
  const outer = { folder: process.cwd(), environment: { ...process.env } }
  const inner = environment(env)
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (name.startsWith('QUERENT_')) delete process.env[name]
  Object.assign(process.env, inner)
  try {
    return await runInProcess(args, { workingFolder: cwd, env: inner, stdin })
  } finally {
    process.chdir(outer.folder)
    for (const name of Object.keys(inner)) if (!(name in outer.environment)) delete process.env[name]
    Object.assign(process.env, outer.environment)
  }
}

async function gather(stream: Readable): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const part of stream) text += part
  return text
}
