/**
 * Measures what the manifest of a model of many languages says about its cosines, on bench/data/languages/development.jsonl:
 * `node scripts/on24.mjs scripts/calibrate-languages.ts FOLDER` prints it as JSON. Run it after a change of the model, or of
 * how words are matched, and put the result into the model's builder.
 */
import { parseArgs } from 'node:util'
import { bestAnswer, LANGUAGES, type LanguageQuestion, readLanguageSet, withStore } from '../bench/lib/languages.ts'
import type { Embedder, EmbedKind } from '../src/embed/embedder.ts'
import { openLocalEmbedder } from '../src/embed/local-embedder.ts'
import { QUANTILE_LEVELS } from '../src/embed/onnx-folder.ts'
import { type Bar, barAt } from '../src/math/evidence.ts'

/** Of MiniLM, whose spread of unrelated cosines is the scale of all: docs/decisions/015. */
const REFERENCE = { deviation: 0.13, answeredSlope: 0.1, refusedSlope: 0.05 }
const WORD_SHARE = 0.1
/** Share of foreign questions of any language that may be answered: one of the set's thirty. */
const MAX_FOREIGN = 1 / 30
const MAX_REFUSED = 0.02
/** Bars are multiples of it. */
const STEP = 0.01
/** Bars so far apart that every question is between them: then the reason of the verdict holds the evidence. */
const OPEN = { refused: { base: -10, slope: 0 }, answered: { base: 10, slope: 0 } }

/** Evidence for the best passage. */
interface Found {
  readonly evidence: number
  /** Passages in the store. */
  readonly rows: number
  readonly question: LanguageQuestion
}

const { positionals } = parseArgs({ allowPositionals: true })
const embedder = await openLocalEmbedder({ folder: positionals[0] ?? 'model-multilingual', threads: 1 })
const set = readLanguageSet('development')
const unrelated = await unrelatedCosines(embedder)
const all = [...unrelated.same, ...unrelated.across]
const scale = REFERENCE.deviation / deviation(all)
const { same, across } = await evidences(embedder)
const answered = answeredBar([same, across])
await embedder.close()
console.log(
  JSON.stringify(
    {
      calibration: { wordShare: WORD_SHARE, refused: refusedBar(same), answered },
      cosineScale: rounded(scale, 2),
      languagePairs: {
        across: { wordShare: WORD_SHARE, refused: refusedBar(across), answered },
        pairs: {},
        unrelated: { same: quantiles(unrelated.same), across: quantiles(unrelated.across) },
      },
    },
    null,
    2,
  ),
)

async function unrelatedCosines(of: Embedder) {
  const embed = (texts: readonly string[], kind: EmbedKind) => of.embed(texts, kind)
  const passages = await embed(
    set.documents.map(({ title, text }) => `${title}\n${text}`),
    'passage',
  )
  const questions = [...set.questions, ...set.foreign]
  const vectors = await embed(
    questions.map(({ text }) => text),
    'query',
  )
  const found = { same: [] as number[], across: [] as number[] }
  for (const [at, question] of questions.entries()) {
    for (const [row, document] of set.documents.entries()) {
      if (question.document === document.id) continue
      const where = question.language === document.language ? found.same : found.across
      where.push(dot(vectors[at] as Float32Array, passages[row] as Float32Array))
    }
  }
  return found
}

/** Stores of one language, with questions of that language or of the others; a store of all counts for both. */
async function evidences(of: Embedder): Promise<{ same: readonly Found[]; across: readonly Found[] }> {
  const calibration = { wordShare: WORD_SHARE, ...OPEN }
  const open: Embedder = { ...of, model: { ...of.model, calibration, languagePairs: null } }
  const found = { same: [] as Found[], across: [] as Found[] }
  for (const stored of [...LANGUAGES, null]) {
    const documents = set.documents.filter(({ language }) => stored === null || language === stored)
    await withStore(documents, open, async engine => {
      for (const question of [...set.questions, ...set.foreign]) {
        const { reason } = await bestAnswer(engine, question.text)
        const [, evidence] = /evidence (-?[\d.]+)/.exec(reason ?? '') ?? []
        if (evidence === undefined) throw new Error(`no evidence in the reason: ${reason}`)
        const one = { evidence: Number(evidence), rows: documents.length, question }
        if (stored === null || question.language === stored) found.same.push(one)
        if (stored === null || question.language !== stored) found.across.push(one)
      }
    })
  }
  return found
}

/**
 * The lowest bar for an answer that few foreign questions reach. One for all pairs: thirty questions a language do not tell
 * pairs apart.
 */
function answeredBar(pairs: readonly (readonly Found[])[]): Bar {
  const foreign = pairs.map(found => found.filter(({ question }) => question.document === undefined))
  return lowest(REFERENCE.answeredSlope, bar =>
    foreign.flatMap(groups).every(group => share(group, one => reaches(one, bar)) <= MAX_FOREIGN),
  )
}

/** The highest bar for a refusal that few questions with an answer miss. */
function refusedBar(found: readonly Found[]): Bar {
  const own = found.filter(({ question }) => question.document !== undefined)
  const tooHigh = lowest(REFERENCE.refusedSlope, bar => share(own, one => !reaches(one, bar)) > MAX_REFUSED)
  return { ...tooHigh, base: rounded(tooHigh.base - STEP, 2) }
}

function lowest(slope: number, isEnough: (bar: Bar) => boolean): Bar {
  for (let base = 0; base < 1; base += STEP) {
    const bar = { base: rounded(base, 2), slope: rounded(slope / scale, 3) }
    if (isEnough(bar)) return bar
  }
  throw new Error('no bar below 1 is enough')
}

/** By language and size of the store. */
function groups(found: readonly Found[]): readonly (readonly Found[])[] {
  return [...Map.groupBy(found, ({ rows, question }) => `${rows} ${question.language}`).values()]
}

/** In hundredths, as verdicts compare. */
function reaches({ evidence, rows }: Found, bar: Bar): boolean {
  return evidence >= rounded(barAt(rows, bar), 2)
}

function share(found: readonly Found[], isCounted: (one: Found) => boolean): number {
  return found.filter(isCounted).length / found.length
}

function quantiles(cosines: readonly number[]): readonly number[] {
  const sorted = Float64Array.from(cosines).sort()
  return QUANTILE_LEVELS.map(level => rounded(sorted[Math.floor(level * (sorted.length - 1))] as number, 3))
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
