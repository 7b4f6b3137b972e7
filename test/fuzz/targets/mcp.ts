/**
 * The MCP interface as a process, over standard input and output: whatever lines come, it answers in lines of JSON-RPC, goes on
 * answering, and reports no bug.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import { commandLine, ended, environment, querent } from '../../support/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { OWNER_NAME } from '../calls/call.ts'
import { SEED_CALLS } from '../calls/seed-calls.ts'
import { isObject, linesNear, type Target, wireText } from '../inputs.ts'
import { must } from '../oracles.ts'

const HELLO: JsonObject = {
  ...{ jsonrpc: '2.0', id: 'hello', method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
}
const READY: JsonObject = { jsonrpc: '2.0', method: 'notifications/initialized' }

function tool(name: string, args: Json): JsonObject {
  return { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } }
}

/** Some are no tools, and refused as such. */
const CALLS = SEED_CALLS.filter(({ operation, viewer }) => viewer !== OWNER_NAME || operation === 'put').map(call =>
  tool(call.operation.replaceAll('.', '_'), call.input),
)
const OTHERS: readonly Json[] = [
  { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } },
  { jsonrpc: '2.0', id: 1, method: 'resources/list' },
  { jsonrpc: '2.0', id: null, method: 'ping' },
  { jsonrpc: '2.0', id: 1.5, method: 'logging/setLevel', params: { level: 'debug' } },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'x' } },
  { jsonrpc: '2.0', id: 3, result: {} },
  [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
  'not an object',
  7,
]

export const mcp: Target<readonly Json[]> = {
  near: good => linesNear(good, [...CALLS, ...OTHERS, HELLO, READY], ['query', 'fox', 'tools/call', 'ping', '2.0']),
  seeds: [...CALLS.map(call => [call]), OTHERS, [HELLO, HELLO]],
  lifetime: 400,
  open: async () => {
    const place = tempFolder()
    await querent(['init'], { cwd: place.path })
    const entries = [{ id: 'fox', content: 'The quick fox.' }]
    await querent(['call', 'put', JSON.stringify({ entries })], { cwd: place.path })
    const server = new Server(place.path)
    await server.begin()
    return {
      try: lines => server.send(lines),
      async close() {
        await server.end()
        rmSync(place.path, { recursive: true, force: true })
      },
    }
  },
}

class Server {
  readonly #child: ChildProcess
  #said = ''
  #complained = ''
  #pings = 0
  #pending: { readonly id: string; readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null
  #wrong: Error | null = null

  constructor(folder: string) {
    const [command, args] = commandLine(['mcp'])
    this.#child = spawn(command, args, { cwd: folder, env: environment() })
    this.#child.stdout?.setEncoding('utf8').on('data', part => this.#hear(part))
    this.#child.stderr?.setEncoding('utf8').on('data', part => {
      this.#complained += part
    })
    this.#child.stdin?.on('error', () => {})
    this.#child.once('exit', code => this.#fail(new Error(`the server ended with ${code}: ${this.#complained}`)))
  }

  async begin(): Promise<void> {
    this.#write(HELLO)
    this.#write(READY)
    await this.#ping()
  }

  /** Then it must answer a ping. */
  async send(lines: readonly Json[]): Promise<void> {
    for (const line of lines) this.#write(line)
    await this.#ping()
    if (this.#complained.includes('bug in request')) {
      const error = new Error(this.#complained.split('\n', 1)[0])
      error.stack = this.#complained
      throw error
    }
  }

  async end(): Promise<void> {
    this.#child.removeAllListeners('exit')
    this.#child.stdin?.end()
    if (this.#child.exitCode === null) await ended(this.#child)
  }

  #write(message: Json): void {
    this.#child.stdin?.write(`${wireText(message)}\n`)
  }

  #ping(): Promise<void> {
    const id = `ping ${++this.#pings}`
    return new Promise((resolve, reject) => {
      if (this.#wrong !== null) return reject(this.#wrong)
      this.#pending = { id, resolve, reject }
      this.#write({ jsonrpc: '2.0', id, method: 'ping' })
    })
  }

  #hear(part: string): void {
    const lines = (this.#said + part).split('\n')
    this.#said = lines.pop() ?? ''
    for (const line of lines) this.#read(line)
  }

  #read(line: string): void {
    try {
      const message = JSON.parse(line) as Json
      must(isObject(message) && message['jsonrpc'] === '2.0', `not JSON-RPC: ${line.slice(0, 200)}`)
      const { error, result } = message
      // The SDK's own number for parameters that it cannot read; then its message is a list.
      const isBug = isObject(error) && error['code'] === -32603 && !String(error['message']).startsWith('[')
      must(!isBug, `an internal error: ${line.slice(0, 500)}`)
      must(!JSON.stringify(result ?? '').includes('\\"code\\":\\"internal\\"'), `a bug: ${line.slice(0, 500)}`)
      if (message['id'] === this.#pending?.id) this.#pending?.resolve()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #fail(error: Error): void {
    this.#wrong ??= error
    this.#pending?.reject(error)
  }
}
