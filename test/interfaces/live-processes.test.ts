/** Live queries among processes: some watch, others write, and servers go and come back. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'

let folder = ''
let notes = 0
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-live-'))
  await note('Honey keeps for centuries.', 'honey')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Written by an engine of its own, in another process than those who watch. */
async function note(content: string, id = `note-${++notes}`): Promise<string> {
  const { status, stdout } = await querentHere(['call', 'put', '-'], {
    cwd: folder,
    stdin: JSON.stringify({ entries: [{ id, content }] }),
    env: { QUERENT_HOME: join(folder, '.querent') },
  })
  expect({ status, stdout }).toMatchObject({ status: 0 })
  return id
}

/** A process, and what it prints. */
class Running {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[]) {
    this.child = start(args, { cwd: folder, env: { QUERENT_HOME: join(folder, '.querent') } })
    this.ended = ended(this.child)
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]?.setEncoding('utf8')
      this.child[name]?.on('data', (part: string) => {
        this[name] += part
      })
    }
  }

  /** Waits until it has printed what matches; fails when it ends before. */
  async printed(what: RegExp, where: 'stdout' | 'stderr' = 'stdout'): Promise<string> {
    for (;;) {
      const match = what.exec(this[where])
      if (match !== null) return match[1] ?? match[0]
      if (this.child.exitCode !== null)
        throw new Error(`ended with ${this.child.exitCode}: ${this.stdout}${this.stderr}`)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }

  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.child.kill(signal)
    return this.ended
  }
}

interface Event {
  readonly seq: number
  readonly type: string
  readonly id: string
  readonly reason: string
  readonly resume_token: string
}

function eventsIn(lines: string): readonly Event[] {
  return lines
    .trim()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Event)
}

const reported = (events: readonly Event[]): readonly string[] =>
  events.map(({ seq, type, id, reason }) => `${seq} ${type} ${id} ${reason}`)

const SOON = ['--debounce', '0']

