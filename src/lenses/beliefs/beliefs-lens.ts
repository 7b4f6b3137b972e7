/** The lens `beliefs`: what agents hold true, ranked by meaning, confidence, trust and time; each sees what it may. */
import type { Lens } from '../lens.ts'
import { BELIEFS_OPERATIONS } from './operations/operations.ts'
import { beliefsStages } from './query/stages.ts'
import { installDetector } from './questions/opposition/installed.ts'
import { checkTables } from './record/check-tables.ts'
import { checkSettings } from './settings.ts'
import { BELIEFS_TABLES } from './tables.ts'

export const beliefsLens: Lens = {
  name: 'beliefs',
  summary: 'What agents hold true, by meaning, confidence, trust in its holder, and time',
  tables: BELIEFS_TABLES,
  families: ['trust', 'agents', 'federations'],
  stages: beliefsStages,
  operations: BELIEFS_OPERATIONS,
  settings: given => checkSettings(given),
  check: checkTables,
  install: installDetector,
}
