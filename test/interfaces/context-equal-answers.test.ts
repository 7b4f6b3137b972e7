/** The lens context through library, command line, HTTP and MCP: equal envelopes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { sampleFiles } from '../unit/lenses/context/indexing/sample.ts'
import { CONTEXT_STEPS } from './context-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'

sameEverywhere({ embedder: 'none', lens: 'context', steps: () => CONTEXT_STEPS, prepare, alike })

function prepare(_: Engine, folder: string): void {
  for (const [name, text] of Object.entries(sampleFiles)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Ids of what others may see are made at random, for they must not tell how much there is. */
function alike(outcome: unknown): unknown {
  return JSON.parse(JSON.stringify(outcome), (key, value) =>
    key === 'id' && typeof value === 'number' && value > 2 ** 32 ? 'a new id' : value,
  )
}
