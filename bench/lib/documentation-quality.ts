/**
 * How well questions in everyday words find their page and their passage in long documentation, and how often they are refused.
 * A fixed half of the questions (every second one) may be used to calibrate; the figures are those of the other half.
 */
import { join } from 'node:path'
import type { Embedder } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { chunkText, chunkTitle, type Entry } from '../../src/model/entry.ts'
import type { Item } from '../../src/model/page.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import type { Judged } from './collections.ts'
import {
  type DocumentationQuestion,
  documentationFolder,
  documentationPages,
  documentationQuestions,
} from './documentation.ts'
import { lent } from './local-embedder.ts'
import type { Row } from './report.ts'
import type { VerdictSet } from './verdict-quality.ts'

const SHOWN = 5
/** Passages of a page that are looked at for the answer. */
const PASSAGES = [1, 3, 5] as const

interface Found {
  /** The page that answers is among the first results. */
  readonly page: boolean
  /** So is the answering string, in the excerpt of that page. */
  readonly excerpt: boolean
  /** In one of the first of its passages, by how many are looked at (`PASSAGES`). */
  readonly passages: readonly boolean[]
  readonly refused: boolean
  /** Excerpts shown, and those of them that begin inside a sentence. */
  readonly shown: number
  readonly cut: number
}

const isReported = (at: number) => at % 2 === 1

/** The pages cut into passages as they are when they are added; null where there are none. */
export async function documentationSet(): Promise<VerdictSet | null> {
  const folder = documentationFolder()
  if (folder === undefined) return null
  const store = openMemoryStore()
  await using engine = await openEngine({ store, embedder: 'none', background: false })
  await engine.add({ paths: documentationPages.map(page => join(folder, page)), wait: true })
  const passages = store.scanEntries(0, documentationPages.length).flatMap(key => {
    const entry = store.entry(key) as Entry
    return store.chunksOf(key).map(chunk => {
      const [title, text] = [chunkTitle(entry, chunk), chunkText(entry, chunk)]
      return { id: `${entry.origin?.split('/').at(-1)}#${chunk.ordinal}`, title, text }
    })
  })
  const questions = documentationQuestions.map(({ page, text, answer }, at) => {
    const answers = passages.filter(({ id, text }) => id.startsWith(`${page}#`) && folded(text).includes(answer))
    return { text, answeredBy: answers.map(({ id }) => id), half: isReported(at) ? 'reported' : 'choosing' } as const
  })
  // An answer may go over the end of a passage.
  return { name: 'documentation', passages, questions: questions.filter(({ answeredBy }) => answeredBy.length > 0) }
}

/** Longest excerpt that a query gives: a whole passage is shorter. */
const WHOLE = 10_000

/** Shares of the reported questions whose answer is in one of five passages, and in the excerpts of those. */
async function fivePassages(engine: Engine, input: Pick<QueryInput, 'group' | 'mode'>): Promise<readonly number[]> {
  const questions = documentationQuestions.filter((_, at) => isReported(at))
  let [inPassage, inExcerpt] = [0, 0]
  for (const { text, answer } of questions) {
    const asked = { text, ...input, limit: SHOWN, any: true, touch: false }
    const whole = await engine.query({ ...asked, excerpt_length: WHOLE })
    if (!whole.items.some(({ excerpt }) => folded(excerpt.text).includes(answer))) continue
    inPassage++
    const { items } = await engine.query(asked)
    if (items.some(({ excerpt }) => folded(excerpt.text).includes(answer))) inExcerpt++
  }
  return [(100 * inPassage) / questions.length, (100 * inExcerpt) / questions.length]
}

/** How often five passages answer: of the pages, and where each passage of theirs is an entry of its own. */
async function passageRows(engine: Engine, embedder: Embedder): Promise<readonly Row[]> {
  const { passages } = (await documentationSet()) as VerdictSet
  using home = tempFolder()
  await using apart = await openEngine({ home: home.path, embedder: lent(embedder), background: false })
  const entries = passages.map(({ id, title, text }) => ({ id, title, content: text }))
  await apart.put({ entries, wait: true })
  const rows: Row[] = []
  for (const mode of ['hybrid', 'words', 'meaning'] as const) {
    const [passage, excerpt] = await fivePassages(engine, { mode, group: 'passage' })
    const [passageApart, excerptApart] = await fivePassages(apart, { mode })
    rows.push(
      { name: `documentation, ${mode}, answer in one of ${SHOWN} passages`, unit: '%', value: passage as number },
      { name: `documentation, ${mode}, answer in one of their excerpts`, unit: '%', value: excerpt as number },
      {
        name: `documentation, ${mode}, answer in one of ${SHOWN} passages that are entries`,
        unit: '%',
        value: passageApart as number,
      },
      {
        name: `documentation, ${mode}, answer in one of the excerpts of those`,
        unit: '%',
        value: excerptApart as number,
      },
    )
  }
  return rows
}

