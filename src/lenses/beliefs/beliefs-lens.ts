/**
 * The lens `beliefs`: statements that agents hold to be true, with confidence, source and audience. A query ranks them by meaning,
 * confidence, trust in the holder, and time, and each requester sees only beliefs shared with it.
 *
 * A query goes through these folders: `schema` (its form), `query` (evaluating one query as of one moment), `matching` (which beliefs it
 * may answer with), `ranking` (the score of each), `answer` (which results are shown, and how), `paging` (pages and streams).
 * `questions` and `live` contain other kinds of queries; `explain` gives the reasons for ranks. They use `access` (what a requester may
 * see), `trust` (how much each holder counts), `record` (stored versions), `columns` (current beliefs in memory) and `measures` (formulas).
 */
import { StepPace, type Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Cell, Row } from '../../model/table.ts'
import { countStrays, tablePages } from '../../pipeline/many-rows.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Lens, TableProblem } from '../lens.ts'
import { checkSettings } from './beliefs-settings.ts'
import { installDetector } from './contradiction/heuristic.ts'
import { watchesOf } from './nodes/notices/watches.ts'
import { BELIEFS_OPERATIONS } from './operations/beliefs-operations.ts'
import { beliefsOptions, beliefsStages } from './query/stages.ts'
import { BELIEFS, BELIEFS_TABLES, KIND, VERSIONS } from './tables.ts'
import { checkAllEdges, type EdgeWarning } from './trust/edges.ts'
import { BELIEFS_TRANSFER } from './trust/trust-transfer.ts'

const UNUSED_HELP =
  'They are not signed by the key that their agents have here. State them again with `querent trust set`, or remove them with `querent trust remove`.'

/**
 * Checks the tables of the lens for damage and returns at most one problem of each kind. It pauses after each page of rows so that other
 * work can run. It verifies the signature of every trust edge, a tenth of a millisecond each.
 */
export function* checkTables(reader: StoreReader): Steps<readonly TableProblem[]> {
  const entries = new Set<EntryKey>()
  const current = new Map<string, string | null>()
  for (const rows of tablePages(reader, BELIEFS, ['entry', 'supersedes'])) {
    addCurrent(reader, rows, current)
    for (const row of rows) entries.add(row['entry'] as EntryKey)
    yield
  }
  const past = new Map<string, string | null>()
  for (const rows of tablePages(reader, VERSIONS, ['holder', 'id', 'superseded_by'])) {
    for (const { holder, id, superseded_by: next } of rows)
      past.set(nameOf(holder, id), next ? nameOf(holder, next) : null)
    yield
  }
  const edges = yield* checkAllEdges(reader)
  const damages = [
    counted(yield* countStrays(reader, KIND, entries), 'beliefs have no entry, or entries of beliefs no belief'),
    counted(yield* leadingNowhere(past, current), 'versions name a successor that does not exist'),
    counted(yield* comingFromNowhere(past, current), 'beliefs follow a version that does not name them'),
    counted(edges.filter(isDamaged).length, 'statements of trust cannot be read'),
  ].filter(problem => problem !== '')
  const unsigned = edges.filter(edge => !isDamaged(edge))
  const who = [...new Set(unsigned.map(({ owner }) => owner))].slice(0, MAX_NAMED).join(', ')
  const unused = counted(unsigned.length, `statements of trust are not used: key or signature (of ${who})`)
  return [
    ...damages.map(message => ({ message, help: null })),
    ...(unused === '' ? [] : [{ message: unused, help: UNUSED_HELP }]),
  ]
}

/** Maximum number of agents that one problem message names. */
const MAX_NAMED = 5

/**
 * Whether a trust edge is damaged for a reason other than a bad signature or an unknown key; an edge with a bad signature can easily be
 * signed again.
 */
function isDamaged({ reason }: EdgeWarning): boolean {
  return reason !== 'key' && reason !== 'signature'
}

/**
 * Adds entries to the map `current`. Key: name (holder and id) of a current version of a belief. Value: name of the earlier version that it
 * replaced; null: it replaced none.
 */
function addCurrent(reader: StoreReader, rows: readonly Row[], current: Map<string, string | null>): void {
  const supersedes = new Map(rows.map(row => [row['entry'], row['supersedes'] as string | null]))
  for (const { key, holder, id } of reader.identities([...supersedes.keys()] as EntryKey[])) {
    const before = supersedes.get(key) ?? null
    current.set(nameOf(holder, id), before && nameOf(holder, before))
  }
}

/** Number of version names compared between two pauses in which other work can run: about a millisecond of work. */
const NAMES_AT_ONCE = 5_000

type Versions = ReadonlyMap<string, string | null>

function* leadingNowhere(past: Versions, current: Versions): Steps<number> {
  return yield* countWhere(past, (_, next) => next !== null && !past.has(next) && !current.has(next))
}

function* comingFromNowhere(past: Versions, current: Versions): Steps<number> {
  return yield* countWhere(current, (name, before) => before !== null && past.get(before) !== name)
}

function* countWhere(versions: Versions, isWrong: (name: string, other: string | null) => boolean): Steps<number> {
  const pace = new StepPace(NAMES_AT_ONCE)
  let count = 0
  for (const [name, other] of versions) {
    if (isWrong(name, other)) count++
    if (pace.isOver(1)) yield
  }
  return count
}

/** Name of a version, unique in the store: its holder and its id as JSON, because ids are unique only among the beliefs of one holder. */
function nameOf(holder: Cell | undefined, id: Cell | undefined): string {
  return JSON.stringify([holder, id])
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`
}

export const beliefsLens: Lens = {
  name: 'beliefs',
  summary: 'Statements that agents believe, ranked by meaning, confidence, trust in the holder, and time',
  tables: BELIEFS_TABLES,
  families: ['trust', 'agents', 'federations', 'nodes', 'peers'],
  options: beliefsOptions,
  stages: beliefsStages,
  operations: BELIEFS_OPERATIONS,
  settings: given => checkSettings(given),
  close: host => watchesOf(host).close(),
  check: checkTables,
  transfer: BELIEFS_TRANSFER,
  install: installDetector,
  takes: '`contradictionDetector`',
}
