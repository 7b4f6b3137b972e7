/**
 * What costs quality in everyday use: a store that is embedded in part, and questions with typos. Which documents are embedded
 * and where the typos are follows from seeds.
 */
import type { Embedder } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { type Judged, ndcg } from './collections.ts'
import { lent } from './local-embedder.ts'
import type { Row } from './report.ts'

/** Percent of the documents that have vectors. */
const EMBEDDED = [10, 50, 90]
/** Results that a question keeps at the top whatever is embedded: see QE-007. */
const KEPT = 3
const PAGE = 10

interface Answers {
  /** Ids of the first results, by question. */
  readonly results: readonly (readonly string[])[]
  readonly ndcg: number
}

/** `engine`: holds the collection, all embedded. */
export async function harderRows(of: Judged, engine: Engine, embedder: Embedder): Promise<readonly Row[]> {
  const texts = of.questions.map(({ text }) => text)
  const whole = await answersOf(of, engine, texts)
  const words = await answersOf(of, engine, texts, { mode: 'words' })
  const misspelt = await answersOf(of, engine, texts.map(withTypos))
  const rows: Row[] = [{ name: `${of.name}, words alone, nDCG@10`, unit: '', value: words.ndcg }]
  for (const percent of EMBEDDED) {
    const partly = await partlyEmbedded(of, percent, embedder)
    const gone = lost(whole, words, partly)
    const goal = `>= ${words.ndcg.toFixed(3)} (words alone)`
    const name = `${of.name}, ${percent} % embedded`
    rows.push(
      { name: `${name}, nDCG@10`, unit: '', value: partly.ndcg, goal, ok: partly.ndcg >= words.ndcg },
      {
        name: `${name}, lost of the first ${KEPT} by words and in full`,
        unit: '',
        value: gone,
        goal: '0',
        ok: gone === 0,
      },
    )
  }
  return [...rows, { name: `${of.name}, questions with typos, nDCG@10`, unit: '', value: misspelt.ndcg }]
}

async function answersOf(
  { questions }: Judged,
  engine: Engine,
  texts: readonly string[],
  options: Partial<QueryInput> = {},
): Promise<Answers> {
  const results: (readonly string[])[] = []
  let sum = 0
  for (const [at, { relevant }] of questions.entries()) {
    const text = texts[at] as string
    const { items } = await engine.query({ text, limit: PAGE, any: true, touch: false, ...options })
    const ids = items.map(({ id }) => id)
    results.push(ids)
    sum += ndcg(ids, relevant, PAGE)
  }
  return { results, ndcg: sum / questions.length }
}

/** What is written without an embedder has no vectors when the store is opened with one. */
async function partlyEmbedded(of: Judged, percent: number, embedder: Embedder): Promise<Answers> {
  using home = tempFolder()
  const uniform = seededUniform(percent)
  const isEmbedded = of.documents.map(() => 100 * uniform() < percent)
  for (const wanted of [true, false]) {
    const options = { home: home.path, embedder: wanted ? lent(embedder) : ('none' as const), background: false }
    await using engine = await openEngine(options)
    const documents = of.documents.filter((_, at) => isEmbedded[at] === wanted)
    await engine.put({ entries: documents.map(({ id, title, text }) => ({ id, title, content: text })), wait: wanted })
  }
  await using engine = await openEngine({ home: home.path, embedder: lent(embedder), background: false })
  const texts = of.questions.map(({ text }) => text)
  const { coverage } = await engine.query({ text: texts[0] as string })
  if (Math.abs(100 * coverage.embedded - percent) > 5) throw new Error(`${coverage.embedded} of ${of.name} is embedded`)
  return await answersOf(of, engine, texts)
}

function lost(whole: Answers, words: Answers, partly: Answers): number {
  return whole.results.reduce((sum, ids, at) => {
    const first = (answers: Answers) => (answers.results[at] as readonly string[]).slice(0, KEPT)
    const kept = ids.slice(0, KEPT).filter(id => first(words).includes(id))
    return sum + kept.filter(id => !first(partly).includes(id)).length
  }, 0)
}

/** Shorter words are seldom misspelt, and are seldom what a question is about. */
const SHORTEST = 5
/** From so many words on a question has two typos. */
const LONG = 8

/** One or two letters of longer words swapped with the next, left out or doubled; never the first. The place in the list is the seed. */
export function withTypos(text: string, seed: number): string {
  const uniform = seededUniform(seed + 1)
  const pick = (count: number) => Math.floor(uniform() * count)
  const parts = text.split(/(\p{L}+)/u)
  const long = [...parts.keys()].filter(at => at % 2 === 1 && (parts[at] as string).length >= SHORTEST)
  const typos = Math.min(long.length, parts.length / 2 >= LONG ? 2 : 1)
  for (let typo = 0; typo < typos; typo++) {
    const [at] = long.splice(pick(long.length), 1) as [number]
    parts[at] = misspelt(parts[at] as string, pick)
  }
  return parts.join('')
}

function misspelt(word: string, pick: (count: number) => number): string {
  const at = 1 + pick(word.length - 2)
  const [before, letter, next, after] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)]
  switch (pick(3)) {
    case 0:
      return `${before}${next}${letter}${after}`
    case 1:
      return `${before}${next}${after}`
    default:
      return `${before}${letter}${letter}${next}${after}`
  }
}
