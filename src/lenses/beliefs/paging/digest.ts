/**
 * One text for all that the order of a query's matches rests on, for this requester: which they are, through which
 * federation they come, what trust in their holders counts. Equal in every process and store that shows it the same, and
 * untouched by what is hidden.
 */
import { sha256 } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import { hashOfTwo, shareHash, textHash } from '../../../base/text-hash.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Requester } from '../access/requester.ts'
import { FEDERATED } from '../access/source-numbers.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches, MatchesToken } from '../matching/matches.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { holderNames, trustQuestion } from '../ranking/trust-columns.ts'
import type { BeliefsState } from '../state.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import type { HolderColumns } from '../trust/holders.ts'
import type { TrustStamp } from '../trust/stamp.ts'

const DIGEST_LENGTH = 24

export function digestOf(evaluation: Evaluation): string {
  const { state, understood, matches } = evaluation
  const { model } = evaluation.view
  const rules = JSON.stringify([
    model,
    understood.meaning.by,
    [...state.settings.decay.rates],
    state.settings.decay.otherwise,
  ])
  const parts = [rules, ...sumsOf(evaluation).sums, ...trustSums(evaluation), ...meaningSums(evaluation), matches.count]
  return sha256(parts.join()).slice(0, DIGEST_LENGTH)
}

/** Vectors that there are not yet, and what words stand in for. */
function meaningSums(evaluation: Evaluation): readonly number[] {
  const { understood, matches, view } = evaluation
  const { marks, entries } = view.columns.arrays
  const { meaning } = understood
  let [one, other] = [0, 0]
  const count = (row: number, hash: number) => {
    one = (one + hashOfTwo(marks[row * 2] as number, hash)) | 0
    other = (other + hashOfTwo(marks[row * 2 + 1] as number, hash)) | 0
  }
  for (const row of evaluation.withoutVector(matches)) count(row, 0)
  if (meaning.by !== 'words') return [one, other]
  for (const row of matches.rows) {
    const likeness = meaning.likeness.get(entries[row] as number)
    if (likeness !== undefined) count(row, shareHash(likeness))
  }
  return [one, other]
}

export interface Sums {
  /** What numbers of holders mean. */
  readonly holdersMark: string
  readonly sums: readonly [number, number]
  /** Whose trust counts, by key, with hashes of their names. */
  readonly holders: Int32Array
  readonly names: Uint32Array
  /** By key: twice the number of the holder, and one more where it counts by its band; matches in which it counts. */
  readonly counts: Uint32Array
}

/** By token: what matches were found to sum up to outlives them by a step, and what they become is summed from it. */
const SUMS = new WeakMap<MatchesToken, Sums>()

export function sumsOf({ matches, view }: Evaluation): Sums {
  const known = SUMS.get(matches.token)
  if (known !== undefined) return known
  const made = summed(matches, view.columns, new Through(view.requester))
  SUMS.set(matches.token, made)
  return made
}

/** Those that differ by a few from others are summed by these: the others are the same from query to query. */
function summed(matches: Matches, columns: BeliefColumns, through: Through): Sums {
  const { taken, step } = matches
  const { holdersMark } = columns.texts
  if (taken !== null) {
    const from = SUMS.get(taken.from.token) ?? summed(taken.from, columns, through)
    SUMS.set(taken.from.token, from)
    const rows = Int32Array.from(taken.gone).filter(row => taken.from.has(row))
    const gone = new Summing(columns, through)
    for (const row of rows) gone.addRow(row, taken.from.sourceOf(row))
    return changed(from, gone, new Summing(columns, through), columns)
  }
  const before = step === null ? undefined : SUMS.get(step.from)
  const came = new Summing(columns, through)
  const { rows, sources } = step !== null && before?.holdersMark === holdersMark ? step.came : matches
  for (let place = 0; place < rows.length; place++) came.addRow(rows[place] as number, sources[place] as number)
  if (step === null || before?.holdersMark !== holdersMark) return collected(came, columns)
  const gone = new Summing(columns, through)
  for (const { partition, holder, marks, source } of step.gone) gone.add(partition, holder, marks[0], marks[1], source)
  return changed(before, gone, came, columns)
}

