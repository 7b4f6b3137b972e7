/** The indexes, held against ones built again, and the snapshots they would be read from. */
import type { Steps } from '../../base/turns.ts'
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Hit, Index, LinkIndex, PointIndex, VectorIndex, WordIndex } from '../../index/contract.ts'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import { toUnit } from '../../math/vector.ts'
import { type Chunk, chunkText, type Entry, type EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { REPAIR_HELP } from '../../store/care/problem.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { tokenise } from '../../text/tokenise.ts'
import { entryKeys } from '../export.ts'
import { type Examined, finding } from './doctor-files.ts'

export interface IndexesToExamine {
  readonly names: readonly string[]
  /** The living index of that name, at the newest committed change. */
  readonly indexOf: (name: string) => Index
  /** A second index of the same kind, empty: rebuilt here to compare the living one with. */
  readonly fresh: (index: Index) => Index
  /** Takes the snapshot of an index into an empty one of its kind; null: nothing is saved here. */
  readonly loaded: ((empty: Index) => Steps<SnapshotLoad>) | null
  /** Builds the living index of that name again and saves it. */
  readonly renew: (name: string) => Promise<void>
}

/** Questions that indexes are examined by. */
const QUESTIONS = 20

/** In steps: what is written at a pause comes into both indexes. */
export function* indexesFindings(
  { names, indexOf, fresh, renew }: IndexesToExamine,
  store: Store,
  embedder: Embedder | null,
): Steps<readonly Examined[]> {
  const model = embedder === null ? null : modelKey(embedder.model)
  const questions = yield* sampleQuestions(store, model, QUESTIONS)
  const found: Examined[] = []
  for (const name of names) {
    const rebuilt = fresh(indexOf(name))
    yield* rebuild(rebuilt, store)
    const atOneMoment: AtOneMoment = look => {
      // Whoever brings it forward in steps is done with it.
      const index = indexOf(name)
      return store.read(reader => {
        for (const one of [index, rebuilt]) one.refresh(reader)
        return look({ index, rebuilt, reader })
      })
    }
    found.push(comparison(name, yield* compareIndexes(atOneMoment, questions), () => renew(name)))
  }
  return found
}

/** Each step within one read, so that it sees one commit. */
function* rebuild(index: Index, store: Store): Steps<void> {
  const steps = index.rebuildInSteps?.(store)
  if (steps === undefined) index.rebuild(store)
  else while (store.read(() => steps.next(false)).done !== true) yield
}

export function* snapshotsFindings({ names, indexOf, fresh, loaded, renew }: IndexesToExamine): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of loaded === null ? [] : names) {
    const load = loaded?.(fresh(indexOf(name)))
    if (load !== undefined) found.push(snapshotFinding(name, yield* load, () => renew(name)))
  }
  return found
}

function comparison(name: string, { difference, rows, answers }: Comparison, renew: () => Promise<void>): Examined {
  const check = `index ${name}`
  const sampled = answers === 0 ? '' : ` and ${answers} sampled answers`
  if (difference === null) return finding(check, true, `${rows} rows${sampled}, the same as a rebuild`)
  return finding(check, false, difference, REPAIR_HELP, async () => {
    await renew()
    return 'built again'
  })
}

/** Snapshots that nobody damaged, but that time or a restored backup has passed by: the index was built without. */
const HARMLESS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  missing: 'no snapshot yet',
  other_format: 'of another version, so the index was built again',
  // Its bytes are as they were written, so another version wrote them.
  refused: 'of another version of the index, which was built again',
  ahead_of_store: 'of a later state than the store, so the index was built again',
  other_past: 'of another history of the store, so the index was built again',
}

const HARMFUL: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  damaged: 'damaged',
  other_store: 'of another store',
  other_index: 'of another index',
  unreadable: 'not readable',
}

function snapshotFinding(name: string, loaded: SnapshotLoad, renew: () => Promise<void>): Examined {
  const check = `snapshot ${name}`
  if (loaded.ok) return finding(check, true, 'can be read')
  const { reason } = loaded
  const harmless = HARMLESS[reason]
  if (harmless !== undefined) return finding(check, true, harmless)
  const help = `It is ignored, so the store takes longer to open. ${REPAIR_HELP}`
  return finding(check, false, HARMFUL[reason] ?? reason, help, async () => {
    await renew()
    return 'written again'
  })
}

