/** A server of the home, seen from the process that measures it. */
import { startChild } from '../child.ts'

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
  const child = await startChild(new URL('./server.ts', import.meta.url), [home])
  return {
    url: child.ready as string,
    look: async () => (await child.answer('look')) as Look,
    floor: async () => (await child.answer('floor')) as number,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