/** Less some, and with some others. */
function changed(from: Sums, gone: Summing, came: Summing, columns: BeliefColumns): Sums {
  const sums = [
    (from.sums[0] - gone.sums[0] + came.sums[0]) | 0,
    (from.sums[1] - gone.sums[1] + came.sums[1]) | 0,
  ] as const
  const counts = from.counts.map(
    (count, holder) => count - (gone.counts[holder] as number) + (came.counts[holder] as number),
  )
  const isSame = from.counts.every((count, holder) => (count === 0) === (counts[holder] === 0))
  return isSame ? { ...from, sums, counts } : collected({ sums, counts }, columns)
}

class Summing {
  readonly counts: Uint32Array
  #one = 0
  #other = 0
  readonly #columns: BeliefColumns
  readonly #through: Through
  readonly #names: Names
  readonly #hashes: Uint32Array

  constructor(columns: BeliefColumns, through: Through) {
    this.#columns = columns
    this.#through = through
    this.#names = namesOf(columns)
    this.counts = new Uint32Array(2 * columns.texts.bounds.holders)
    this.#hashes = new Uint32Array(columns.texts.bounds.holders)
  }

  get sums(): readonly [number, number] {
    return [this.#one, this.#other]
  }

  addRow(row: number, source: number): void {
    const { marks, holders, partitions } = this.#columns.arrays
    const [mark, second] = [marks[row * 2] as number, marks[row * 2 + 1] as number]
    this.add(partitions[row] as number, holders[row] as number, mark, second, source)
  }

  add(partition: PartitionId, holder: number, mark: number, second: number, source: number): void {
    const isFederated = source === FEDERATED
    let factor = isFederated ? this.#through.hash(partition) : 1
    // In a strict federation nothing rests on holders, and nothing may tell of them (BQ-104).
    if (!isFederated || !this.#through.isStrict(partition)) {
      this.#hashes[holder] ||= this.#names.hash(holder)
      const key = 2 * holder + (isFederated ? 1 : 0)
      this.counts[key] = (this.counts[key] as number) + 1
      factor = (factor + 2 * (this.#hashes[holder] as number)) | 0
    }
    this.#one = (this.#one + Math.imul(mark, factor)) | 0
    this.#other = (this.#other + hashOfTwo(second, factor ^ mark)) | 0
  }
}

function collected({ sums, counts }: Pick<Sums, 'sums' | 'counts'>, columns: BeliefColumns): Sums {
  const { holdersMark } = columns.texts
  const names = namesOf(columns)
  const holders = new Int32Array(counts.length)
  const hashes = new Uint32Array(counts.length)
  let found = 0
  for (let key = 0; key < counts.length; key++) {
    if (counts[key] === 0) continue
    holders[found] = key
    hashes[found++] = names.hash(key >> 1)
  }
  return { holdersMark, sums, counts, holders: holders.subarray(0, found), names: hashes.subarray(0, found) }
}

/** Hashes of holders' names, by number: a number may come to stand for another one. */
class Names {
  readonly #columns: BeliefColumns
  readonly #names: string[] = []
  readonly #hashes: number[] = []

  constructor(columns: BeliefColumns) {
    this.#columns = columns
  }

  hash(holder: number): number {
    const name = this.#columns.texts.holder(holder)
    if (this.#names[holder] !== name) {
      this.#names[holder] = name
      this.#hashes[holder] = (textHash(name) | 1) >>> 0
    }
    return this.#hashes[holder] as number
  }
}

const NAMES = new WeakMap<BeliefColumns, Names>()

function namesOf(columns: BeliefColumns): Names {
  const known = NAMES.get(columns)
  if (known !== undefined) return known
  const made = new Names(columns)
  NAMES.set(columns, made)
  return made
}

/** The federation through which the requester meets a partition, as an odd number. */
class Through {
  readonly #requester: Requester
  /** By partition; 0: not asked yet. */
  readonly #hashes: Uint32Array
  readonly #strict: Uint8Array

  constructor(requester: Requester) {
    this.#requester = requester
    const size = (requester.sight.partitions.at(-1) ?? -1) + 1
    this.#hashes = new Uint32Array(size)
    this.#strict = new Uint8Array(size)
  }

  hash(partition: number): number {
    if (this.#hashes[partition] === 0) {
      const federation = this.#requester.federationsOf(partition)[0] ?? ''
      this.#hashes[partition] = textHash(federation) | 1
      this.#strict[partition] = this.#requester.isStrict(federation) ? 1 : 0
    }
    return this.#hashes[partition] as number
  }

  isStrict(partition: number): boolean {
    this.hash(partition)
    return this.#strict[partition] === 1
  }
}

const NINE_DECIMALS = 1e9
/** What trust comes to is summed as of the minute's beginning: after that it only fades, by a millionth at most. */
const MINUTE_MS = 60_000
/** 80 kB each over 10,000 holders. */
const MOST_COLUMNS = 64

interface TrustColumn {
  readonly stamp: TrustStamp
  readonly names: readonly string[]
  readonly trust: HolderColumns
}

const COLUMNS = new WeakMap<BeliefsState, Recent<string, { value: TrustColumn | null }>>()
const TRUST_SUMS = new WeakMap<Matches, { readonly trust: HolderColumns; readonly sums: readonly [number, number] }>()

export function trustSums(evaluation: Evaluation): readonly number[] {
  const { requester, trustColumns, question, matches } = evaluation
  const trust = trustOfMinute(evaluation)
  const known = TRUST_SUMS.get(matches)
  const sums = known?.trust === trust ? known.sums : holderSums(sumsOf(evaluation), trust)
  TRUST_SUMS.set(matches, { trust, sums })
  const federations = question.scope.federated ? requester.federations : []
  return [
    ...sums,
    ...federations.flatMap(id => {
      const { trust, reputation } = trustColumns.named(federationTarget(id))
      return [shareHash(trust), shareHash(Number.isNaN(reputation) ? 0 : reputation)]
    }),
  ]
}

/** To nine decimals, which fit 32 bits: longer numbers take four times as long. */
function holderSums({ holders, names }: Sums, columns: HolderColumns): readonly [number, number] {
  let one = 0
  let other = 0
  for (let at = 0; at < holders.length; at++) {
    const key = holders[at] as number
    const trust = (key & 1) === 1 ? columns.members : columns.trust
    const value = Math.round((trust[key >> 1] as number) * NINE_DECIMALS)
    const name = names[at] as number
    one = (one + hashOfTwo(name, value)) | 0
    other = (other + hashOfTwo(value, name)) | 0
  }
  return [one, other]
}

/** By holder. The same columns for as long as nothing but time has changed it, within the minute. */
function trustOfMinute({ state, view, requester, question, asOf }: Evaluation): HolderColumns {
  const asked = trustQuestion(question.context)
  const minute = Math.floor(asOf / MINUTE_MS) * MINUTE_MS
  const found = state.trust.trustOf(requester.id, asked, minute, () => view.time?.check())
  const names = holderNames(view.columns)
  const columns = COLUMNS.get(state) ?? new Recent<string, { value: TrustColumn | null }>(MOST_COLUMNS)
  COLUMNS.set(state, columns)
  const kept = columns.get(JSON.stringify([requester.id, asked, minute]), () => ({ value: null }))
  if (kept.value?.names !== names || !kept.value.stamp.equals(found.stamp)) {
    kept.value = { stamp: found.stamp, names, trust: found.columns(names) }
  }
  return kept.value.trust
}
