/** The lens chroma through library, command line, HTTP and MCP: equal rows, equal errors (CQ-122, CQ-001). */
import { CHROMA_STEPS } from './chroma-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import { withoutNewIds } from './run-scenario.ts'
import type { Step } from './scenario.ts'

sameEverywhere({
  embedder: 'none',
  lens: 'chroma',
  rows: 'CQ-118, CQ-119, CQ-122',
  steps: () => CHROMA_STEPS,
  alike,
})

/** New nodes get random ids; how much was left to decay depends on what ran in the background. */
function alike(outcome: unknown, { operation }: Step): unknown {
  if (operation === 'chroma.decay' || operation === 'chroma.lifecycle') return Object.keys(outcome ?? {})
  return withoutNewIds(outcome)
}
