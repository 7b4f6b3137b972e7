/** A server of the home, seen from the process that measures it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What a server says of itself; bytes, milliseconds. */
export interface Look {
  readonly rss: number
  readonly heapUsed: number
  readonly arrayBuffers: number
  /** Since it began. */
  readonly cpuMs: number
}

export interface Serving extends AsyncDisposable {
  readonly url: string
  /** Collects garbage first. */
  look(): Promise<Look>
  /** Milliseconds that the kernel's floor takes there now. */
  floor(): Promise<number>
}

export async function startServing({ home }: { readonly home: string }): Promise<Serving> {
  const file = fileURLToPath(new URL('./server.ts', import.meta.url))
  const child = fork(file, [home], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = (await said(child)) as string
  const answered = async (order: string): Promise<unknown> => {
    const answer = said(child)
    child.send(order)
    return await answer
  }
  return {
    url,
    look: async () => (await answered('look')) as Look,
    floor: async () => (await answered('floor')) as number,
    [Symbol.asyncDispose]: async () => {
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    },
  }
}

async function said(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ])
    return message
  } finally {
    over.abort()
  }
}
