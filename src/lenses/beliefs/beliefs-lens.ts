/** The lens `beliefs`: what agents hold true, ranked by meaning, confidence, trust and time; each sees what it may. */
import type { Lens } from '../lens.ts'
import { BELIEFS_TABLES } from './tables.ts'

export const beliefsLens: Lens = {
  name: 'beliefs',
  summary: 'What agents hold true, by meaning, confidence, trust in its holder, and time',
  tables: BELIEFS_TABLES,
}
