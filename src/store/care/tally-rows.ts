/** The numbers of chunks and vectors that are kept by partition, against what they count. */
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { CHUNKS } from '../sqlite/tallies.ts'
import { type Check, counted, problemOf, REPAIR_HELP, those } from './problem.ts'

interface WrongTally {
  readonly partition: number
  readonly model: number
  readonly right: number
}

export const tallyRows: Check = {
  name: 'tallies',
  sound: 'passages and vectors are as many as are counted',
  look(db) {
    const names = wrongOnes(db).map(({ partition, model }) => `partition ${partition} model ${model}`)
    const mend = (at: SqlDatabase): string => `counted ${counted(recount(at), 'number')} again`
    return those([problemOf(names, 'number is wrong', 'numbers are wrong', { help: REPAIR_HELP, mend })])
  },
}

function wrongOnes(db: SqlDatabase): readonly WrongTally[] {
  const sql = `
    with counted (partition, model, right) as (
      select e.partition, ${CHUNKS}, count(*) from chunks c join entries e on e.key = c.entry group by 1
      union all
      select e.partition, v.key & 255, count(*) from vectors v
        join chunks c on c.key = v.key >> 8 join entries e on e.key = c.entry and e.key = v.entry group by 1, 2
    ),
    kept as (select partition, model, count from tallies)
    select coalesce(c.partition, k.partition), coalesce(c.model, k.model), coalesce(c.right, 0)
    from counted c full join kept k on k.partition = c.partition and k.model = c.model
    where coalesce(c.right, 0) <> coalesce(k.count, 0) order by 1, 2`
  const rows = db.prepareArrays<[number, number, number]>(sql).all()
  return rows.map(([partition, model, right]) => ({ partition, model, right }))
}

function recount(db: SqlDatabase): number {
  const wrong = wrongOnes(db)
  const set = db.prepare(
    `insert into tallies (partition, model, count) values (?, ?, ?) on conflict do update set count = excluded.count`,
  )
  const drop = db.prepare('delete from tallies where partition = ? and model = ?')
  const isPartition = db.prepareArrays('select 1 from partitions where id = ?')
  for (const { partition, model, right } of wrong) {
    if (isPartition.get(partition) === undefined) drop.run(partition, model)
    else set.run(partition, model, right)
  }
  return wrong.length
}
