/** What the doctor looks for: aspects and entries without each other, versions that lead nowhere, and unsigned trust. */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { LOCAL_OWNER } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { TableProblem } from '../../lens.ts'
import { BELIEFS, KIND, VERSIONS } from '../tables.ts'
import { checkAllEdges, type EdgeWarning } from '../trust/edge-check.ts'

const UNUSED_HELP =
  'They are not signed by the key that their agents have here. State them again with `querent trust set`, or remove them with `querent trust remove`.'

/** One a kind of problem; none: all is well. Checks every signature: a tenth of a millisecond a statement. */
export function* checkTables(reader: StoreReader): Steps<readonly TableProblem[]> {
  const aspects = reader.table(BELIEFS).scan({}, { columns: ['entry', 'supersedes'] })
  yield
  const past = reader.table(VERSIONS).scan({}, { columns: ['holder', 'id', 'superseded_by'] })
  yield
  const current = currentOnes(reader, aspects)
  yield
  const edges = yield* checkAllEdges(reader)
  const damages = [
    counted(strays(reader, aspects), 'beliefs have no entry, or entries of beliefs no belief'),
    counted(leadingNowhere(past, current), 'versions were followed by one that is not there'),
    counted(comingFromNowhere(past, current), 'beliefs follow a version that does not name them'),
    counted(edges.filter(isDamaged).length, 'statements of trust cannot be read'),
  ].filter(problem => problem !== '')
  const unsigned = edges.filter(edge => !isDamaged(edge))
  const who = [...new Set(unsigned.map(({ owner }) => owner))].slice(0, MOST_NAMED).join(', ')
  const unused = counted(unsigned.length, `statements of trust are not used: key or signature (of ${who})`)
  return [
    ...damages.map(message => ({ message, help: null })),
    ...(unused === '' ? [] : [{ message: unused, help: UNUSED_HELP }]),
  ]
}

/** Agents named in one message. */
const MOST_NAMED = 5

/** Other than by its signature, which is stated anew easily. */
function isDamaged({ reason }: EdgeWarning): boolean {
  return reason !== 'key' && reason !== 'signature'
}

interface CurrentOne {
  readonly name: string
  /** Name of the version that it follows. */
  readonly supersedes: string | null
}

function currentOnes(reader: StoreReader, aspects: readonly Row[]): readonly CurrentOne[] {
  const supersedes = new Map(aspects.map(row => [row['entry'], row['supersedes'] as string | null]))
  return reader.identities(aspects.map(row => row['entry'] as EntryKey)).map(({ key, holder, id }) => {
    const before = supersedes.get(key) ?? null
    return { name: nameOf(holder, id), supersedes: before && nameOf(holder, before) }
  })
}

/** In either direction. */
function strays(reader: StoreReader, aspects: readonly Row[]): number {
  const known = new Set(aspects.map(row => row['entry'] as EntryKey))
  let missing = known.size
  let stray = 0
  for (const { id } of reader.partitions()) {
    const sight = { viewer: LOCAL_OWNER, partitions: [id] }
    for (const entry of reader.matching(sight, { op: 'eq', field: 'kind', value: KIND })) {
      if (known.has(entry)) missing--
      else stray++
    }
  }
  return missing + stray
}

function leadingNowhere(past: readonly Row[], current: readonly CurrentOne[]): number {
  const known = new Set([...past.map(pastName), ...current.map(({ name }) => name)])
  return past.filter(row => {
    const next = row['superseded_by'] as string | null
    return next !== null && !known.has(nameOf(row['holder'] as string, next))
  }).length
}

function comingFromNowhere(past: readonly Row[], current: readonly CurrentOne[]): number {
  const nextOf = new Map(past.map(row => [pastName(row), nameOf(row['holder'] as string, row['superseded_by'])]))
  return current.filter(({ name, supersedes }) => supersedes !== null && nextOf.get(supersedes) !== name).length
}

function pastName(row: Row): string {
  return nameOf(row['holder'] as string, row['id'])
}

/** Ids are one holder's own. */
function nameOf(holder: string, id: Row[string] | undefined): string {
  return JSON.stringify([holder, id])
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`
}
