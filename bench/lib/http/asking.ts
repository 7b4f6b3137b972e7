/** Clients that ask a server over connections that they keep: each sends its next request when the last one is answered. */
import { Agent, request } from 'node:http'

export interface Asked {
  readonly path: string
  /** As whom the local owner asks, who no limits of use are for. */
  readonly viewer: string
  readonly body: object
}

/** Milliseconds; of one request, from its sending to the last byte of the answer. */
export interface Answered {
  readonly ms: number
  readonly status: number
  readonly bytes: number
}

export interface Load {
  readonly answers: readonly Answered[]
  readonly seconds: number
}

export interface LoadOptions {
  readonly url: string
  readonly connections: number
  /** The n-th request of all. Null: no more. */
  readonly next: (n: number) => Asked | null
}

/** Rejects when a connection fails; any status is an answer. */
export async function ask({ url, connections, next }: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const answers: Answered[] = []
  let sent = 0
  const client = async (): Promise<void> => {
    for (let asked = next(sent++); asked !== null; asked = next(sent++)) answers.push(await send(agent, url, asked))
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  return { answers, seconds }
}

/** Of all its answers, milliseconds. Throws where one was refused. */
export function times({ answers }: Load): readonly number[] {
  const refused = answers.find(({ status }) => status !== 200)
  if (refused !== undefined) throw new Error(`a request was answered with status ${refused.status}`)
  return answers.map(({ ms }) => ms)
}

function send(agent: Agent, url: string, { path, viewer, body }: Asked): Promise<Answered> {
  const text = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'querent-viewer': viewer,
  }
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const sent = request(`${url}${path}`, { method: 'POST', agent, headers }, response => {
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
      })
      response.on('error', reject)
      response.on('end', () => resolve({ ms: performance.now() - started, status: response.statusCode ?? 0, bytes }))
    })
    sent.on('error', reject)
    sent.end(text)
  })
}
