/** Public test collections of documents, questions and judgements, where they stand beside the repository. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

export const COLLECTIONS = ['cranfield', 'cacm', 'scifact'] as const
export type CollectionName = (typeof COLLECTIONS)[number]

export interface Judged {
  readonly name: CollectionName
  readonly documents: readonly Document[]
  readonly questions: readonly Question[]
}

export interface Document {
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Question {
  readonly text: string
  /** Ids of the documents that answer it; at least one. */
  readonly relevant: ReadonlySet<string>
}

const FOLDER = fileURLToPath(new URL('../../../shared/data/', import.meta.url))

/** Those that are not there. */
export function missingCollections(): readonly CollectionName[] {
  return COLLECTIONS.filter(name => !existsSync(`${FOLDER}${name}/docs.jsonl.gz`))
}

export function readCollection(name: CollectionName): Judged {
  const read = (file: string) => readFileSync(`${FOLDER}${name}/${file}`)
  const relevant = new Map<string, Set<string>>()
  for (const line of lines(read('qrels.tsv').toString())) {
    const [question = '', document = ''] = line.split('\t')
    relevant.set(question, (relevant.get(question) ?? new Set()).add(document))
  }
  const questions = lines(read('queries.jsonl').toString()).map(
    line => JSON.parse(line) as { id: string; text: string },
  )
  return {
    name,
    documents: lines(gunzipSync(read('docs.jsonl.gz')).toString()).map(line => JSON.parse(line) as Document),
    questions: questions.map(({ id, text }) => ({ text: plain(text), relevant: relevant.get(id) ?? new Set() })),
  }
}

/** The words of a question without the signs that the query grammar gives a meaning. */
function plain(text: string): string {
  return text
    .replace(/["\\^:]/g, ' ')
    .replace(/(^|\s)[+-]+/g, '$1')
    .trim()
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '')
}

/** Binary nDCG of the first `k` results, 0 to 1. */
export function ndcg(results: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  const found = results.slice(0, k).reduce((sum, id, rank) => sum + (relevant.has(id) ? gain(rank) : 0), 0)
  let best = 0
  for (let rank = 0; rank < Math.min(k, relevant.size); rank++) best += gain(rank)
  return found / best
}

/** Share of the relevant documents among the first `k` results. */
export function recall(results: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  return results.slice(0, k).filter(id => relevant.has(id)).length / relevant.size
}
