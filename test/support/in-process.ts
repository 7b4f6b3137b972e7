/** The command line in the process of the test: quicker than a process, with streams that can pretend to be a terminal. */
import { PassThrough, type Readable } from 'node:stream'
import type { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { runCli } from '../../src/interfaces/cli/cli.ts'
import type { Io, Servers } from '../../src/interfaces/cli/io.ts'
import { main, SERVERS } from '../../src/interfaces/main.ts'
import { oneLens, serveConnection } from '../../src/interfaces/mcp/stdio.ts'
import { makeTools } from '../../src/interfaces/mcp/tools.ts'
import { environment, type Run, type RunOptions } from './command.ts'
import type { Serving } from './serving.ts'

export interface InProcessOptions {
  readonly workingFolder: string
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  /** Whether standard output and standard error are terminals. */
  readonly terminal?: boolean | undefined
  /** Gets what both outputs are given, in its order. */
  readonly printed?: string[] | undefined
}

/** The engine reads its own settings (QUERENT_HOME, QUERENT_EMBEDDER) from the environment of the test's process. */
export async function runInProcess(args: readonly string[], options: InProcessOptions): Promise<Run> {
  const { workingFolder, env = {}, stdin = '', terminal = false, printed = [] } = options
  const output = terminal ? { isTTY: true, columns: 100 } : { isTTY: false }
  const stdout = Object.assign(recording(printed), output)
  const stderr = Object.assign(recording(printed), output)
  const input = Object.assign(new PassThrough(), { isTTY: false })
  input.end(stdin)
  const streams = { stdin: input, stdout, stderr }
  const [status, out, err] = await Promise.all([
    main(args, { ...streams, env, workingFolder }).finally(() => {
      stdout.end()
      stderr.end()
    }),
    readAll(stdout),
    readAll(stderr),
  ])
  return { status, stdout: out, stderr: err }
}

let turn: Promise<unknown> = Promise.resolve()

/** As `querent` of command.ts, in the process of the test. */
export function querentHere(
  args: readonly string[],
  options: RunOptions & Pick<InProcessOptions, 'printed'>,
): Promise<Run> {
  const { cwd: workingFolder, stdin, printed } = options
  return inTurn(options, env => runInProcess(args, { workingFolder, env, stdin, printed }))
}

/** As `startServer` of serving.ts, in the process of the test. */
export function serveInProcess(args: readonly string[], cwd: string, env = {}, port = '0'): Promise<Serving> {
  const stopped = new AbortController()
  const stderr: string[] = []
  return inTurn({ cwd, env }, async inner => {
    const listening = Promise.withResolvers<string>()
    const servers: Servers = {
      ...SERVERS,
      serveHttp: (engine, catalog, options, signal, ready) =>
        SERVERS.serveHttp(engine, catalog, options, AbortSignal.any([signal, stopped.signal]), url => {
          ready(url)
          listening.resolve(url)
        }),
    }
    const run = runCli([...args, '--port', port], servers, serverIo(cwd, inner, stderr))
    void run.then(code => listening.reject(new Error(`the server ended with ${code}: ${stderr.join('')}`)))
    const url = await listening.promise
    const end = (): Promise<number> => {
      stopped.abort()
      return run
    }
    return { url, stderr: () => stderr.join(''), end }
  })
}

/** `querent mcp` with this client, in the process of the test. It ends when the client is closed. */
export function connectHere(client: Client, args: readonly string[], options: RunOptions): Promise<void> {
  const stderr: string[] = []
  return inTurn(options, async inner => {
    const opened = Promise.withResolvers<InMemoryTransport>()
    const closed = Promise.withResolvers<void>()
    const servers: Servers = {
      ...SERVERS,
      serveMcp: async (engine, catalog, { viewer, concise, ...choice }) => {
        const lenses = engine.lenses.map(({ name }) => name)
        const [near, far] = InMemoryTransport.createLinkedPair()
        const options = { viewer, concise, lens: oneLens(choice) }
        const connection = serveConnection(engine, makeTools(catalog, choice, lenses), options, far)
        opened.resolve(near)
        await closed.promise
        await connection.close()
      },
    }
    const run = runCli(['mcp', ...args], servers, serverIo(options.cwd, inner, stderr))
    void run.then(code => opened.reject(new Error(`the server ended with ${code}: ${stderr.join('')}`)))
    const near = await opened.promise
    const close = near.close.bind(near)
    near.close = async () => {
      await close()
      closed.resolve()
      await run
    }
    await client.connect(near)
  })
}

function serverIo(workingFolder: string, env: Readonly<Record<string, string>>, stderr: string[]): Io {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  streams.stdout.resume()
  streams.stderr.setEncoding('utf8').on('data', (part: string) => stderr.push(part))
  const output = { isTTY: false, columns: 100 }
  for (const stream of Object.values(streams)) Object.assign(stream, output)
  return { ...(streams as Pick<Io, 'stdin' | 'stdout' | 'stderr'>), env, workingFolder }
}

/**
 * One at a time: until `act` is over, the working folder and the environment of this process are those of the command. The engine
 * reads its own settings from them while it opens.
 */
function inTurn<T>({ cwd, env }: RunOptions, act: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const run = turn.then(async () => {
    const outer = { folder: process.cwd(), environment: { ...process.env } }
    const inner = environment(env)
    process.chdir(cwd)
    for (const name of Object.keys(process.env)) if (name.startsWith('QUERENT_')) delete process.env[name]
    Object.assign(process.env, inner)
    try {
      return await act(inner)
    } finally {
      process.chdir(outer.folder)
      for (const name of Object.keys(inner)) if (!(name in outer.environment)) delete process.env[name]
      Object.assign(process.env, outer.environment)
    }
  })
  turn = run.catch(() => undefined)
  return run
}

/** Keeps each piece when it is written: two streams hand on what they have in no common order. */
function recording(pieces: string[]): PassThrough {
  const stream = new PassThrough()
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean
  const record = (...given: unknown[]): boolean => {
    pieces.push(typeof given[0] === 'string' ? given[0] : Buffer.from(given[0] as Uint8Array).toString())
    return write(...given)
  }
  return Object.assign(stream, { write: record })
}

async function readAll(stream: Readable): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const part of stream) text += part
  return text
}
