/**
 * Labelled questions about code of this repository as it was on 2026-11-26 (CX-072), so that figures move with the program alone, in two sets over different folders: by the one the numbers of
 * rank `relevance` were chosen, by the other the ranks are judged (docs/decisions/034).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { EngineOptions } from '../../src/engine/options.ts'
import { type OpenContext, openContext } from '../../src/openings/context.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'

export interface QuestionSet {
  /** Of `src`. */
  readonly folders: readonly string[]
  readonly questions: readonly {
    readonly question: string
    /** Names of the concepts that answer it. */
    readonly relevant: readonly string[]
  }[]
}

export interface Measures {
  readonly recall: number
  readonly ndcg: number
}

export interface Way {
  readonly mode: 'exact' | 'semantic' | 'hybrid'
  readonly rank: 'breadth' | 'relevance'
}

/** The ways to ask that are measured; the order of neighbours is no part of it. */
export const WAYS: readonly Way[] = [
  { mode: 'exact', rank: 'breadth' },
  { mode: 'exact', rank: 'relevance' },
  { mode: 'semantic', rank: 'breadth' },
  { mode: 'hybrid', rank: 'breadth' },
  { mode: 'hybrid', rank: 'relevance' },
]

export type Part = 'judged on' | 'chosen on'

export function questionSet(part: Part): QuestionSet {
  const file = new URL('../data/context-questions.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<Part, QuestionSet>)[part]
}

export interface IndexedCode extends AsyncDisposable {
  readonly sys: OpenContext
}

/** Of `src`: `path` from there. */
function corpus(): readonly { readonly path: string; readonly text: string }[] {
  const lines = gunzipSync(readFileSync(new URL('../data/code-corpus.jsonl.gz', import.meta.url))).toString()
  return lines
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}

/** The folders of a set, read in a place of their own. Throws where a label names no concept of them. */
export async function indexCode(
  { folders, questions }: QuestionSet,
  embedder: EngineOptions['embedder'],
): Promise<IndexedCode> {
  const folder = tempFolder()
  for (const { path, text } of corpus()) {
    if (!folders.includes(path.split('/')[0] as string)) continue
    const file = folder.file(`src/${path}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const sys = await openContext({ home: folder.file('.querent'), embedder, background: false })
  const { errors, meta } = await sys.call('/context/index')
  if (errors !== null || meta['warnings'] !== undefined) throw new Error(JSON.stringify({ errors, meta }))
  const names = new Set(namesIn(await sys.call('/mind/concepts/list', { limit: 100_000 })))
  const missing = questions.flatMap(({ relevant }) => relevant).filter(name => !names.has(name))
  if (missing.length > 0) throw new Error(`labels that name nothing: ${missing.join()}`)
  return {
    sys,
    [Symbol.asyncDispose]: async () => {
      await sys.close()
      folder[Symbol.dispose]()
    },
  }
}

/** Means of recall@10 and nDCG@10, to three decimals. */
export async function measuresOf(sys: OpenContext, { questions }: QuestionSet, way: Way): Promise<Measures> {
  const each: Measures[] = []
  for (const { question, relevant } of questions) {
    const names = namesIn(await sys.call('/context/query', { query: question, ...way, depth: 0, limit: 10 }))
    // A name may be that of several concepts: each label counts once, where it comes first.
    const gains = names.map((name, at) => Number(relevant.includes(name) && names.indexOf(name) === at))
    const ideal = sum(relevant.map((_, at) => discount(at)))
    const dcg = sum(gains.map((gain, at) => gain * discount(at)))
    each.push({ recall: sum(gains) / relevant.length, ndcg: dcg / ideal })
  }
  const mean = (of: keyof Measures) => Math.round((sum(each.map(one => one[of])) / each.length) * 1000) / 1000
  return { recall: mean('recall'), ndcg: mean('ndcg') }
}

function discount(at: number): number {
  return 1 / Math.log2(at + 2)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function namesIn({ result }: Awaited<ReturnType<OpenContext['call']>>): readonly string[] {
  if (result === null) throw new Error('the call failed')
  return (result['concepts'] as readonly { name: string }[]).map(({ name }) => name)
}
