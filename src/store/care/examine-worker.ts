/** A thread that examines one store file and reports what it found, or what it failed with. */
import { parentPort, workerData } from 'node:worker_threads'
import { must } from '../../base/assert.ts'
import { QuerentError } from '../../model/errors.ts'
import type { ExaminedAside } from './examine-aside.ts'
import { examineStore } from './store-care.ts'

must(parentPort, 'the port to the owner').postMessage(examined(String(workerData)))

function examined(file: string): ExaminedAside {
  try {
    return { findings: examineStore(file) }
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    const { code, message, details } = error
    return { failure: { code, message, details } }
  }
}
