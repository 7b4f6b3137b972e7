/**
 * Lives one life again and again, each time with another call failing. After every one the home is opened without the
 * shim and looked at. Used by a test: for a sample of calls, and in its long form for all of them.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import type { Reported } from './control.ts'
import { type Contents, Diary, judge } from './deeds.ts'
import { FILES, type Life, live, openAt, prepare, put, writeFiles } from './life.ts'
import type { Account, Order } from './life-child.ts'
import { LivingChild } from './living-child.ts'
import { contentsOf, differences } from './rebuilt.ts'

export type Run = Pick<Order, 'life' | 'plan' | 'recovers'>

export interface Outcome {
  /** Null when the process died or hung. */
  readonly reported: Reported | null
  readonly refused: number
  /** None, one hopes. */
  readonly wrong: readonly string[]
}

/** Homes to begin from, what is in them, and a child that lives with the shim. */
export class Sweep implements AsyncDisposable {
  readonly #folder: TempFolder
  readonly #before = new Map<Life, Contents>([['birth', new Map()]])
  #child: LivingChild | null = null

  constructor() {
    this.#folder = tempFolder()
    mkdirSync(this.#now)
    this.#keep('birth')
  }

  async prepare(): Promise<void> {
    const [home, files] = [join(this.#now, 'home'), join(this.#now, 'files')]
    await prepare(home, files)
    for (const life of ['work', 'upkeep'] as const) {
      this.#before.set(life, await this.#contents())
      this.#keep(life)
    }

    writeFiles(files, FILES.work)
    await (await live('work', home, files, new Diary()))?.close()
    await using killed = await openAt(home)
    await put(killed, new Diary(), 'put', { e4: 'the last thing of the life before' })
    // As if the process were killed now: its last writes are in the log beside the file.
    this.#keep('start')
    this.#before.set('start', await contentsOf(killed))
  }

  async run({ life, plan, recovers }: Run): Promise<Outcome> {
    rmSync(this.#now, { recursive: true, force: true })
    cpSync(this.#folder.file(life), this.#now, { recursive: true })
    const [home, files] = [join(this.#now, 'home'), join(this.#now, 'files')]
    writeFiles(files, FILES[life])
    this.#child ??= await LivingChild.start(this.#folder, this.#now)
    try {
      const account = await this.#child.live({ life, home, files, plan, recovers })
      const wrong = [...account.differences, ...(await this.#examine(life, account, home))]
      return {
        reported: account.reported,
        refused: account.deeds.filter(deed => deed.outcome === 'refused').length,
        wrong,
      }
    } catch (error) {
      await this.#child[Symbol.asyncDispose]()
      this.#child = null
      return { reported: null, refused: 0, wrong: [String((error as Error).message)] }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }

  /** What is wrong with the home that a life left behind. */
  async #examine(life: Life, { deeds }: Account, home: string): Promise<readonly string[]> {
    const before = this.#before.get(life) as Contents
    await using engine = await openAt(home)
    const wrong = [
      ...judge(deeds, before, await contentsOf(engine)),
      ...(await differences(engine, join(home, 'store.db'))),
    ]
    const { findings } = await engine.doctor()
    // Chunks wait for vectors where a fault came between; the next run embeds them.
    const bad = findings.filter(({ ok, check }) => !ok && check !== 'vectors')
    await engine.embedded()
    return [...wrong, ...bad.map(({ check, message }) => `doctor, ${check}: ${message}`)]
  }

  async #contents(): Promise<Contents> {
    await using engine = await openAt(join(this.#now, 'home'))
    return await contentsOf(engine)
  }

  /** What there is now is what that life begins with. */
  #keep(life: Life): void {
    cpSync(this.#now, this.#folder.file(life), { recursive: true })
  }

  /** Where all lives are lived, for files are known by their paths. */
  get #now(): string {
    return this.#folder.file('now')
  }
}
