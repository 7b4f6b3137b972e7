/** A process of its own that a benchmark starts: it sends one message when it is ready, and then an answer to each order. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess
  /** What it sent when it was ready. */
  readonly ready: unknown
  /** One order at a time. Rejects where the process ends before it answers. */
  answer(order: object | string): Promise<unknown>
}

/** The module must end when its channel is closed. It may collect garbage (`globalThis.gc`). */
export async function startChild(module: URL, args: readonly string[]): Promise<Child> {
  const child = fork(module, args, {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return {
    process: child,
    ready: await messageOf(child),
    answer: async order => {
      const answer = messageOf(child)
      child.send(order)
      return await answer
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    },
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
    ])
    return message
  } finally {
    over.abort()
  }
}
