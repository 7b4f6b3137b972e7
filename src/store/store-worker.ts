/** A worker thread that works on one store file with its own connections: folds its log, or examines it. */
import { workerData } from 'node:worker_threads'
import { answerMessages } from '../base/thread.ts'
import { type FoldOrder, foldLog } from './sqlite/fold-log.ts'
import { openNodeSqlite, type SqlDatabase } from './sqlite/node-sqlite.ts'

export type StoreOrder = FoldOrder | 'examine'

const file = String(workerData)
let db: SqlDatabase | null = null

answerMessages<StoreOrder>(async order => {
  if (order === 'examine') return (await import('./care/store-care.ts')).examineStore(file)
  db ??= opened()
  return foldLog(db, order)
})

function opened(): SqlDatabase {
  const opened = openNodeSqlite({ file, readOnly: false, immutable: false, timeoutMs: 0 })
  opened.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
  return opened
}
