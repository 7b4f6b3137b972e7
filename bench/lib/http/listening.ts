/** Clients that hold live queries open as server-sent events, each on a connection of its own. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { LiveEvent } from '../../../src/model/live.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'

/** An entry that came into an answer. */
export interface Heard {
  readonly id: string
  /** By `performance.now()`. */
  readonly at: number
}

export class Listeners implements Disposable {
  readonly heard: Heard[] = []
  readonly #url: string
  readonly #agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  readonly #streams = new Set<IncomingMessage>()

  constructor(url: string) {
    this.#url = url
  }

  /** How many are connected. */
  get count(): number {
    return this.#streams.size
  }

  /** Resolves once the server has begun to answer; rejects where that is not a stream. */
  open(viewer: string, question: QueryInput): Promise<void> {
    const options = { debounce_ms: 0, max_events_per_minute: 600, notify_on_connect: false }
    const body = JSON.stringify({ ...question, ...options })
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'text/event-stream',
      'querent-viewer': viewer,
    }
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#url}/v1/watch`, { method: 'POST', agent: this.#agent, headers }, stream => {
        if (stream.statusCode !== 200) return reject(new Error(`a subscriber was answered with ${stream.statusCode}`))
        this.#listen(stream)
        resolve()
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  [Symbol.dispose](): void {
    for (const stream of this.#streams) stream.destroy()
    this.#agent.destroy()
  }

  #listen(stream: IncomingMessage): void {
    this.#streams.add(stream)
    stream.on('error', () => {})
    stream.on('close', () => this.#streams.delete(stream))
    const parser = createParser({
      onEvent: ({ data }) => {
        const { type, id } = JSON.parse(data) as Partial<LiveEvent>
        if (type === 'added' && id !== undefined) this.heard.push({ id, at: performance.now() })
      },
    })
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => parser.feed(text))
  }
}
