/** The lens collections through library, command line, HTTP and MCP, by meaning: equal results, warnings and errors. */
import type { Engine } from '../../src/engine/engine.ts'
import { modelFolder } from '../support/model.ts'
import { COLLECTED, COLLECTIONS_STEPS } from './collections-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import { callHere } from './interfaces.ts'

sameEverywhere({ embedder: 'local', lens: 'collections', steps: () => COLLECTIONS_STEPS, prepare })

async function prepare(engine: Engine): Promise<void> {
  modelFolder() // builds the model where it is not there yet
  await callHere(engine, 'put', { entries: COLLECTED, wait: true })
}
