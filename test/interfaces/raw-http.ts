/** A real server process, and clients that write to its sockets whatever they like. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, start } from '../support/command.ts'
import { tempFolder } from '../support/temp-folder.ts'

export interface Server {
  readonly url: string
  readonly port: number
  /** All that it has said of requests and bugs. */
  readonly said: () => string
  kill(signal: NodeJS.Signals): void
  /** Its exit code. */
  readonly over: Promise<number | null>
  end(): Promise<void>
}

/** `querent serve` on a store of its own. */
export async function startServer(
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const home = tempFolder()
  const child = start(['serve', '--port', '0', '--home', `${home.path}/store`, '--log', 'json', ...more], {
    cwd: home.path,
    env,
  })
  let said = ''
  const up = Promise.withResolvers<string>()
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', part => {
    said += part
    const url = /^querent listens on (\S+)$/m.exec(said)?.[1]
    if (url !== undefined) up.resolve(url)
  })
  child.stdout?.resume()
  const over = ended(child)
  void over.then(code => up.reject(new Error(`serve ended with ${code}: ${said}`)))
  const url = await up.promise
  return {
    url,
    port: Number(new URL(url).port),
    said: () => said,
    kill: signal => void child.kill(signal),
    over,
    async end() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await over
      home[Symbol.dispose]()
    },
  }
}

export interface Reply {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** One connection. Text is sent as Latin 1: a byte a letter. */
export class RawClient {
  readonly socket: Socket
  #text = ''
  #isClosed = false
  #changed = Promise.withResolvers<void>()

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', part => {
      this.#text += part.toString('latin1')
      this.#change()
    })
    // A reset is one way to be refused.
    this.socket.on('error', () => {})
    this.socket.once('close', () => {
      this.#isClosed = true
      this.#change()
    })
  }

  get text(): string {
    return this.#text
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  send(text: string): void {
    if (this.socket.writable) this.socket.write(text, 'latin1')
  }

  /** Resolves when so much has come, or all there will be. */
  async until(condition: (text: string) => boolean): Promise<string> {
    while (!(this.#isClosed || condition(this.#text))) await this.#changed.promise
    return this.#text
  }

  /** All that comes until the server closes. */
  closed(): Promise<string> {
    return this.until(() => false)
  }

  /** The first answer that is not an interim one; for those that tell their length, or end with the connection. */
  async reply(): Promise<Reply> {
    await this.until(text => isWhole(text))
    const [head = '', ...rest] = this.#text.split('\r\n\r\n')
    const body = rest.join('\r\n\r\n')
    return { status: Number(head.slice(9, 12)), head, body: body.slice(0, lengthIn(head) ?? body.length) }
  }

  gone(): void {
    this.socket.destroy()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

function isWhole(text: string): boolean {
  const at = text.indexOf('\r\n\r\n')
  if (at < 0) return false
  const length = lengthIn(text.slice(0, at))
  return length === null ? text.endsWith('0\r\n\r\n') : text.length >= at + 4 + length
}

function lengthIn(head: string): number | null {
  const [, length] = /^content-length: (\d+)$/im.exec(head) ?? []
  return length === undefined ? null : Number(length)
}

/** Sends it on a connection of its own. */
export async function ask(port: number, text: string): Promise<Reply> {
  const client = new RawClient(port)
  client.send(text)
  try {
    return await client.reply()
  } finally {
    client.gone()
  }
}

export function get(path: string, headers: readonly string[] = [], host = 'localhost'): string {
  return `GET ${path} HTTP/1.1\r\n${lines([`host: ${host}`, ...headers])}\r\n`
}

export function post(path: string, body: string, headers: readonly string[] = []): string {
  const all = ['host: localhost', ...headers, `content-length: ${body.length}`]
  return `POST ${path} HTTP/1.1\r\n${lines(all)}\r\n${body}`
}

export function lines(headers: readonly string[]): string {
  return headers.map(header => `${header}\r\n`).join('')
}

/** Looks again until it is so; the time limit of the test is the only one. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20)
}

/** A figure of `/metrics`, with the labels that its name bears. */
export async function figure(port: number, name: string): Promise<number> {
  const { body } = await ask(port, get('/metrics', ['connection: close']))
  const line = body.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

/** Nothing is held for anybody but for the requester this. */
export async function isQuiet(port: number): Promise<boolean> {
  const [running, streams, live, connections] = [
    await figure(port, 'querent_http_requests_in_flight'),
    await figure(port, 'querent_http_streams_open'),
    await figure(port, 'querent_live_queries'),
    await figure(port, 'querent_http_connections_open'),
  ]
  return running === 1 && streams === 0 && live === 0 && connections === 1
}
