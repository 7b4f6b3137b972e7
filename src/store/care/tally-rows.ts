/** The numbers of chunks and vectors that are kept by partition, against what they count. */
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { setTally, wrongTallies } from '../sqlite/tallies.ts'
import { type Check, counted, problemOf, REPAIR_HELP, those } from './problem.ts'

export const tallyRows: Check = {
  name: 'tallies',
  sound: 'passages and vectors are as many as are counted',
  look(db) {
    const names = wrongTallies(db).map(({ partition, model }) => `partition ${partition} model ${model}`)
    const mend = (at: SqlDatabase): string => `counted ${counted(recount(at), 'number')} again`
    return those([problemOf(names, 'number is wrong', 'numbers are wrong', { help: REPAIR_HELP, mend })])
  },
}

function recount(db: SqlDatabase): number {
  const wrong = wrongTallies(db)
  const drop = db.prepare('delete from tallies where partition = ? and model = ?')
  const isPartition = db.prepareArrays('select 1 from partitions where id = ?')
  for (const { partition, model, right } of wrong) {
    if (isPartition.get(partition) === undefined) drop.run(partition, model)
    else setTally(db, partition, model, right)
  }
  return wrong.length
}
