/**
 * How often a verdict is right, by the size of the store: questions of the store's own subject, and questions of the subjects
 * of other sets. A random half of the questions of each set was used to choose the bars (docs/decisions/015), the other half is
 * reported. Then whether passages of other subjects that come into a store turn an answer into "nothing relevant".
 */
import type { Embedder } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { Verdict } from '../../src/model/page.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { lent } from './local-embedder.ts'
import type { Row } from './report.ts'

export interface VerdictSet {
  readonly name: string
  readonly passages: readonly Passage[]
  readonly questions: readonly VerdictQuestion[]
}

export interface Passage {
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface VerdictQuestion {
  readonly text: string
  /** Ids of the passages that answer it, at least one. */
  readonly answeredBy: readonly string[]
  readonly half: 'choosing' | 'reported'
}

const MODES = ['hybrid', 'words'] as const
type Mode = (typeof MODES)[number]
/** Passages of a store, stores of that size, and own questions of each. */
const SIZES = [
  { size: 10, stores: 25, own: 2 },
  { size: 100, stores: 6, own: 15 },
  { size: 1_000, stores: 1, own: 100 },
  { size: 10_000, stores: 1, own: Number.POSITIVE_INFINITY },
]
/** Questions of other sets that a store is asked. */
const FOREIGN = { few: 10, many: 120, stores: 3 }
const MAX_ANSWERED: Readonly<Record<Mode, number>> = { hybrid: 5, words: 10 }
const MAX_REFUSED = 2

/** In any order; every call shuffles alike. */
export function randomHalves(count: number, seed: number): readonly VerdictQuestion['half'][] {
  const order = shuffled([...Array(count).keys()], seededUniform(seed))
  const halves = Array<VerdictQuestion['half']>(count).fill('reported')
  for (const at of order.slice(0, count / 2)) halves[at] = 'choosing'
  return halves
}

export async function verdictRows(sets: readonly VerdictSet[], embedder: Embedder): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { size, stores, own } of SIZES) {
    const tallies = new Map<string, Tally[]>()
    for (const [at, set] of sets.entries()) {
      const counted = new Map<string, Tally>()
      for (let store = 0; store < stores; store++) {
        await askStore(set, sets, { size, own, stores, seed: 1000 * at + store }, embedder, counted)
      }
      for (const [key, tally] of counted) tallies.set(key, [...(tallies.get(key) ?? []), tally])
    }
    for (const mode of MODES) rows.push(...rowsOf(size, mode, tallies))
  }
  return [...rows, ...(await growthRows(sets, embedder))]
}

interface Drawn {
  readonly size: number
  readonly own: number
  readonly stores: number
  readonly seed: number
}

type Tally = Record<Verdict, number>

async function askStore(
  set: VerdictSet,
  sets: readonly VerdictSet[],
  { size, own, stores, seed }: Drawn,
  embedder: Embedder,
  counted: Map<string, Tally>,
): Promise<void> {
  const uniform = seededUniform(seed)
  const others = sets.filter(other => other !== set)
  const questions = shuffled(set.questions, uniform).slice(0, own)
  const needed = questions.map(({ answeredBy }) => answeredBy[Math.floor(uniform() * answeredBy.length)] as string)
  const first = new Set(needed)
  const rest = shuffled(set.passages, uniform).filter(({ id }) => !first.has(id))
  const passages = [...set.passages.filter(({ id }) => first.has(id)), ...rest].slice(0, Math.max(size, first.size))
  // A set that is smaller than the store is filled up with another, whose questions are then not foreign.
  const [filler] = [...others].sort((a, b) => b.passages.length - a.passages.length)
  const missing = size - passages.length
  const filled = missing > 0 ? shuffled(filler?.passages ?? [], uniform).slice(0, missing) : []
  await using engine = await storeWith([...passages, ...filled], embedder)
  for (const { text, half } of questions) await askBoth(engine, text, verdict => add(counted, `own ${half}`, verdict))
  for (const other of others.filter(other => missing <= 0 || other !== filler)) {
    const asked = shuffled(other.questions, uniform).slice(0, stores > FOREIGN.stores ? FOREIGN.few : FOREIGN.many)
    for (const { text, half } of asked) await askBoth(engine, text, verdict => add(counted, `foreign ${half}`, verdict))
  }
}

type Verdicts = Readonly<Record<Mode, Verdict>>

