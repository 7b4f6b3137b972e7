/**
 * Questions in six languages over documents in one of them, through the engine as it comes: how often the first answer is
 * the right document within a language and across two, and how many foreign questions count as answered. The built-in model
 * beside the multilingual one, which `npm run model:multilingual` builds.
 */
import type { Embedder } from '../src/embed/embedder.ts'
import type { Engine } from '../src/engine/engine.ts'
import { bestAnswer, LANGUAGES, type Language, openMultilingual, readLanguageSet, withStore } from './lib/languages.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import { percentile, type Row } from './lib/report.ts'

export const name = 'languages'

/** Hit@1 above that of the built-in model. */
const GAINS = { same: 0.12, across: 0.4 }
const MAX_FOREIGN_ANSWERED = 5
const MAX_TIME_RATIO = 1.3

const set = readLanguageSet('test')

interface Measured {
  /** Hit@1 by the documents' language, then the question's. */
  readonly hits: ReadonlyMap<Language, ReadonlyMap<Language, number>>
  /** Percent of foreign questions answered: in a store of their language, and in one of all six. */
  readonly foreign: ReadonlyMap<Language, { readonly own: number; readonly mixed: number }>
  /** Percent of questions of the store's language. */
  readonly answered: number
  readonly refused: number
  /** Percent of questions of another language than the store's. */
  readonly acrossRefused: number
  /** Hit@1 in a store of all languages: the document in any of them. */
  readonly mixed: number
  /** Median of a question in English over English, not put before, in ms. */
  readonly time: number
}

export async function run(): Promise<readonly Row[]> {
  const builtIn = await localEmbedder()
  const multilingual = await openMultilingual()
  try {
    const words = await measure(null)
    const before = await measure(builtIn)
    const rows = [...rowsOf('words alone', words), ...rowsOf('built-in model', before)]
    if (multilingual === null) {
      return [...rows, { name: 'multilingual model: skipped, run npm run model:multilingual', unit: '', value: 0 }]
    }
    return [
      ...rows,
      ...rowsOf('multilingual model', await measure(multilingual), before),
      ...rowsOf('both models', await measure(builtIn, multilingual), before),
    ]
  } finally {
    await builtIn.close()
    await multilingual?.close()
  }
}

async function measure(embedder: Embedder | null, second: Embedder | null = null): Promise<Measured> {
  const hits = new Map<Language, ReadonlyMap<Language, number>>()
  const alone = new Map<Language, number>()
  const verdicts: { readonly isSame: boolean; readonly verdict: string }[] = []
  const times: number[] = []
  for (const language of LANGUAGES) {
    const documents = set.documents.filter(document => document.language === language)
    await withStore(
      documents,
      embedder,
      async engine => {
        const found = new Map<Language, number>()
        for (const asked of LANGUAGES) {
          const questions = set.questions.filter(question => question.language === asked)
          let hit = 0
          for (const { text, document } of questions) {
            const begin = performance.now()
            const best = await bestAnswer(engine, text)
            if (language === 'en' && asked === 'en') times.push(performance.now() - begin)
            if (best.document === document) hit++
            verdicts.push({ isSame: asked === language, verdict: best.verdict })
          }
          found.set(asked, hit / questions.length)
        }
        hits.set(language, found)
        alone.set(language, await foreignAnswered(engine, language))
      },
      second,
    )
  }
  const share = (isSame: boolean, verdict: string) => {
    const of = verdicts.filter(one => one.isSame === isSame)
    return (100 * of.filter(one => one.verdict === verdict).length) / of.length
  }
  return await withStore(
    set.documents,
    embedder,
    async engine => {
      const foreign: [Language, { own: number; mixed: number }][] = []
      for (const language of LANGUAGES) {
        const own = alone.get(language) ?? Number.NaN
        foreign.push([language, { own, mixed: await foreignAnswered(engine, language) }])
      }
      let hit = 0
      for (const { text, document } of set.questions) if ((await bestAnswer(engine, text)).document === document) hit++
      return {
        hits,
        foreign: new Map(foreign),
        answered: share(true, 'answered'),
        refused: share(true, 'nothing_relevant'),
        acrossRefused: share(false, 'nothing_relevant'),
        mixed: hit / set.questions.length,
        time: percentile(times, 0.5),
      }
    },
    second,
  )
}

async function foreignAnswered(engine: Engine, language: Language): Promise<number> {
  const questions = set.foreign.filter(question => question.language === language)
  let answered = 0
  for (const { text } of questions) if ((await bestAnswer(engine, text)).verdict === 'answered') answered++
  return (100 * answered) / questions.length
}

/** With goals where `before`, the built-in model's figures, are given. */
function rowsOf(label: string, measured: Measured, before?: Measured): readonly Row[] {
  const atLeast = (value: number, least: number | undefined) =>
    least === undefined ? {} : { goal: `>= ${least.toFixed(3)}`, ok: value >= least }
  const atMost = (value: number, most: number) =>
    before === undefined ? {} : { goal: `<= ${most.toFixed(1)}`, ok: value <= most }
  const row = (what: string, unit: string, value: number, goal: Pick<Row, 'goal' | 'ok' | 'note'> = {}): Row => ({
    ...{ name: `${label}, ${what}`, unit, value },
    ...goal,
  })
  const [same, across] = [sameLanguage(measured), acrossLanguages(measured)]
  const byPair = LANGUAGES.map(
    asked => `${asked} ${LANGUAGES.map(stored => measured.hits.get(stored)?.get(asked)?.toFixed(2)).join(' ')}`,
  )
  const note = `rows: language of the question; columns: ${LANGUAGES.join(' ')}: ${byPair.join('; ')}`
  return [
    row('same language without English, hit@1', '', same, atLeast(same, before && sameLanguage(before) + GAINS.same)),
    row('English, hit@1', '', measured.hits.get('en')?.get('en') ?? Number.NaN),
    row('across languages, hit@1', '', across, {
      ...atLeast(across, before && acrossLanguages(before) + GAINS.across),
      note,
    }),
    row('all languages in one store, hit@1', '', measured.mixed),
    row('questions of the same language answered', '%', measured.answered),
    row('questions of the same language refused', '%', measured.refused),
    row('questions of another language refused', '%', measured.acrossRefused),
    ...[...measured.foreign].flatMap(([language, { own, mixed }]) => [
      row(`foreign questions answered, ${language}`, '%', own, atMost(own, MAX_FOREIGN_ANSWERED)),
      row(
        `foreign questions answered, ${language}, all languages in one store`,
        '%',
        mixed,
        atMost(mixed, MAX_FOREIGN_ANSWERED),
      ),
    ]),
    row(
      'time of a question in English',
      'ms',
      measured.time,
      atMost(measured.time, MAX_TIME_RATIO * (before?.time ?? 0)),
    ),
  ]
}

function sameLanguage({ hits }: Measured): number {
  return mean(LANGUAGES.filter(language => language !== 'en').map(language => hits.get(language)?.get(language) ?? 0))
}

function acrossLanguages({ hits }: Measured): number {
  const pairs = [...hits].flatMap(([stored, found]) => [...found].filter(([asked]) => asked !== stored))
  return mean(pairs.map(([, hit]) => hit))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
