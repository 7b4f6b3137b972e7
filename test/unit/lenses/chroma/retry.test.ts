import { describe, expect, it } from 'vitest'
import { DatabaseError, ValidationError } from '../../../../src/lenses/chroma/errors.ts'
import { retrying } from '../../../../src/lenses/chroma/retry.ts'
import { QuerentError } from '../../../../src/model/errors.ts'

function failing(times: number, error: Error) {
  const waits: number[] = []
  let calls = 0
  const work = () => {
    calls++
    if (calls <= times) throw error
    return 'done'
  }
  return { run: () => retrying(work, async ms => void waits.push(ms)), waits, calls: () => calls }
}

const BUSY = new QuerentError('store_locked', 'busy')

describe('CQ-106: a busy database', () => {
  it('is tried again after 50, 100, 200 and 400 ms', async () => {
    const four = failing(4, BUSY)
    expect(await four.run()).toBe('done')
    expect(four.waits).toEqual([50, 100, 200, 400])
  })

  it('that stays busy is a DatabaseError after five attempts', async () => {
    const always = failing(99, BUSY)
    const error = await always.run().catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(DatabaseError)
    expect(error).toMatchObject({ details: { retryable: true, attempts: 5 }, retryable: true, cause: BUSY })
    expect(always.calls()).toBe(5)
  })

  it.each(['store_readonly', 'store_corrupt', 'io_failed'] as const)(
    'of other failures, %s is told at once',
    async code => {
      const broken = failing(1, new QuerentError(code, 'broken'))
      await expect(broken.run()).rejects.toMatchObject({
        name: 'DatabaseError',
        details: { retryable: false, attempts: 1 },
      })
      expect(broken.waits).toEqual([])
    },
  )

  it('what is no matter of the database passes as it is', async () => {
    for (const error of [new ValidationError('x', 'x'), new QuerentError('denied', 'no'), new TypeError('bug')]) {
      const other = failing(1, error)
      expect(await other.run().catch((failure: unknown) => failure)).toBe(error)
      expect(other.calls()).toBe(1)
    }
  })
})
