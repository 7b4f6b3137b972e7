/**
 * The lens `beliefs`: what agents hold true, ranked by meaning, confidence, trust and time; each sees what it may.
 *
 * A question goes through these rooms: `check` (is it sound), `query` (one question at one moment), `matching` (which
 * beliefs it may answer with), `ranking` (what each is worth), `answer` (which are shown, and how), `paging` (piece by
 * piece); `questions` and `live` ask in other ways, `explain` tells why. They stand on `access` (who sees what), `trust` (who
 * counts how much), `record` (versions as they are stored), `columns` (the current ones in memory) and `measures` (formulas).
 */
import type { Lens } from '../lens.ts'
import { EXPIRY_JOB } from './agents/federations.ts'
import { watchesOf } from './nodes/notices/watches.ts'
import { BELIEFS_OPERATIONS } from './operations/operations.ts'
import { installDetector } from './opposition/installed.ts'
import { beliefsOptions, beliefsStages } from './query/stages.ts'
import { checkTables } from './record/check-tables.ts'
import { checkSettings } from './settings.ts'
import { BELIEFS_TABLES } from './tables.ts'
import { BELIEFS_TRANSFER } from './trust/transfer.ts'

export const beliefsLens: Lens = {
  name: 'beliefs',
  summary: 'What agents hold true, by meaning, confidence, trust in its holder, and time',
  tables: BELIEFS_TABLES,
  families: ['trust', 'agents', 'federations', 'nodes', 'peers'],
  options: beliefsOptions,
  stages: beliefsStages,
  operations: BELIEFS_OPERATIONS,
  jobs: [EXPIRY_JOB],
  settings: given => checkSettings(given),
  close: host => watchesOf(host).close(),
  check: checkTables,
  transfer: BELIEFS_TRANSFER,
  install: installDetector,
  takes: '`contradictionDetector`',
}
