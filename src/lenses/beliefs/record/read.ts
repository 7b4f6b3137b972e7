/**
 * Reading beliefs by id, and their past (BQ-004, BQ-005, BQ-011): only what the requester may see, so that what is hidden
 * and what is not there are one.
 */
import { compareText } from '../../../base/compare.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { BELIEFS, VERSIONS } from '../tables.ts'
import type { BeliefColumns } from './columns.ts'
import { currentOf } from './current.ts'
import { audienceOf, currentVersion, pastVersion, type StoredVersion } from './version.ts'

/** All but the vector. */
const PAST_COLUMNS = VERSIONS.columns.map(({ name }) => name).filter(name => name !== 'embedding')

/** One view of the store: a reader, who reads, and columns that were brought in step just before. */
export interface View {
  readonly reader: StoreReader
  readonly requester: Requester
  readonly columns: BeliefColumns
}

/** A version that may be seen, with its entry if it is current. */
export interface SeenVersion {
  readonly version: StoredVersion
  readonly entry: Entry | null
  /** Of the model of its vector, for versions of the past; null: it had none, or is current. */
  readonly model: string | null
}

/**
 * The row of the current belief that an id means, or -1. Of several holders' with this id: `writer`'s (who wrote the
 * reference), else the requester's own, else the oldest, so that nobody takes over what an id means by using it again,
 * else by the holder's name.
 */
export function rowOfId({ requester, columns }: Omit<View, 'reader'>, id: number, writer = -1): number {
  if (id === -1) return -1
  const own = columns.holderNumber(requester.id)
  let best = -1
  for (let row = columns.firstOfId(id); row !== -1; row = columns.nextOfId(row)) {
    const { partitions, holders } = columns.arrays
    if (!requester.sees(partitions[row] as number)) continue
    if (holders[row] === writer) return row
    if (best === -1 || (holders[best] !== own && (holders[row] === own || comesBefore(columns, row, best)))) best = row
  }
  return best
}

/** A belief by id; with `past`, older versions too. Undefined: there is none, or none that may be seen. */
export function versionOfId(view: View, id: string, past: boolean, writer?: string): SeenVersion | undefined {
  const { columns } = view
  const row = rowOfId(view, columns.idNumber(id), writer === undefined ? -1 : columns.holderNumber(writer))
  const current = row === -1 ? undefined : currentOfKeys(view, [columns.arrays.entries[row] as number])[0]
  if (current !== undefined || !past) return current
  const found = view.reader.table(VERSIONS).scan({ id }, { columns: ['holder', 'id', 'chain'] })
  const first = [writer, view.requester.id]
  const rows = [...found].sort((a, b) => rank(first, a) - rank(first, b))
  for (const { holder, chain } of rows) {
    const seen = historyOf(view, holder as string, chain as string).find(({ version }) => version.id === id)
    if (seen !== undefined) return seen
  }
  return undefined
}

/** Whether an id may be told: that of a version which the requester may see. `writer` wrote it. */
export function mayName(view: View, id: string, writer: string): boolean {
  const { columns } = view
  if (rowOfId(view, columns.idNumber(id), columns.holderNumber(writer)) !== -1) return true
  return versionOfId(view, id, true, writer) !== undefined
}

/** Current beliefs of these keys that may be seen, in the order asked for. */
export function currentOfKeys({ reader, requester }: View, keys: readonly EntryKey[]): readonly SeenVersion[] {
  const rows = new Map(
    reader
      .table(BELIEFS)
      .scan({}, { entries: keys })
      .map(row => [row['entry'] as EntryKey, row]),
  )
  return reader.entries(keys).flatMap(entry => {
    const row = rows.get(entry.key)
    if (row === undefined || !requester.sees(entry.partition)) return []
    return [{ entry, version: currentVersion(entry, row), model: null }]
  })
}

/**
 * The versions of one belief that may be seen, newest first: its holder sees all of them, others those behind which no
 * version is hidden from them, as far back as they come from where the newest does. So what was narrowed or deleted
 * cannot be read through its past, and no past names the holder behind a pseudonym, or joins two pseudonyms.
 */
export function historyOf(view: View, holder: string, chain: string): readonly SeenVersion[] {
  const { reader, requester } = view
  const past = pastOf(reader, holder, chain)
  const next = past.length === 0 ? chain : (past.at(-1)?.version.supersededBy ?? null)
  const current = next === null ? undefined : currentOf(reader, holder, next)
  const all = [...past, ...(current === undefined ? [] : [{ ...current, model: null }])].reverse()
  if (holder === requester.id) return all
  if (current === undefined) return []
  const end = all.findIndex(({ version }) => !comesFromSame(requester, version, current.version))
  return end === -1 ? all : all.slice(0, end)
}

/** Whether another's version may be seen, and its holder is shown as with the other version. */
export function comesFromSame(requester: Requester, version: StoredVersion, other: StoredVersion): boolean {
  const [source, ofOther] = [version, other].map(each => requester.sourceOfAudience(audienceOf(each)))
  return source != null && source.kind === ofOther?.kind && source.id === ofOther.id
}

/** By version, ascending. */
function pastOf(reader: StoreReader, holder: string, chain: string): readonly SeenVersion[] {
  return reader
    .table(VERSIONS)
    .scan({ holder, chain }, { columns: PAST_COLUMNS })
    .map(row => ({ version: pastVersion(row), entry: null, model: row['model'] as string | null }))
    .sort((a, b) => a.version.version - b.version.version)
}

function comesBefore(columns: BeliefColumns, row: number, other: number): boolean {
  const { created } = columns.arrays
  const later = (created[row] as number) - (created[other] as number)
  return later < 0 || (later === 0 && compareText(columns.holderOf(row), columns.holderOf(other)) < 0)
}

/** Place of a row's holder among those that come first. */
function rank(first: readonly (string | undefined)[], { holder }: Row): number {
  const at = first.indexOf(holder as string)
  return at === -1 ? first.length : at
}