/** Hits compared a query. */
const DEPTH = 20

/** What differs, in one line, or null; and how many answers were compared. */
interface Comparison {
  readonly difference: string | null
  readonly rows: number
  readonly answers: number
}

/** Gives a look at both indexes at the same state of the store. */
type AtOneMoment = <T>(look: (both: Both) => T) => T

interface Both {
  readonly index: Index
  readonly rebuilt: Index
  readonly reader: StoreReader
}

/** Looks at them in steps, each at one moment of its own; null: no difference was found. */
function* compareIndexes(atOneMoment: AtOneMoment, questions: readonly SampledQuestion[]): Steps<Comparison> {
  let [rows, answers] = [0, 0]
  const looks = [compareRows, ...questions.map(compareAnswers)]
  for (const look of looks) {
    const found = atOneMoment(look)
    rows = found.rows
    answers += found.answers
    if (found.difference !== null) return { ...found, answers }
    yield
  }
  return { difference: null, rows, answers }
}

function compareRows({ index, rebuilt, reader }: Both): Comparison {
  const all = reader.partitions().map(({ id }) => id)
  const [rows, wanted] = [rowsOf(index, all), rowsOf(rebuilt, all)]
  return { difference: rows === wanted ? null : `${rows} rows, a rebuild has ${wanted}`, rows, answers: 0 }
}

function compareAnswers(question: SampledQuestion): (both: Both) => Comparison {
  return ({ index, rebuilt, reader }) => {
    const all = reader.partitions().map(({ id }) => id)
    const rows = rowsOf(index, all)
    let answers = 0
    for (const partitions of [all, [question.partition]]) {
      const [mine, other] = [index, rebuilt].map(one => answerOf(one, question, partitions))
      if (mine === null) continue
      answers++
      const difference = `${rows} rows, but it answers ${JSON.stringify(question.words)} differently from a rebuild`
      if (JSON.stringify(mine) !== JSON.stringify(other)) return { difference, rows, answers }
    }
    return { difference: null, rows, answers }
  }
}

function isVectorIndex(index: Index): index is VectorIndex {
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

/** Null where nothing is compared: an index of a lens, or a passage without a vector. */
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

/** Questions made from what a store holds, spread evenly over its entries: the same ones each time, for self-checks. */
interface SampledQuestion {
  /** Of the passage it was made from. */
  readonly partition: PartitionId
  readonly words: readonly string[]
  /** Between the passage's vector and that of another; null where there is none. */
  readonly vector: Float32Array | null
}

interface Passage {
  readonly entry: Entry
  readonly chunk: Chunk
}

const PAGE = 10_000
const WORDS = 3

/** `model` null: without vectors. In steps, the last of which reads the passages. */
function* sampleQuestions(reader: StoreReader, model: string | null, count: number): Steps<readonly SampledQuestion[]> {
  const all: EntryKey[] = []
  for (const page of entryKeys(reader, PAGE)) {
    all.push(...page)
    yield
  }
  const passages = reader.entries(spread(all, count)).flatMap((entry): Passage[] => {
    const chunks = reader.chunksOf(entry.key)
    const chunk = chunks[Math.floor(chunks.length / 2)]
    return chunk === undefined ? [] : [{ entry, chunk }]
  })
  const keys = passages.map(({ chunk }) => chunk.key)
  const vectors = model === null ? [] : reader.vectors(model, keys)
  const byChunk = new Map(vectors.map(({ chunk, vector }) => [chunk, vector]))
  return passages.map(({ entry, chunk }, at) => {
    const [own, next] = [chunk, passages[(at + 1) % passages.length]?.chunk].map(one => byChunk.get(one?.key ?? -1))
    return {
      partition: entry.partition,
      words: spread(distinctWords(chunkText(entry, chunk)), WORDS),
      vector: own === undefined ? null : between(own, next ?? own),
    }
  })
}

function distinctWords(text: string): readonly string[] {
  return [...new Set(tokenise(text).map(({ term }) => term))]
}

/** So many of them, evenly; all when they are fewer. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all
  return Array.from({ length: count }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / count)] as T)
}

/** Questions lie beside passages, not on them. */
function between(one: Float32Array, other: Float32Array): Float32Array {
  return toUnit(one.map((value, at) => value + 0.5 * (other[at] as number))) ?? one
}
