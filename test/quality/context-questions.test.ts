/** Labelled questions over a repository of ours (its lower layers), in each mode (CX-072). */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenContext, openContext } from '../../src/engine/open-context.ts'
import { type TempFolder, tempFolder } from '../../src/testing/temp-folder.ts'
import { modelFolder } from '../support/model.ts'

/** Question -> names of the concepts that answer it. */
const QUESTIONS: readonly (readonly [question: string, ...relevant: string[]])[] = [
  ['canonicalJson', 'canonicalJson'],
  ['SettableClock', 'SettableClock'],
  ['sha256', 'sha256'],
  ['chunkContent', 'chunkContent'],
  ['tokenise', 'tokenise', 'eachToken'],
  ['decay', 'decay'],
  ['stillVisible', 'stillVisible'],
  ['termScore', 'termScore'],
  ['Bitset', 'Bitset'],
  ['residualText', 'residualText'],
  ['json with sorted keys', 'canonicalJson'],
  ['hash of a text in hexadecimal', 'sha256'],
  ['clock for tests that stands still', 'SettableClock'],
  ['time limit and abort signal in one', 'Deadline'],
  ['make a random uuid', 'v4Id'],
  ['cache that forgets the least recently used', 'Recent'],
  ['sign a text with hmac', 'sign'],
  ['verify a signature in constant time', 'isSigned'],
  ['replace what the store cannot keep', 'storableText', 'isStorable'],
  ['split a document into chunks', 'chunkContent', 'chunk'],
  ['show an excerpt with highlights', 'excerpt'],
  ['which language is this text in', 'language'],
  ['count line numbers', 'LineCounter', 'linesOfSpan', 'lineEnds'],
  ['headings of a markdown document', 'markdownHeadings'],
  ['did the user misspell a field', 'misspeltFields', 'MisspeltField'],
  ['fold accents and case', 'fold'],
  ['where is a good place to cut a text', 'borderBetween', 'Border'],
  ['filter for a field condition', 'fieldFilter', 'readField'],
  ['tokens of a query', 'lexQuery'],
  ['remove control characters from text', 'cleanText'],
  ['error for a syntax mistake in the question', 'querySyntax'],
  ['stem of a word', 'stem'],
  ['inverse document frequency', 'idf'],
  ['term frequency saturation', 'saturation', 'saturate'],
  ['half life', 'decay'],
  ['fuse words and meaning into one score', 'fuse'],
  ['cosine similarity of vectors', 'cosine', 'clampCosine'],
  ['inner product', 'dot'],
  ['normalise a vector to unit length', 'toUnit', 'isUnit', 'norm'],
  ['choose diverse results', 'choose', 'Choice'],
  ['what entries may a viewer see', 'Sights', 'stillVisible', 'lookAt'],
  ['cursor expired or invalid', 'readCursor'],
  ['why was an entry dropped', 'firstDrop'],
  ['explain the parts of a score', 'explainParts', 'explainEntry'],
]

const MODES = ['exact', 'semantic', 'hybrid'] as const
const folders = ['base', 'text', 'math', 'pipeline']
let folder: TempFolder
let sys: OpenContext

/** What was measured, less a little: other code in the folders moves it. */
const FLOORS = { semantic: 0.85, hybrid: 0.65 }

describe('labelled questions about code (CX-072)', () => {
  beforeAll(async () => {
    modelFolder()
    folder = tempFolder()
    const src = fileURLToPath(new URL('../../src/', import.meta.url))
    for (const name of folders) cpSync(join(src, name), join(folder.path, name), { recursive: true })
    sys = await openContext({ home: join(folder.path, '.querent'), embedder: { provider: 'local' }, background: false })
    const { status, meta } = await sys.call('/context/index')
    expect([status, meta['warnings']]).toEqual(['success', undefined])
  }, 300_000)

  afterAll(async () => {
    await sys?.close()
    folder?.[Symbol.dispose]()
  })

  it('are at least forty, about concepts that there are', async () => {
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(40)
    const { result } = await sys.call('/mind/concepts/list', { limit: 10_000 })
    const names = new Set(namesIn(result))
    expect(QUESTIONS.flatMap(([, ...relevant]) => relevant).filter(name => !names.has(name))).toEqual([])
  })

  it('find their answers: hybrid not below exact, in recall@10 and in nDCG@10', { timeout: 120_000 }, async () => {
    const measured = new Map<string, Measures>()
    for (const mode of MODES) measured.set(mode, await measure(mode))
    const told = Object.fromEntries([...measured].map(([mode, { recall, ndcg }]) => [mode, [recall, ndcg]]))
    console.info(JSON.stringify(told))
    const [exact, semantic, hybrid] = MODES.map(mode => measured.get(mode) as Measures) as [
      Measures,
      Measures,
      Measures,
    ]
    expect(hybrid.recall).toBeGreaterThanOrEqual(exact.recall)
    expect(hybrid.ndcg).toBeGreaterThanOrEqual(exact.ndcg)
    expect(semantic.recall).toBeGreaterThanOrEqual(FLOORS.semantic)
    expect(hybrid.recall).toBeGreaterThanOrEqual(FLOORS.hybrid)
  })
})

interface Measures {
  readonly recall: number
  readonly ndcg: number
}

async function measure(mode: string): Promise<Measures> {
  const each: Measures[] = []
  for (const [query, ...relevant] of QUESTIONS) {
    const { result } = await sys.call('/context/query', { query, mode, depth: 0, limit: 10 })
    const names = namesIn(result)
    // A name may be that of several concepts: each label counts once, where it comes first.
    const gains = names.map((name, at) => (relevant.includes(name) && names.indexOf(name) === at ? 1 : 0))
    const ideal = relevant.map((_, at) => 1 / Math.log2(at + 2)).reduce((sum, gain) => sum + gain, 0)
    const dcg = gains.reduce<number>((sum, gain, at) => sum + gain / Math.log2(at + 2), 0)
    each.push({ recall: gains.reduce<number>((sum, gain) => sum + gain, 0) / relevant.length, ndcg: dcg / ideal })
  }
  const mean = (of: keyof Measures) =>
    Math.round((each.reduce((sum, one) => sum + one[of], 0) / each.length) * 1000) / 1000
  return { recall: mean('recall'), ndcg: mean('ndcg') }
}

function namesIn(result: Readonly<Record<string, unknown>> | null): readonly string[] {
  if (result === null) throw new Error('the call failed')
  return (result['concepts'] as readonly { name: string }[]).map(({ name }) => name)
}