async function askBoth(engine: Engine, text: string, then: (verdicts: Verdicts) => void): Promise<void> {
  const of = async (mode: Mode) => (await engine.query({ text, mode, syntax: 'plain', limit: 1, touch: false })).verdict
  then({ hybrid: await of('hybrid'), words: await of('words') })
}

function add(counted: Map<string, Tally>, whose: string, verdicts: Verdicts): void {
  for (const mode of MODES) {
    const key = `${mode} ${whose}`
    const tally = counted.get(key) ?? { answered: 0, weak: 0, nothing_relevant: 0 }
    tally[verdicts[mode]]++
    counted.set(key, tally)
  }
}

function rowsOf(size: number, mode: Mode, tallies: ReadonlyMap<string, readonly Tally[]>): readonly Row[] {
  // Mean of the sets, each of one weight.
  const share = (whose: string, verdict: Verdict) => {
    const of = tallies.get(`${mode} ${whose}`) ?? []
    const shares = of.map(tally => tally[verdict] / (tally.answered + tally.weak + tally.nothing_relevant))
    return (100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length
  }
  const row = (name: string, whose: string, verdict: Verdict, most?: number): Row => {
    const value = share(`${whose} reported`, verdict)
    const note = `the half that chose the bars: ${share(`${whose} choosing`, verdict).toFixed(1)} %`
    const goal = most === undefined ? {} : { goal: `<= ${most}`, ok: value <= most }
    return { name: `${size} passages, ${mode}, ${name}`, unit: '%', value, ...goal, note }
  }
  return [
    row('own questions answered', 'own', 'answered'),
    row('own questions refused', 'own', 'nothing_relevant', MAX_REFUSED),
    row('foreign questions answered', 'foreign', 'answered', MAX_ANSWERED[mode]),
    row('foreign questions called weak', 'foreign', 'weak'),
  ]
}

/** Passages of a store after those of other sets came in. */
const GROWN = [100, 1_000, 10_000]

/** At most twenty questions of a set and their passages; then passages of other sets come in, up to 10,000. */
async function growthRows(sets: readonly VerdictSet[], embedder: Embedder): Promise<readonly Row[]> {
  const lost = new Map<number, number>()
  let asked = 0
  for (const [at, set] of sets.entries()) {
    const uniform = seededUniform(50_000 + at)
    const questions = shuffled(
      set.questions.filter(({ half }) => half === 'reported'),
      uniform,
    ).slice(0, 20)
    const needed = new Set(questions.map(({ answeredBy }) => answeredBy[0] as string))
    await using engine = await storeWith(
      set.passages.filter(({ id }) => needed.has(id)),
      embedder,
    )
    const isFound = async (text: string) => {
      const { verdict } = await engine.query({ text, syntax: 'plain', limit: 1, touch: false })
      return verdict !== 'nothing_relevant'
    }
    const known: string[] = []
    for (const { text } of questions) if (await isFound(text)) known.push(text)
    asked += known.length
    const strangers = shuffled(
      sets.filter(other => other !== set).flatMap(({ passages }) => passages),
      uniform,
    )
    let before = 0
    for (const size of GROWN) {
      await put(engine, strangers.slice(before, size))
      before = size
      for (const text of known) if (!(await isFound(text))) lost.set(size, (lost.get(size) ?? 0) + 1)
    }
  }
  return GROWN.map(size => {
    const value = (100 * (lost.get(size) ?? 0)) / asked
    return {
      name: `own questions lost when ${size} passages of other subjects come in`,
      ...{ unit: '%', value, goal: `<= ${MAX_REFUSED}`, ok: value <= MAX_REFUSED },
    }
  })
}

async function storeWith(passages: readonly Passage[], embedder: Embedder): Promise<Engine> {
  const engine = await openEngine({ store: openMemoryStore(), embedder: lent(embedder), background: false })
  await put(engine, passages)
  return engine
}

async function put(engine: Engine, passages: readonly Passage[]): Promise<void> {
  await engine.put({ entries: passages.map(({ id, title, text }) => ({ id, title, content: text })), wait: true })
}

function shuffled<T>(values: readonly T[], uniform: () => number): T[] {
  const left = [...values]
  for (let at = left.length - 1; at > 0; at--) {
    const other = Math.floor(uniform() * (at + 1))
    ;[left[at], left[other]] = [left[other] as T, left[at] as T]
  }
  return left
}
