/** Where limits meet operations: what is charged, and what a refused requester receives (BQ-189, BQ-190). */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../../src/engine/engine.ts'
import { unread } from '../../../src/engine/run-operation.ts'
import { RequesterLimits } from '../../../src/identity/limits.ts'
import { UNLIMITED } from '../../../src/identity/rates.ts'
import { BeliefsError } from '../../../src/lenses/beliefs/errors.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import type { CallContext } from '../../../src/model/operation.ts'
import { reportedError } from '../../../src/model/reported-error.ts'
import { bugReport } from '../../../src/ops/admin-ops.ts'
import { type EngineOperation, makeCatalog, runOperation, streamOperation } from '../../../src/ops/catalog.ts'
import { noEngine, operation } from '../../support/operations.ts'

const ana = { viewer: { id: 'ana' }, signal: new AbortController().signal }
const remote: CallContext = { ...ana, remote: true }

/** That lets each requester have so many units. */
function engineWith(burst: number): Engine {
  return { ...noEngine, limits: new RequesterLimits({ unitsPerMinute: 60, burst }, () => 0) }
}

const work = operation('work', (_, { charge }) => ({ charges: charge !== undefined }), {
  cost: input => (input as { cost?: number }).cost ?? 1,
  async *stream() {
    yield { piece: 1 }
  },
})

describe('a remote request', () => {
  it('is charged by its input before it runs', async () => {
    const engine = engineWith(5)
    await expect(runOperation(work, engine, { cost: 4 }, remote)).resolves.toEqual({ charges: true })
    await expect(runOperation(work, engine, { cost: 2 }, remote)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { retry_after_ms: 1000, limit: 60 },
    })
    await expect(runOperation(work, engine, {}, remote)).resolves.toBeDefined()
  })

  it('QE-019, BQ-190: is charged for the length of each question, and for that of any other text it reads by', async () => {
    const units = async (one: EngineOperation, input: object): Promise<number> => {
      let taken = 0
      const charge = (_: string, count: number) => {
        taken += count
      }
      const limits = { ...UNLIMITED, charge }
      await runOperation(one, { ...noEngine, limits }, input, remote)
      return taken
    }
    const text = (length: number) => 'x'.repeat(length)
    expect(await units(work, { text: text(1000) })).toBe(1)
    expect(await units(work, { text: text(1001) })).toBe(2)
    // Code points, not UTF-16 units; texts at any depth together; what a cursor holds is not of the requester's choosing.
    expect(await units(work, { text: '\u{1f98a}'.repeat(1000), cursor: text(5000) })).toBe(1)
    expect(await units(work, { a: [{ b: text(1500) }], c: text(1500) })).toBe(3)
    const batch = operation('batch', () => ({}), { cost: () => 2, questions: input => (input as { all: [] }).all })
    expect(await units(batch, { all: [{ text: text(1001) }, { text: text(1000) }, { text: text(2001) }] })).toBe(5)
    const run = (_: unknown, { charge }: CallContext) => {
      charge?.(1, { text: text(3000) })
      return {}
    }
    const parts = operation('parts', run, {
      cost: () => 0,
      questions: () => [],
    })
    expect(await units(parts, { text: text(3000) })).toBe(3)
    expect(
      await units(
        operation('look', () => ({})),
        { text: text(1001) },
      ),
    ).toBe(2)
    const write = operation('write', () => ({}), { effect: { kind: 'write', idempotent: true } })
    expect(await units(write, { text: text(100_000) })).toBe(1)
  })

  it('is charged once for a stream, and refused before its first piece', () => {
    const engine = engineWith(1)
    expect(() => streamOperation(work, engine, {}, remote)).not.toThrow()
    expect(() => streamOperation(work, engine, {}, remote)).toThrow('wait 1000 ms')
  })

  it('costs a unit when it has no streamed form, and the error is that of its lens', () => {
    const { stream: _, ...whole } = work
    const heard: unknown[] = []
    const refusing = {
      ...whole,
      refusal: (_engine: Engine, error: QuerentError, input: unknown) => {
        heard.push([error.code, input])
        return new BeliefsError(error.code === 'rate_limited' ? 'RATE_LIMITED' : 'INVALID_QUERY', error.message)
      },
    }
    const engine = engineWith(2)
    const ask = () => streamOperation(refusing, engine, { cost: 9 }, remote)
    for (let at = 0; at < 2; at++) expect(ask).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
    expect(ask).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
    expect(heard).toEqual([
      ['invalid_argument', { cost: 9 }],
      ['invalid_argument', { cost: 9 }],
      ['rate_limited', { cost: 9 }],
    ])
    expect(() => streamOperation(whole, engine, {}, ana)).toThrow('work: it cannot be streamed')
  })

  it('costs a unit when its input is wrong or could not be read', async () => {
    const engine = engineWith(2)
    const strict = { ...work, input: z.strictObject({}) }
    await expect(runOperation(strict, engine, { cost: 9 }, remote)).rejects.toMatchObject({ code: 'unknown_field' })
    const tooLarge = new QuerentError('too_large', 'body: at most 1 bytes')
    expect(unread(work, engine, tooLarge, remote)).toBe(tooLarge)
    expect(unread(work, engine, tooLarge, remote)).toMatchObject({ code: 'rate_limited' })
  })

  it('costs a unit when it is denied, and what is wrong with it is not told', async () => {
    const owned = { ...work, effect: { ...work.effect, ownerOnly: true }, input: z.strictObject({}) }
    const engine = engineWith(3)
    await expect(runOperation(owned, engine, {}, remote)).rejects.toMatchObject({ code: 'denied' })
    await expect(runOperation(owned, engine, { no: 1 }, remote)).rejects.toMatchObject({ code: 'denied' })
    expect(() => streamOperation(owned, engine, {}, remote)).toThrow(expect.objectContaining({ code: 'denied' }))
    await expect(runOperation(owned, engine, {}, remote)).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(runOperation(owned, engine, {}, ana)).rejects.toMatchObject({ code: 'denied' })
  })

  it('costs nothing more when it is let through, wherever it might be denied', () => {
    const owned = [...makeCatalog(noEngine).values()].filter(({ effect }) => effect.ownerOnly)
    expect(owned.map(({ cost }) => cost)).toEqual(owned.map(() => undefined))
  })

  it('is refused in the words of its lens', async () => {
    const refusing = { ...work, refusal: () => new BeliefsError('RATE_LIMITED', 'slowly') }
    const engine = engineWith(1)
    await runOperation(refusing, engine, {}, remote)
    await expect(runOperation(refusing, engine, {}, remote)).rejects.toBeInstanceOf(BeliefsError)
  })
})