describe('querent watch', () => {
  it('prints a line an event for people; ends on SIGTERM as well', async () => {
    const id = await note('Wax melts.')
    const watcher = new Running(['watch', 'wax', ...SOON])
    await watcher.printed(/wax/i)
    await querentHere(['delete', id], { cwd: folder })
    await watcher.printed(/removed/)
    expect(await watcher.end('SIGTERM')).toBe(0)
    const lines = watcher.stdout.split('\n')
    expect(lines[0]).toMatch(
      new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z {2}added {5}${id} {2}.*Wax melts\\..* {2}It was `),
    )
    expect(lines[1]).toMatch(new RegExp(`^\\S+ {2}removed {3}${id} {2}It is no longer available\\.$`))
    expect(lines).toHaveLength(3)
  })

  it('tells only what it is asked for', async () => {
    const one = await note('Amber glows.')
    const flags = ['--no-initial', '--no-removals', '--words', '--limit', '5']
    const watcher = new Running(['watch', 'amber', '--json', ...SOON, ...flags, '--count', '1'])
    await watcher.printed(/watching/, 'stderr')
    await querentHere(['delete', one], { cwd: folder })
    const two = await note('Amber, again.')
    expect(await watcher.ended).toBe(0)
    expect(reported(eventsIn(watcher.stdout))).toEqual([`1 added ${two} new_match`])
  })

  it('says what is wrong, with the codes of other commands', async () => {
    const run = (...args: readonly string[]) => querentHere(['watch', 'honey', ...args], { cwd: folder })
    expect(await run('--debounce', '99999')).toMatchObject({ status: 2, stdout: '' })
    expect(await run('--resume', 'nonsense', '--json')).toMatchObject({
      status: 2,
      stdout: expect.stringMatching(/^\{"error":\{"code":"resume_invalid",.*\}\n$/),
    })
    expect(await run('--count', '0')).toMatchObject({ status: 2, stderr: expect.stringContaining('--count') })
    expect(await run('--lens', 'nope')).toMatchObject({ status: 2, stderr: expect.stringContaining('nope') })
  })
})

interface Sent {
  readonly event: string
  readonly id: string | undefined
  readonly data: Event
}

/** Server-sent events of a connection, one by one. */
class Connection implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>
  readonly #gone: AbortController
  #text = ''

  private constructor(reader: ReadableStreamDefaultReader<string>, gone: AbortController) {
    this.#reader = reader
    this.#gone = gone
  }

  static async open(url: string, input: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Connection> {
    const gone = new AbortController()
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(input),
      headers: { accept: 'text/event-stream', ...headers },
      signal: gone.signal,
    })
    expect(response.status).toBe(200)
    if (response.body === null) throw new Error('no body')
    return new Connection(response.body.pipeThrough(new TextDecoderStream()).getReader(), gone)
  }

  /** Undefined: the stream has ended. */
  async next(): Promise<Sent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split('\n')
        this.#text = this.#text.slice(end + 2)
        const field = (name: string) => lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const [event, data] = [field('event'), field('data')]
        if (event !== undefined && data !== undefined)
          return { event, id: field('id'), data: JSON.parse(data) as Event }
        continue
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += value
    }
  }

  async take(count: number): Promise<readonly Sent[]> {
    const sent: Sent[] = []
    while (sent.length < count) {
      const one = await this.next()
      if (one === undefined) throw new Error(`ended after ${JSON.stringify(sent)}`)
      sent.push(one)
    }
    return sent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gone.abort()
    await this.#reader.cancel().catch(() => {})
  }
}

async function serving(operation: string): Promise<{ readonly server: Running; readonly url: string }> {
  const server = new Running(['serve', '--port', '0'])
  return { server, url: `${await server.printed(/listens on (\S+)\n/, 'stderr')}/v1/ops/${operation}` }
}

/** Each operation that watches: how it is asked over HTTP and by command, and how another process writes what it finds. */
const WATCHES = [
  {
    operation: 'watch',
    input: (text: string) => ({ text, debounce_ms: 0 }),
    command: (text: string) => ['watch', text],
    put: (content: string, id: string) => note(content, id),
    remove: (id: string) => querentHere(['delete', id], { cwd: folder }),
    invalid: { error: { code: 'resume_invalid' } },
  },
  {
    operation: 'beliefs.watch',
    input: (text: string) => ({ query: { semantic: text }, options: { debounce_ms: 0 } }),
    command: (text: string) => ['beliefs', 'watch', text, '--local'],
    put: async (content: string, id: string) => {
      const done = await querentHere(['beliefs', 'put', content, '--id', id, '--no-wait'], { cwd: folder })
      expect(done).toMatchObject({ status: 0, stderr: '' })
    },
    remove: (id: string) => querentHere(['beliefs', 'delete', id], { cwd: folder }),
    invalid: { error: { code: 'INVALID_QUERY', details: { reason: 'resume_invalid' } } },
  },
] as const

describe.each(WATCHES)('$operation', ({ operation, input, command, put, remove, invalid }) => {
  it('BQ-165: sends over HTTP events that other processes cause, and goes on when the server has come back.', async () => {
    const [one, two, three] = [`${operation} one`, `${operation} two`, `${operation} three`]
    await put('Granite is hard.', one)
    const first = await serving(operation)
    let last = ''
    {
      await using connection = await Connection.open(first.url, input('granite'))
      const [head, initial] = await connection.take(2)
      expect(head).toMatchObject({ event: 'subscribed', id: expect.any(String), data: { began: 'anew' } })
      await put('Granite is speckled.', two)
      const [added] = await connection.take(1)
      expect(reported([initial?.data, added?.data] as readonly Event[])).toEqual([
        `1 added ${one} initial`,
        `2 added ${two} new_match`,
      ])
      expect([initial?.event, added?.id]).toEqual(['added', added?.data.resume_token])
      last = added?.id ?? ''
      // It ends the stream, at once and without a failure.
      expect(await first.server.end('SIGTERM')).toBe(0)
      expect(await connection.next()).toBe(undefined)
    }
    await remove(one)
    await put('Granite once more.', three)
    const second = await serving(operation)
    await using connection = await Connection.open(second.url, input('granite'), { 'last-event-id': last })
    const [head, ...events] = await connection.take(3)
    expect(head?.data).toMatchObject({ began: 'continued' })
    expect(reported(events.map(({ data }) => data))).toEqual([
      `3 removed ${one} unavailable`,
      `4 added ${three} new_match`,
    ])
    const headers = { accept: 'text/event-stream', 'last-event-id': last }
    const refused = await fetch(second.url, { method: 'POST', body: JSON.stringify(input('basalt')), headers })
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({ status: 400, body: invalid })
    await second.server.end('SIGTERM')
  })

  it('prints as a command what another process writes and takes back, and goes on later from where it ended.', async () => {
    const [one, two] = [`${operation} obsidian`, `${operation} sharp`]
    const args = [...command('obsidian'), ...SOON]
    const watcher = new Running([...args, '--json'])
    await watcher.printed(/watching/, 'stderr')
    await put('Obsidian is glass.', one)
    await watcher.printed(/"new_match"/)
    await remove(one)
    await watcher.printed(/"removed"/)
    expect(await watcher.end()).toBe(0)
    const events = eventsIn(watcher.stdout)
    // Beliefs that were there before may match a little.
    const news = events.filter(({ id }) => id === one).map(({ type, reason }) => `${type} ${reason}`)
    expect(news).toEqual(['added new_match', 'removed unavailable'])
    const token = events.at(-1)?.resume_token ?? ''
    expect(watcher.stderr).toBe(`querent: watching; Ctrl-C ends\nquerent: to continue from here: --resume ${token}\n`)
    await put('Obsidian is sharp.', two)
    const later = new Running([...args, '--resume', token, '--count', '1'])
    expect(await later.ended).toBe(0)
    expect(later.stdout).toMatch(/^\S+ {2}added {5}\S+ \S+ {2}.*Obsidian is sharp\..* {2}It is new and matches\.\n$/)
    const refused = await querentHere([...args, '--json', '--resume', `${token}x`], { cwd: folder })
    expect(refused).toMatchObject({ status: 2 })
    expect(JSON.parse(refused.stdout || refused.stderr)).toMatchObject(invalid)
  })
})
