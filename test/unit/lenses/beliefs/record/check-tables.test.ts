/** The doctor's look at the tables of beliefs: silent where all is well, a line for each kind of damage. */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import { checkTables } from '../../../../../src/lenses/beliefs/beliefs-lens.ts'
import { BELIEFS, KIND, TRUST, VERSIONS } from '../../../../../src/lenses/beliefs/tables.ts'
import { putEdge } from '../../../../../src/lenses/beliefs/trust/edges.ts'
import type { Row } from '../../../../../src/model/table.ts'
import type { StoreWriter } from '../../../../../src/store/store.ts'
import { countingBytes } from '../../../../support/engines.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'
import { makeWorld, NOW, type World } from './world.ts'

/** A belief of three versions, a deleted one, and a statement of trust. */
function soundWorld(): World {
  const world = makeWorld()
  const first = world.put('ann', { id: 'a' })
  const second = world.supersede('ann', first.id, { id: 'b', content: 'It is dry.' })
  world.supersede('ann', second.id, { id: 'c', content: 'Both.' })
  world.remove('ann', world.put('ann', { id: 'd' }).id)
  const draft = { target: 'bob', level: 0.5, domains: {}, basis: [], persistent: false, exposure: 'private' } as const
  world.store.write(NOW, writer =>
    putEdge(writer, 'ann', { ...draft, signed: null }, { now: NOW, random: countingBytes() }),
  )
  return world
}

function found(damage: (writer: StoreWriter) => void): readonly string[] {
  const { store } = soundWorld()
  store.write(NOW, damage)
  return store.read(reader => atOnce(checkTables(reader))).map(({ message }) => message)
}

describe('the tables of beliefs', () => {
  it('are sound after writes of every kind', () => {
    expect(found(() => undefined)).toEqual([])
  })

  it.each<[string, (writer: StoreWriter) => void, string]>([
    [
      'an aspect is gone',
      writer => writer.table(BELIEFS).delete(writer.table(BELIEFS).scan({}, { columns: ['entry'] })[0] as Row),
      '1 beliefs have no entry, or entries of beliefs no belief',
    ],
    [
      'an entry claims to be a belief',
      writer => {
        const draft = { ...draftOf({ id: 'x' }), kind: KIND }
        writer.put(draft, wholeChunk(draft))
      },
      '1 beliefs have no entry, or entries of beliefs no belief',
    ],
    [
      'a version in the middle is gone',
      writer => writer.table(VERSIONS).delete({ holder: 'ann', id: 'b' }),
      '1 versions name a successor that does not exist',
    ],
    [
      'a version names another successor',
      writer => {
        const row = writer.table(VERSIONS).get({ holder: 'ann', id: 'b' }) as Row
        writer.table(VERSIONS).put({ ...row, superseded_by: 'a' })
      },
      '1 beliefs follow a version that does not name them',
    ],
    [
      'a level was changed by hand',
      writer => {
        const row = writer.table(TRUST).get({ owner: 'ann', target: 'bob' }) as Row
        writer.table(TRUST).put({ ...row, level: 1 })
      },
      '1 statements of trust are not used: key or signature (of ann)',
    ],
  ])('tell that %s', (_, damage, problem) => {
    expect(found(damage)).toContain(problem)
  })
})

it('QE-019: are read in a step for every 500 rows', () => {
  const COUNT = 1_100
  const { store, put } = makeWorld()
  for (let at = 0; at < COUNT; at++) put('ann', { id: `b${at}` })
  const work = checkTables(store)
  let steps = 0
  let step = work.next(false)
  for (; step.done !== true; step = work.next(false)) steps++
  expect(step.value).toEqual([])
  expect(steps).toBeGreaterThanOrEqual(COUNT / 500)
})
