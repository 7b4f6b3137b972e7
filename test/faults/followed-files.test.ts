/**
 * Notes that another program makes, edits, renames and deletes while they are served, and while nobody serves them (QE-012): whenever it
 * pauses, the server answers as a fresh store does. `QUERENT_LONG=1`: 500 notes for ten minutes.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { seededUniform } from '../support/seeded.ts'
import { type Serving, startServer } from '../support/serving.ts'
import { tempFolder } from '../support/temp-folder.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const SHAPE = LONG ? { notes: 500, ms: 600_000, acts: 120 } : { notes: 60, ms: 0, acts: 25 }
/** Rounds of the short form: the server goes on, is killed, is ended. */
const ROUNDS = 3

const WORDS = 'amber birch cedar dune elder fern gorse heath iris juniper kelp larch moss nettle oak pine'.split(' ')
const FOLDERS = ['', 'deep', 'deep/er', 'wide']

/** Changes files as a person, an editor or a script does. */
class Author {
  readonly #folder: string
  readonly #random: () => number
  #count = 0

  constructor(folder: string, random: () => number) {
    this.#folder = folder
    this.#random = random
    for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true })
  }

  get notes(): readonly string[] {
    return readdirSync(this.#folder, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.md'))
  }

  create(): void {
    writeFileSync(this.#at(this.#newPath()), this.#text())
  }

  act(): void {
    const { notes } = this
    const path = this.#oneOf(notes)
    const kind = Math.floor(this.#random() * 7)
    if (notes.length < SHAPE.notes || kind === 0) this.create()
    else if (kind === 1) rmSync(this.#at(path))
    else if (kind === 2 || kind === 3) renameSync(this.#at(path), this.#at(this.#newPath()))
    else if (kind === 4) this.#saveAside(path)
    else if (kind === 5 && this.#random() < 0.2) this.#renameFolder()
    else writeFileSync(this.#at(path), this.#text())
  }

  /** As editors save: a new file takes the place of the old one. */
  #saveAside(path: string): void {
    writeFileSync(this.#at('saved.tmp'), this.#text())
    renameSync(this.#at('saved.tmp'), this.#at(path))
  }

  /** And back at its next turn. */
  #renameFolder(): void {
    const [from, to] = readdirSync(this.#folder).includes('wide') ? ['wide', 'far'] : ['far', 'wide']
    renameSync(this.#at(from), this.#at(to))
  }

  #at(path: string): string {
    return join(this.#folder, path)
  }

  #newPath(): string {
    const folders = FOLDERS.filter(name => name !== 'wide')
    return join(this.#oneOf(folders), `${this.#oneOf(WORDS)}-${this.#count++}.md`)
  }

  #text(): string {
    const words = Array.from({ length: 10 + this.#random() * 80 }, () => this.#oneOf(WORDS)).join(' ')
    const link = this.#oneOf([...this.notes, 'nowhere.md']).replace(/^.*[/\\]|\.md$/g, '')
    return `# ${this.#oneOf(WORDS)} ${this.#count++}\n\n${words}\n\nSee [[${link}]]. #${this.#oneOf(WORDS)}\n`
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T
  }
}

interface Shown {
  readonly origin: string
  readonly title: string
  readonly score: number
  readonly tags: readonly string[]
}

type Question = QueryInput & { readonly limit: number }
type Ask = (input: Question) => Promise<{ readonly items: readonly Shown[] }>

const QUESTIONS: readonly Question[] = [
  ...WORDS.map(text => ({ text, limit: 50 })),
  ...WORDS.map(word => ({ text: `tag:${word}`, limit: 50 })),
  { text: 'amber fern -oak', limit: 50 },
]

/** Without what a file keeps when it is renamed (its id), and in an order that does not depend on it. */
async function answersOf(ask: Ask): Promise<readonly (readonly string[])[]> {
  const answers: (readonly string[])[] = []
  for (const question of QUESTIONS) {
    const { items } = await ask(question)
    const last = items.length === question.limit ? items.at(-1)?.score : undefined
    // Of equal scores at the end of a page, ids decide which are on it.
    const kept = items.filter(({ score }) => score !== last)
    answers.push(kept.map(({ origin, title, score, tags }) => `${score.toFixed(6)} ${origin} ${title} ${tags}`).sort())
  }
  return answers
}

it(`${SHAPE.notes} notes that change all the time are answered as a fresh store answers them (QE-012)`, {
  timeout: SHAPE.ms + 300_000,
}, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const notes = join(folder.path, 'notes')
  const seed = LONG ? Date.now() & 0xffff : 7
  const random = seededUniform(seed)
  const author = new Author(notes, random)
  for (let at = 0; at < SHAPE.notes; at++) author.create()
  const env = { QUERENT_HOME: join(folder.path, 'home'), QUERENT_EMBEDDER: 'none' }
  const serve = () => startServer(['serve', 'notes'], folder.path, env)
  let server = await serve()
  onTestFinished(() => void server.end('SIGKILL'))
  const figures = { seed, rounds: 0, acts: 0, restarts: 0, answers: 0 }
  const change = async (acts: number, pauseMs: number) => {
    for (let act = 0; act < acts; act++) {
      author.act()
      figures.acts++
      await new Promise(resolve => setTimeout(resolve, random() * pauseMs))
    }
  }
  const ends = Date.now() + SHAPE.ms
  for (; figures.rounds < ROUNDS || Date.now() < ends; figures.rounds++) {
    await change(SHAPE.acts, LONG ? 150 : 40)
    if (figures.rounds % 3 > 0) {
      await server.end(figures.rounds % 3 === 1 ? 'SIGKILL' : 'SIGTERM')
      await change(SHAPE.acts / 5, 0)
      server = await serve()
      figures.restarts++
    }
    await settled(server)
    await using fresh = await openEngine({ store: 'memory', embedder: 'none', background: false })
    await fresh.add({ paths: [notes] })
    const expected = await answersOf(question => fresh.query(question) as Promise<{ readonly items: readonly Shown[] }>)
    expect(await answersOf(question => call(server, 'query', question)), JSON.stringify(figures)).toEqual(expected)
    const count = async (status: Promise<object>) => ((await status) as { readonly entries: number }).entries
    expect(await count(call(server, 'status', {}))).toBe(await count(fresh.status()))
    figures.answers += expected.flat().length
  }
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  expect(figures.restarts).toBeGreaterThan(0)
  expect(figures.answers).toBeGreaterThan(SHAPE.notes)
})

async function call<T>({ url }: Serving, operation: string, input: object): Promise<T> {
  const response = await fetch(`${url}/v1/ops/${operation}`, { method: 'POST', body: JSON.stringify(input) })
  return (await response.json()) as T
}

/** When the server has read what changed. */
async function settled(server: Serving): Promise<void> {
  const isChanged = async () => {
    const { paths } = await call<{ paths: readonly { is_changed: boolean }[] }>(server, 'status', {})
    return paths.some(path => path.is_changed)
  }
  await expect.poll(isChanged, { timeout: 300_000, interval: 200 }).toBe(false)
}
