/**
 * A life of a home in which everything that comes in bears a mark of its own, by every way that text comes in and goes
 * out. Of what went, no mark and no vector may be found; what stays must be, or the search would prove nothing.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../src/base/canonical.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Store } from '../../src/store/store.ts'
import { callOperation } from './beliefs-engine.ts'
import { type Marks, type Thing, WAYS, type Way } from './erasure-ways.ts'
import { type BytesFound, findBytes, markOf, textNeedles, utf8Needle, vectorNeedle } from './find-bytes.ts'
import { TOY_KEY } from './toy-embedder.ts'

interface Marked {
  /** Its name. */
  readonly way: string
  readonly thing: Thing
  /** Of its newest version. */
  marks: readonly string[]
}

export class ErasureStory {
  readonly #random: () => number
  readonly #folder: string
  readonly home: string
  readonly #things: Marked[] = []
  /** Bytes of what is gone, by name. */
  readonly #gone = new Map<string, Uint8Array>()
  engine: Engine

  constructor(random: () => number, folder: string, home: string, engine: Engine) {
    this.#random = random
    this.#folder = folder
    this.home = home
    this.engine = engine
  }

  get gone(): number {
    return this.#gone.size
  }

  /** Something new, changed or removed. */
  async act(): Promise<void> {
    const dice = this.#random()
    const one = this.#things[Math.floor(this.#random() * this.#things.length)]
    if (one === undefined || dice < 0.45) {
      const ways = Object.values(WAYS)
      await this.make(ways[Math.floor(this.#random() * ways.length)] as Way)
    } else if (dice < 0.7) await this.change(one)
    else await this.remove(one)
  }

  async make(way: Way): Promise<Marked> {
    const [made, mark] = this.#marks()
    const one = { way: way.name, thing: await way(this, mark), marks: made }
    this.#things.push(one)
    return one
  }

  /** Nothing where it cannot be changed. */
  async change(one: Marked): Promise<void> {
    if (one.thing.change === undefined) return
    const [marks, vectors] = [one.marks, this.#vectorsOf(one)]
    const [made, mark] = this.#marks()
    await one.thing.change(mark)
    one.marks = made
    this.#forget(marks, vectors)
  }

  async remove(one: Marked): Promise<void> {
    const vectors = this.#vectorsOf(one)
    await one.thing.remove()
    this.#things.splice(this.#things.indexOf(one), 1)
    this.#forget(one.marks, vectors)
  }

  async removeAll(): Promise<void> {
    for (const one of [...this.#things]) await this.remove(one)
  }

  /**
   * What a process that is killed now would leave behind, to be opened by another one. Copied by another process: this one
   * would lose its locks by closing the store's file.
   */
  copyAsIfKilled(): ErasureStory {
    const home = `${this.home}-after-kill`
    const copy = 'require("node:fs").cpSync(process.argv[1], process.argv[2], { recursive: true })'
    execFileSync(process.execPath, ['-e', copy, this.home, home])
    const story = new ErasureStory(this.#random, this.#folder, home, this.engine)
    for (const [name, bytes] of this.#gone) story.#gone.set(name, bytes)
    return story
  }

  /** No longer looks for what is gone so far. */
  begin(): void {
    this.#gone.clear()
  }

  /** Where bytes of what is gone are to be found. */
  leftovers(): readonly BytesFound[] {
    return findBytes([this.home], this.#gone)
  }

  /** Marks of what is there that are not found: the search is blind to them. */
  unseen(): readonly string[] {
    const all = new Map<string, Uint8Array>()
    for (const one of this.#things) {
      for (const mark of one.marks) all.set(`${one.way}: ${mark}`, utf8Needle(mark))
      for (const [name, bytes] of this.#vectorsOf(one)) all.set(`${one.way}: ${name}`, bytes)
    }
    const seen = new Set(findBytes([this.home], all).map(({ what }) => what))
    return [...all.keys()].filter(name => !seen.has(name))
  }

  call(name: string, input: JsonObject, by = 'owner'): Promise<JsonObject> {
    return callOperation(this.engine, name, by, input) as Promise<JsonObject>
  }

  /** Of a call by path, its result; such a call never rejects. */
  async context(path: string, input: JsonObject): Promise<JsonObject> {
    const name = `context.${path.replaceAll(/[/-]/g, '_')}`
    const { result, errors } = (await this.call(name, input)) as { result: JsonObject | null; errors: unknown }
    if (result === null) throw new Error(`${name}: ${JSON.stringify(errors)}`)
    return result
  }

  pathOf(name: string): string {
    return join(this.#folder, name)
  }

  writeFile(name: string, text: string): string {
    const path = this.pathOf(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  next(): number {
    return ++this.#count
  }
  #count = 0

  /** Short or long, so that texts need pages of their own now and then. */
  text(mark: Marks): string {
    const words = Array.from({ length: 3 + Math.floor(this.#random() ** 4 * 2_000) }, () => 'word')
    return `Here ${mark()} begins, ${words.join(' ')} and ${mark()} ends.`
  }

  get store(): Store {
    return this.engine.host('default').store
  }

  #marks(): readonly [made: readonly string[], mark: Marks] {
    const made: string[] = []
    const mark = () => {
      const fresh = markOf(this.#random)
      made.push(fresh)
      return fresh
    }
    return [made, mark]
  }

  #forget(marks: readonly string[], vectors: ReadonlyMap<string, Uint8Array>): void {
    for (const mark of marks) for (const [name, bytes] of textNeedles(mark)) this.#gone.set(name, bytes)
    for (const [name, bytes] of vectors) this.#gone.set(name, bytes)
  }

  #vectorsOf({ thing, marks }: Marked): ReadonlyMap<string, Uint8Array> {
    const { store } = this
    const all = store.partitions().map(({ id }) => id)
    const keys = thing.ids().flatMap(id => store.find(id, all))
    const chunks = keys.flatMap(key => store.chunksOf(key)).map(({ key }) => key)
    const found = store.vectors(TOY_KEY, chunks)
    return new Map(found.map(({ chunk, vector }) => [`vector of ${marks[0]}, chunk ${chunk}`, vectorNeedle(vector)]))
  }
}
