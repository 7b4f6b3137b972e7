/** The same rows, fields, questions and right answers for every peer. All of it generated, the same in every run. */
import { TopK } from '../../../src/base/top-k.ts'
import { dot } from '../../../src/math/vector.ts'
import { ZipfTexts } from '../../lib/text-data.ts'
import { cached, mixture } from '../../lib/vectors-data.ts'
import { keeps, type RowFilter } from './filters.ts'
import type { Fields, Item, Items } from './item.ts'
import type { Asked } from './peer.ts'
import { PARTS, type Scenario } from './scenarios.ts'
import { meansOf, partFor, type Topics, topicsOf } from './topics.ts'

const quick = Boolean(process.env['QUERENT_QUICK'])
export const ROWS = quick ? 5_000 : 100_000
export const DIMENSIONS = 384
export const K = 10
/** Settings are looked for with the first questions and measured with the others. */
export const TUNING = 60
export const MEASURED = 200
const QUESTIONS = 1000
const SEED = 42
const WORDS = 65

let made: { readonly vectors: Float32Array; readonly queries: Float32Array } | undefined

/** Vectors and questions. */
function generated(): { readonly vectors: Float32Array; readonly queries: Float32Array } {
  if (made === undefined) {
    const all = mixture({ rows: ROWS, queries: QUESTIONS, dimensions: DIMENSIONS, seed: SEED })
    made = { vectors: all.rows, queries: all.queries }
  }
  return made
}

export function itemsOf(count: number): Items {
  const vectors = generated().vectors.subarray(0, count * DIMENSIONS)
  const topics = topicsFor(count)
  const texts: string[] = []
  const prose = new ZipfTexts(7)
  return {
    count,
    vectors,
    of: row => {
      while (texts.length <= row && row < count) texts.push(prose.prose(WORDS))
      const from = (row % count) * DIMENSIONS
      return {
        row,
        text: texts[row % count] as string,
        vector: vectors.subarray(from, from + DIMENSIONS),
        fields: fieldsOf(row, topics),
      }
    },
  }
}

/** Rows that come later: held-out vectors, new words. */
export function newItem(row: number, at: number, version: number): Item {
  const text = `${new ZipfTexts(31 + at * 2 + version).prose(WORDS)} ${markOf(at, version)}`
  const fields = { bucket: at % 1000, half: 0, twentieth: 0, twohundredth: 0 }
  return { row, text, vector: question(QUESTIONS - 1 - at * 2 - version).vector, fields }
}

/** A word that occurs in one text alone. */
export function markOf(at: number, version: number): string {
  return `mark${'abcdefghij'.charAt(at % 10)}${'klmnopqrst'.charAt(Math.floor(at / 10) % 10)}${version === 0 ? 'y' : 'z'}`
}

const questions: Asked[] = []

export function question(at: number): Asked {
  if (questions.length === 0) {
    const texts = new ZipfTexts(903)
    for (let i = 0; i < QUESTIONS; i++) {
      const vector = generated().queries.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS)
      questions.push({ text: texts.question(3), vector, list: [...vector] })
    }
  }
  return questions[at] as Asked
}

/** What narrows each of the first questions, by scenario. */
export function filtersOf(scenario: Scenario, count: number): readonly (RowFilter | undefined)[] {
  const asked = Array.from({ length: TUNING + MEASURED }, (_, at) => at)
  if (scenario.narrowing === 'none') return asked.map(() => undefined)
  if (scenario.narrowing === 'random') {
    const below = scenario.share * 1000
    // Between two whole numbers, so the rows are the same.
    return asked.map(at => ({ field: 'bucket', op: 'below', value: scenario.isNew ? below - (at + 1) / 1e6 : below }))
  }
  const field = (PARTS.find(([, parts]) => 1 / parts === scenario.share)?.[0] ?? 'half') as keyof Topics
  const means = meansOf(topicsFor(count)[field], generated().vectors, DIMENSIONS)
  const far = scenario.narrowing === 'far'
  return asked.map(at => ({ field, op: 'is', value: partFor(question(at).vector, means, far) }))
}

/** For each of the first questions the K nearest rows that pass, by brute force in double precision. */
export function truthOf(scenario: Scenario, count: number): readonly Int32Array[] {
  const filters = filtersOf(scenario, count)
  const key = `${scenario.narrowing}-${scenario.share}${scenario.isNew ? '-new' : ''}`
  const bytes = cached(`peers-truth-${count}-${filters.length}-${key}.i32`, () => {
    const topics = topicsFor(count)
    const all = new Int32Array(filters.length * K)
    for (const [at, filter] of filters.entries()) all.set(nearest(at, filter, count, topics), at * K)
    return new Uint8Array(all.buffer)
  })
  const all = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  return filters.map((_, at) => all.subarray(at * K, (at + 1) * K))
}

function nearest(at: number, filter: RowFilter | undefined, count: number, topics: Topics): readonly number[] {
  const { vectors } = generated()
  const { vector } = question(at)
  const best = new TopK<readonly [row: number, score: number]>(K, (a, b) => b[1] - a[1] || a[0] - b[0])
  for (let row = 0; row < count; row++) {
    if (filter !== undefined && !keeps(filter, fieldsOf(row, topics))) continue
    best.push([row, dot(vector, vectors, row * DIMENSIONS)])
  }
  return best.sorted().map(([row]) => row)
}

function fieldsOf(row: number, topics: Topics): Fields {
  return {
    bucket: (row * 7919) % 1000,
    half: topics.half[row] ?? 0,
    twentieth: topics.twentieth[row] ?? 0,
    twohundredth: topics.twohundredth[row] ?? 0,
  }
}

const known = new Map<number, Topics>()

function topicsFor(count: number): Topics {
  const held = known.get(count)
  if (held !== undefined) return held
  const bytes = cached(`peers-topics-${count}.u8`, () => {
    const { half, twentieth, twohundredth } = topicsOf(generated().vectors.subarray(0, count * DIMENSIONS), DIMENSIONS)
    return Uint8Array.from([...half, ...twentieth, ...twohundredth])
  })
  const part = (at: number) => bytes.subarray(at * count, (at + 1) * count)
  const topics = { half: part(0), twentieth: part(1), twohundredth: part(2) }
  known.set(count, topics)
  return topics
}
