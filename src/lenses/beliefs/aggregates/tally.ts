/**
 * The true figures of a topic in a federation: whoever asks, they are the same. Whether a belief is of the topic is decided by
 * that belief alone, and of copies none is dropped, so that nobody's beliefs bear on how another's are counted (BQ-105).
 */

import type { Instant } from '../../../base/clock.ts'
import { StepPace, type Steps } from '../../../base/turns.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { Members } from '../../../pipeline/members.ts'
import type { ShowView } from '../access/show.ts'
import { FEDERATED } from '../access/source-numbers.ts'
import { vectorIndex } from '../embedding.ts'
import { Matches } from '../matching/matches.ts'
import { meetingOperators, type Operand } from '../matching/operators.ts'
import { isWithin } from '../measures/domains.ts'
import { thresholdsOf } from '../query/thresholds.ts'
import type { BeliefsState } from '../state.ts'
import { MOST_BELIEFS, type Tally } from './mechanism.ts'
import type { Topic } from './question.ts'

/** A topic and what is known of it before the store is looked at. */
export interface AskedTopic {
  readonly topic: Topic
  /** Of its text; null: there is no embedder, and where it stands word by word is all there is to go by. */
  readonly vector: Float32Array | null
}

/** Beliefs looked at in one step. */
const BELIEFS_AT_ONCE = 5_000

/** Over current beliefs, valid at this moment, that active members share with the federation. In steps. */
export function* tallyOf(
  state: BeliefsState,
  view: ShowView,
  federation: string,
  asked: AskedTopic,
  asOf: Instant,
): Steps<Tally> {
  const partitions = sharedWith(view, federation)
  const matches = yield* ofTopic(state, view, partitions, asked, yield* validIn(view, partitions, asOf))
  const { holders } = view.columns.arrays
  const counts = new Map<number, number>()
  for (const row of matches.rows) {
    const holder = holders[row] as number
    counts.set(holder, Math.min(MOST_BELIEFS, (counts.get(holder) ?? 0) + 1))
  }
  return { members: counts.size, beliefs: [...counts.values()].reduce((sum, count) => sum + count, 0) }
}

/** Ascending. */
function sharedWith({ reader }: ShowView, federation: string): readonly PartitionId[] {
  const active = new Members(reader).activeIn(federation)
  return reader.partitions().flatMap(({ id, audience }) => {
    const isShared = audience.kind === 'shared' && audience.federations.includes(federation)
    return isShared && active.has(audience.holder) ? [id] : []
  })
}

function* validIn({ columns, time }: ShowView, partitions: readonly PartitionId[], asOf: Instant): Steps<Matches> {
  const { created, validFrom, validUntil } = columns.arrays
  const tick = time?.ticker()
  const isValid = (row: number) => {
    tick?.()
    const from = Math.max(created[row] as number, validFrom[row] as number)
    return from <= asOf && (validUntil[row] as number) > asOf
  }
  const pace = new StepPace(BELIEFS_AT_ONCE)
  const rows: number[] = []
  for (const partition of partitions) {
    for (const row of columns.rowsIn(partition)) {
      if (isValid(row)) rows.push(row)
      if (pace.isOver(1)) yield
    }
  }
  const found = Int32Array.from(rows).sort()
  return new Matches(columns, found, new Uint8Array(found.length).fill(FEDERATED))
}

function* ofTopic(
  { host, contents, settings }: BeliefsState,
  { columns, model, time }: ShowView,
  partitions: readonly PartitionId[],
  { topic, vector }: AskedTopic,
  matches: Matches,
): Steps<Matches> {
  if (topic.kind === 'domain')
    return matches.where(row => columns.domainsOf(row).some(domain => isWithin(domain, topic.domain)))
  const operand: Operand = { text: topic.text, vector }
  const meeting = meetingOperators({
    ...{ columns, contents, matches, time, include: [operand], exclude: [], phrases: [] },
    thresholds: model === null ? null : thresholdsOf(settings, model),
    index: model === null ? null : vectorIndex(host, model),
    sight: { viewer: { id: '' }, partitions },
  })
  return yield* meeting
}
