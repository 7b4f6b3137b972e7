/**
 * Tries a target with one input after another: those kept so far, then changed ones. With coverage, an input that makes
 * code run that none had run is kept and changed further. The same seed and number of inputs give the same run.
 */
import { Chance } from './chance.ts'
import type { Coverage, Ran } from './coverage.ts'
import { closeQuietly, type Finding, findingOf, keyOf } from './findings.ts'
import { Broken, type Opened, type Target } from './target.ts'

export interface FuzzOptions<Input> {
  readonly seed: number
  /** Beside the target's seeds. */
  readonly corpus: readonly Input[]
  /** Absent: inputs come from seeds and corpus alone, and none is added. */
  readonly coverage?: Pick<Coverage, 'take'> | undefined
  /** Asked between inputs. */
  goesOn(tried: number): boolean
  /** Before an input is tried: it may be the last. */
  before?(input: Input): void
}

export interface Fuzzed<Input> {
  readonly inputs: number
  /** Features of the code that ran; 0 without coverage. */
  readonly features: number
  /** Inputs that brought new features, with those. */
  readonly kept: readonly { readonly input: Input; readonly features: readonly string[] }[]
  readonly findings: readonly Finding[]
}

/** Inputs between two looks at the coverage. */
const BATCH = 16
/** Of the process, for one input; about a hundred times what the slowest good one takes. */
const MAX_CPU_MS = 10_000
/** Blocks of code for one input. */
const MAX_WORK = 400_000_000
const MAX_MEMORY_BYTES = 3 * 2 ** 30

export async function fuzz<Input>(target: Target<Input>, options: FuzzOptions<Input>): Promise<Fuzzed<Input>> {
  const session = new FuzzSession(target, options)
  try {
    await session.run()
  } finally {
    await session.close()
  }
  return session
}

class FuzzSession<Input> implements Fuzzed<Input> {
  inputs = 0
  readonly kept: { input: Input; features: readonly string[] }[] = []
  readonly findings: Finding[] = []
  readonly #target: Target<Input>
  readonly #options: FuzzOptions<Input>
  readonly #chance: Chance
  readonly #pool: Input[]
  readonly #features = new Set<string>()
  #opened: Opened<Input> | null = null
  #sinceOpened: Input[] = []

  constructor(target: Target<Input>, options: FuzzOptions<Input>) {
    this.#target = target
    this.#options = options
    this.#chance = new Chance(options.seed)
    this.#pool = [...target.seeds, ...options.corpus]
  }

  get features(): number {
    return this.#features.size
  }

  async run(): Promise<void> {
    for (const input of [...this.#pool]) {
      if (!this.#goesOn()) return
      await this.#tryAlone(input)
    }
    while (this.#goesOn()) await this.#tryBatch()
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    if (opened !== null) await closeQuietly(opened)
  }

  #goesOn(): boolean {
    return this.#options.goesOn(this.inputs)
  }

  async #tryBatch(): Promise<void> {
    const batch: Input[] = []
    while (batch.length < BATCH && this.#goesOn()) {
      const input = this.#next()
      batch.push(input)
      await this.#try(input)
    }
    const ran = this.#options.coverage?.take()
    if (ran === undefined) return
    if (!this.#isNews(ran) && ran.work < MAX_WORK) return
    for (const input of batch) await this.#tryAlone(input)
    // What shows only one after the other is not looked for again.
    for (const feature of ran.features) this.#features.add(feature)
  }

  #next(): Input {
    const { kind } = this.#target
    if (this.#pool.length === 0 || this.#chance.oneIn(20)) return kind.make(this.#chance)
    const recent = this.#chance.oneIn(2) ? Math.floor(this.#pool.length * 0.8) : 0
    const from = this.#pool[recent + this.#chance.below(this.#pool.length - recent)] as Input
    return kind.change(from, this.#chance, this.#chance.pick(this.#pool))
  }

  async #tryAlone(input: Input): Promise<void> {
    const { coverage } = this.#options
    coverage?.take()
    await this.#try(input)
    const ran = coverage?.take()
    if (ran === undefined) return
    if (ran.work > MAX_WORK) await this.#found(new Broken('work: more blocks of code than any input should need'))
    const news = ran.features.filter(feature => !this.#features.has(feature))
    if (news.length === 0) return
    for (const feature of news) this.#features.add(feature)
    this.kept.push({ input, features: news })
    if (!this.#pool.includes(input)) this.#pool.push(input)
  }

  #isNews({ features }: Ran): boolean {
    return features.some(feature => !this.#features.has(feature))
  }

  async #try(input: Input): Promise<void> {
    this.inputs++
    if (this.#sinceOpened.length >= (this.#target.lifetime ?? Number.POSITIVE_INFINITY)) await this.close()
    if (this.#opened === null) {
      this.#opened = await this.#target.open()
      this.#sinceOpened = []
    }
    if (this.#target.lifetime === undefined) this.#sinceOpened = []
    this.#sinceOpened.push(input)
    this.#options.before?.(input)
    const begin = process.cpuUsage()
    try {
      await this.#opened.try(input)
      mustBeQuick(process.cpuUsage(begin))
      mustBeSmall(process.memoryUsage.rss())
    } catch (error) {
      await this.#found(error)
    }
  }

  async #found(error: unknown): Promise<void> {
    const inputs = this.#sinceOpened
    await this.close()
    const key = keyOf(error)
    if (!this.findings.some(finding => finding.key === key)) {
      this.findings.push(await findingOf(this.#target, inputs, error, this.#options.before))
    }
  }
}

function mustBeQuick({ user, system }: NodeJS.CpuUsage): void {
  const ms = (user + system) / 1000
  if (ms > MAX_CPU_MS) throw new Broken('time: more than any input should need')
}

function mustBeSmall(bytes: number): void {
  if (bytes > MAX_MEMORY_BYTES) throw new Broken('memory: more than any input should need')
}
