/** A server as users start it: a process of its own, on a free port. `serveInProcess` of in-process.ts costs less. */
import type { ChildProcess } from 'node:child_process'
import { ended, start } from './command.ts'

export interface Serving {
  readonly url: string
  /** What it has written on standard error. */
  stderr(): string
  /** Tells it to end. Resolves to its exit code. */
  end(): Promise<number | null>
}

export interface ServingProcess extends Serving {
  readonly child: ChildProcess
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** `args` begin with `serve`; a port among them gives way to `port`, which is a free one where it is 0. */
export async function startServer(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  port = '0',
): Promise<ServingProcess> {
  return servingOf(start([...args, '--port', port], { cwd, env }))
}

/** When it listens. */
export async function servingOf(child: ChildProcess): Promise<ServingProcess> {
  const over = ended(child)
  let stderr = ''
  const listening = Promise.withResolvers<string>()
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (part: string) => {
    stderr += part
    const url = /listens on ((?:http|unix):\S+)\n/.exec(stderr)?.[1]
    if (url !== undefined) listening.resolve(url)
  })
  void over.then(code => listening.reject(new Error(`the server ended with ${code}: ${stderr}`)))
  const url = await listening.promise
  return {
    url,
    child,
    stderr: () => stderr,
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return over
    },
  }
}