function folded(shown: string): string {
  return shown.replace(/\s+/g, ' ')
}

export async function documentationRows(others: readonly Judged[], embedder: Embedder): Promise<readonly Row[]> {
  const folder = documentationFolder()
  if (folder === undefined)
    return [{ name: 'documentation: skipped, no apt-get or no such package', unit: '', value: 0 }]
  using home = tempFolder()
  await using engine = await openEngine({ home: home.path, embedder: lent(embedder), background: false })
  await engine.add({ paths: documentationPages.map(page => join(folder, page)), wait: true })
  const rows: Row[] = [...(await passageRows(engine, embedder))]
  for (const mode of ['hybrid', 'words'] as const) {
    const found: Found[] = []
    for (const question of documentationQuestions) found.push(await lookUp(engine, question, mode))
    const judged = found.filter((_, at) => isReported(at))
    const share = (of: (one: Found) => boolean) => (100 * judged.filter(of).length) / judged.length
    rows.push(
      { name: `documentation, ${mode}, page among ${SHOWN}`, unit: '%', value: share(one => one.page) },
      {
        name: `documentation, ${mode}, answer in an excerpt among ${SHOWN}`,
        unit: '%',
        value: share(one => one.excerpt),
      },
      {
        name: `documentation, ${mode}, excerpts that begin inside a sentence`,
        unit: '%',
        value: (100 * sumOf(found, one => one.cut)) / sumOf(found, one => one.shown),
      },
      ...PASSAGES.map((count, at) => ({
        name: `documentation, ${mode}, answer in one of ${count} passages of a page among ${SHOWN}`,
        unit: '%',
        value: share(one => one.passages[at] === true),
      })),
      { name: `documentation, ${mode}, own questions refused`, unit: '%', value: share(one => one.refused) },
    )
    for (const other of others) {
      let answered = 0
      for (const { text } of other.questions) {
        const { verdict } = await engine.query({ text, mode, limit: 1, touch: false })
        if (verdict === 'answered') answered++
      }
      const value = (100 * answered) / other.questions.length
      rows.push({ name: `documentation, ${mode}, questions of ${other.name} answered`, unit: '%', value })
    }
  }
  return rows
}

async function lookUp(
  engine: Engine,
  { page, text, answer }: DocumentationQuestion,
  mode: 'hybrid' | 'words',
): Promise<Found> {
  const { items } = await engine.query({
    text,
    mode,
    limit: SHOWN,
    passages: Math.max(...PASSAGES),
    any: true,
    touch: false,
  })
  const { verdict } = await engine.query({ text, mode, limit: 1, touch: false })
  const contents = await Promise.all(items.map(async ({ id }) => (await engine.get({ id })).content))
  const right = items.filter(item => item.origin?.endsWith(`/${page}`) === true)
  return {
    page: right.length > 0,
    excerpt: right.some(item => folded(item.excerpt.text).includes(answer)),
    passages: PASSAGES.map(count =>
      right.some(({ passages = [] }) => passages.slice(0, count).some(each => folded(each.text).includes(answer))),
    ),
    refused: verdict === 'nothing_relevant',
    shown: items.length,
    cut: contents.filter((content, at) => beginsInside(content, items[at] as Item)).length,
  }
}

/**
 * By signs alone, whatever the engine says of itself: the text before the excerpt ends with no line, colon or end of a sentence;
 * or with a line in the middle of a paragraph, and the excerpt goes on with a small letter.
 */
function beginsInside(content: string, { excerpt: { text, start_line: line } }: Item): boolean {
  const from = content.split('\n', line - 1).join('\n').length
  const before = content.slice(0, content.indexOf(text, from))
  if (/(^|\n\s*\n|[.!?…:。！？][)\]"'”’»*_`]*\s)\s*$/.test(before)) return false
  return !/\n\s*$/.test(before) || /^[\p{Ll},;)]/u.test(text)
}

function sumOf(found: readonly Found[], of: (one: Found) => number): number {
  return found.reduce((sum, one) => sum + of(one), 0)
}
