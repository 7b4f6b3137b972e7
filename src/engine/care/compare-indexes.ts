/** Holds an index against one built anew, by its rows and by its answers, and its approximate answers against exact ones. */
import type { Hit, Index, Link, LinkIndex, PointIndex, VectorIndex, WordIndex } from '../../index/contract.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { StoreReader } from '../../store/store.ts'
import { comparePoints } from './compare-points.ts'
import type { SampledQuestion } from './sampled-questions.ts'

/** Hits compared a question. */
const DEPTH = 20
/** What an approximate search is judged by: the share of the nearest so many that it finds, over all questions. */
const RECALL_AT = 10
export const LEAST_RECALL = 0.99

/** Entries whose links or points are compared. */
const ENTRIES_SCANNED = 5_000

/** What differs, in one line, or null; and how many answers were compared. */
export interface Comparison {
  readonly difference: string | null
  readonly rows: number
  readonly answers: number
}

/** Both are at the same state of the store. */
export function compareIndexes(
  index: Index,
  rebuilt: Index,
  reader: StoreReader,
  questions: readonly SampledQuestion[],
): Comparison {
  const all = reader.partitions().map(({ id }) => id)
  const [rows, wanted] = [rowsOf(index, all), rowsOf(rebuilt, all)]
  if (rows !== wanted) return { difference: `${rows} rows, a rebuild has ${wanted}`, rows, answers: 0 }
  let answers = 0
  for (const question of questions) {
    for (const partitions of [all, [question.partition]]) {
      const [mine, anew] = [index, rebuilt].map(one => answerOf(one, question, partitions))
      if (mine === null) continue
      answers++
      const difference = `${rows} rows, but it answers ${JSON.stringify(question.words)} otherwise than a rebuild`
      if (JSON.stringify(mine) !== JSON.stringify(anew)) return { difference, rows, answers }
    }
  }
  if (isPointIndex(index) && isPointIndex(rebuilt)) {
    const scopes = [all, ...questions.map(({ partition }) => [partition])]
    const compared = comparePoints(index, rebuilt, reader.scanEntries(0, ENTRIES_SCANNED), scopes)
    const difference = compared.difference && `${rows} rows, but ${compared.difference} than a rebuild has`
    return { difference, rows, answers: compared.answers }
  }
  if (isLinkIndex(index) && isLinkIndex(rebuilt)) {
    const entries = reader.scanEntries(0, ENTRIES_SCANNED)
    const stray = entries.find(entry => linksOf(index, entry, all) !== linksOf(rebuilt, entry, all))
    if (stray !== undefined) {
      return { difference: `${rows} rows, but other links of a node than a rebuild has`, rows, answers }
    }
    answers += entries.filter(entry => index.nodeOf(entry) !== undefined).length
  }
  return { difference: null, rows, answers }
}

/** The mean over the questions that have a vector; null when none has. */
export function recallOf(
  index: VectorIndex,
  partitions: readonly PartitionId[],
  questions: readonly SampledQuestion[],
): number | null {
  const shares = questions.flatMap(({ vector }) => {
    if (vector === null) return []
    const nearest = index.search({ vector, partitions, k: RECALL_AT })
    const found = new Set(index.search({ vector, partitions, k: RECALL_AT, approximate: true }).map(hit => hit.entry))
    return nearest.length === 0 ? [] : nearest.filter(hit => found.has(hit.entry)).length / nearest.length
  })
  return shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length
}

export function isVectorIndex(index: Index): index is VectorIndex {
  return index.name.startsWith('vectors-') && 'dimensions' in index
}

function isWordIndex(index: Index): index is WordIndex {
  return index.name === 'words' && 'weigh' in index
}

function isPointIndex(index: Index): index is PointIndex {
  return 'pointOf' in index
}

function isLinkIndex(index: Index): index is LinkIndex {
  return 'relationName' in index
}

/** Relations by name: each index numbers them as they come. */
function linksOf(index: LinkIndex, entry: EntryKey, partitions: readonly PartitionId[]): string {
  const node = index.nodeOf(entry)
  if (node === undefined) return ''
  const told = (links: readonly Link[]) =>
    links.map(({ node: other, relation, weight }) => [other, index.relationName(relation), weight])
  return JSON.stringify([node, told(index.out(node, { partitions })), told(index.in(node, { partitions }))])
}

/** Null where nothing can be asked: an index of a lens, or a passage without a vector. */
function answerOf(
  index: Index,
  { words, vector }: SampledQuestion,
  partitions: readonly PartitionId[],
): readonly Hit[] | null {
  if (isWordIndex(index)) {
    return index.search({ terms: words.map(text => ({ text, boost: 1 })), partitions, k: DEPTH })
  }
  return isVectorIndex(index) && vector !== null ? index.search({ vector, partitions, k: DEPTH }) : null
}

function rowsOf(index: Index, partitions: readonly PartitionId[]): number {
  if (isWordIndex(index) || isVectorIndex(index) || isPointIndex(index)) return index.count({ partitions })
  if (!isLinkIndex(index)) return index.position
  const { nodes, links } = index.count({ partitions })
  return nodes + links
}
