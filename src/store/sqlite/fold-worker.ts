/** A thread that folds the log of one store back, on a connection of its own, on each message. */
import { parentPort, workerData } from 'node:worker_threads'
import { must } from '../../base/assert.ts'
import { type FoldOrder, type FoldReply, foldLog } from './fold-log.ts'
import { openNodeSqlite } from './node-sqlite.ts'

const port = must(parentPort, 'the port to the owner')
const db = openNodeSqlite({ file: String(workerData), readOnly: false, immutable: false, timeoutMs: 0 })
db.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')

port.on('message', (order: FoldOrder) => {
  port.postMessage(replyTo(order))
})

function replyTo(order: FoldOrder): FoldReply {
  try {
    return { done: foldLog(db, order) }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