describe('a remote question (BQ-193)', () => {
  const heard: unknown[] = []
  const limits = {
    charge: () => undefined,
    ask: (viewer: string, question: object) => heard.push([viewer, question]),
    stream: () => () => undefined,
    failed: () => undefined,
  }
  const engine = { ...noEngine, limits } as unknown as Engine
  const asked = async (one: typeof work, input: object, context: CallContext = remote): Promise<unknown[]> => {
    heard.length = 0
    await runOperation(one, engine, input, context)
    return [...heard]
  }

  it('is reported to the counter of different questions: the input of whatever has a cost', async () => {
    expect(await asked(work, { text: 'x' })).toEqual([['ana', { operation: 'work', input: { text: 'x' } }]])
    const { cost: _, ...plain } = work
    expect(await asked(plain, { text: 'x' })).toEqual([])
    heard.length = 0
    streamOperation(work, engine, { text: 'x' }, remote)
    expect(heard).toHaveLength(1)
  })

  it('is each of those that an operation says, or charges on their own', async () => {
    const many = { ...work, questions: () => ['a', 'b'] }
    expect(await asked(many, {})).toMatchObject([
      ['ana', { input: 'a' }],
      ['ana', { input: 'b' }],
    ])
    const parts = operation('parts', (_, { charge }) => charge?.(2, 'part') ?? {}, {
      cost: () => 0,
      questions: () => [],
    })
    expect(await asked(parts, {})).toEqual([['ana', { operation: 'parts', input: 'part' }]])
  })

  it('is not counted of the local owner, nor where it is no remote one', async () => {
    expect(await asked(work, {}, { ...remote, viewer: { id: 'owner' } })).toEqual([])
    expect(await asked(work, {}, ana)).toEqual([])
  })
})

it('a local request is not charged, whoever it is asked as', async () => {
  const engine = engineWith(1)
  for (let i = 0; i < 5; i++) {
    await expect(runOperation(work, engine, { cost: 9 }, ana)).resolves.toEqual({ charges: false })
  }
})

describe('an error of the lens beliefs', () => {
  it('is reported to others as it is: where in the request, of which request, whether to try again (BQ-183, BQ-185)', () => {
    const error = new BeliefsError('INVALID_QUERY', 'semantic: expected a text', { path: 'semantic' })
    error.requestId = 'abc'
    expect(reportedError(error, { id: 'ana' }).toJSON()).toEqual(error.toJSON())
    expect(reportedError(error, null).toJSON()).toMatchObject({ details: { path: 'semantic' }, request_id: 'abc' })
  })

  it('is reported to whoever runs the node when it was a bug', () => {
    const bug = new BeliefsError('INTERNAL_ERROR', 'fixed', {}, { cause: new TypeError('inside') })
    expect(bugReport(bug, 'r1')).toContain('inside')
    const disk = new BeliefsError('INTERNAL_ERROR', 'fixed', {}, { cause: new QuerentError('io_failed', 'disk') })
    expect(bugReport(disk, 'r1')).toBeNull()
    expect(reportedError(bug, { id: 'ana' }).message).toBe('fixed')
  })
})
