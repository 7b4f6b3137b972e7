/** `beliefs.query` piece by piece: chunks, progress, and the last one. */
import { describe, expect, it } from 'vitest'
import { BELIEFS_OPERATIONS } from '../../../../../src/lenses/beliefs/operations/beliefs-operations.ts'
import { type LastChunk, type QueryChunk, streamQuery } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { checkStreamedQuery } from '../schema/checks.ts'
import { allOf, asJson, filled, inputOf, streamOf } from './streaming.ts'
import { ids, World } from './world.ts'

describe('BQ-150, BQ-151: the chunks of a stream', () => {
  it.each([
    ['of twenty', {}, [20, 20, 5]],
    ['of seven, up to a limit', { chunk_size: 7, limit: 17 }, [7, 7, 3]],
    ['of a hundred', { chunk_size: 100, limit: 1000 }, [45]],
    ['behind an offset', { chunk_size: 20, offset: 30 }, [15]],
    ['of one', { chunk_size: 1, limit: 3 }, [1, 1, 1]],
    ['with diversity', { chunk_size: 4, limit: 11, diversity: { enabled: true, lambda: 0.4 } }, [4, 4, 3]],
  ])('joined are the ordinary answer, in its order: %s', async (_, options, sizes) => {
    const world = await filled(45)
    const limit = 'limit' in options ? {} : { limit: 1000 }
    const whole = await world.ask({ ...options, ...limit, chunk_size: 100 })
    const chunks = await allOf(streamOf(world, { ...options, ...limit }))
    expect(chunks.map(({ beliefs }) => beliefs.length)).toEqual(sizes)
    expect(chunks.flatMap(({ beliefs }) => beliefs)).toEqual(whole.beliefs)
  })

  it.each([0, 101, 1.5, 'ten'])('cannot be of %s', async size => {
    const world = await filled(1)
    const details = expect.objectContaining({ path: 'options.chunk_size' })
    expect(() => streamOf(world, { chunk_size: size })).toThrow(
      expect.objectContaining({ code: 'INVALID_QUERY', details }),
    )
  })
})

describe('BQ-152: progress', () => {
  it('never falls, and is 1 with the last chunk alone', async () => {
    const world = await filled(23)
    for (const [options, count] of [
      [{ chunk_size: 5, limit: 100 }, 5],
      [{ chunk_size: 5, limit: 20 }, 4],
      [{ chunk_size: 3, limit: 100, diversity: { enabled: true, max_per_holder: 2 } }, 2],
    ] as const) {
      const chunks = await allOf(streamOf(world, options))
      expect(chunks.length).toBeGreaterThanOrEqual(count)
      const progress = chunks.map(chunk => chunk.progress)
      expect(progress).toEqual([...progress].sort((a, b) => a - b))
      expect(progress.every(one => one > 0 && one <= 1)).toBe(true)
      expect(chunks.map(({ done }) => done)).toEqual(chunks.map((_, at) => at === chunks.length - 1))
      expect(progress.map(one => one === 1)).toEqual(chunks.map(({ done }) => done))
    }
  })

  it('is all there is to tell where nothing is found', async () => {
    const world = await World.open()
    expect(await allOf(streamOf(world, {}))).toMatchObject([{ beliefs: [], progress: 1, done: true, total_count: 0 }])
  })

  it('ends with a chunk of its own where the rest has gone', async () => {
    const world = await filled(4)
    const stream = streamOf(world, { chunk_size: 2 })
    const first = (await stream.next()).value as QueryChunk
    expect(first.done).toBe(false)
    const read = ids({ beliefs: first.beliefs })
    for (const id of ['b0', 'b1', 'b2', 'b3'].filter(one => !read.includes(one))) {
      await world.call('beliefs.delete', Number(id.slice(1)) % 2 === 0 ? 'bob' : 'cyd', { belief_id: id })
    }
    expect(await allOf(stream)).toMatchObject([{ beliefs: [], progress: 1, done: true, errors: [], partial: false }])
  })
})

describe('BQ-150, BQ-155: the last chunk', () => {
  it('says of the whole what the page would, and nothing of it comes before', async () => {
    const world = await filled(23)
    for (const options of [{ limit: 17 }, { limit: 100 }, { limit: 17, offset: 4, include_explanation: true }]) {
      const { beliefs, conflicts: _, query_time_ms: __, next_cursor: next, ...page } = await asJson(world, options)
      const chunks = await allOf(streamOf(world, { ...options, chunk_size: 5 }))
      const { next_cursor: cursor, conflicts: ___, ...last } = chunks.at(-1) as LastChunk
      expect(last).toEqual({ ...page, beliefs: last.beliefs, progress: 1, done: true })
      expect(chunks.flatMap(chunk => chunk.beliefs)).toHaveLength((beliefs as readonly unknown[]).length)
      for (const { conflicts: ____, ...chunk } of chunks.slice(0, -1)) {
        expect(Object.keys(chunk).sort()).toEqual(['beliefs', 'done', 'progress'])
      }
      expect(typeof cursor).toBe(typeof next)
    }
  })

  it('has what failed: time was up for a later piece, and the part so far has a cursor', async () => {
    const world = await filled(12)
    const whole = await world.ask({ limit: 100 })
    const state = stateOf(world.engine.host('beliefs'))
    const query = checkStreamedQuery(inputOf({ chunk_size: 5, timeout_ms: 1000 }), { id: 'ann', trustGraph: null })
    let [now, step] = [0, 0]
    const machineTime = () => {
      now += step
      return now
    }
    const stream = streamQuery(state, query, { requester: 'ann', signal: new AbortController().signal, machineTime })
    const first = (await stream.next()).value as QueryChunk
    expect(first).toMatchObject({ done: false })
    step = 2000
    const [last, ...none] = (await allOf(stream)) as readonly LastChunk[]
    expect(none).toEqual([])
    expect(last).toMatchObject({ beliefs: [], progress: 1, done: true, partial: true, total_count: 12 })
    expect(last?.errors).toMatchObject([{ code: 'TIMEOUT', retryable: true }])
    const rest = await world.ask({ limit: 100, cursor: last?.next_cursor })
    expect([...first.beliefs, ...rest.beliefs]).toEqual(whole.beliefs)
  })

  it('fails as the question would where there was no time for a first piece', async () => {
    const world = await filled(3)
    const state = stateOf(world.engine.host('beliefs'))
    const query = checkStreamedQuery(inputOf({ timeout_ms: 1000 }), { id: 'ann', trustGraph: null })
    let now = 0
    const machineTime = () => (now += 2000)
    const stream = streamQuery(state, query, { requester: 'ann', signal: new AbortController().signal, machineTime })
    await expect(stream.next()).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('conflicts come with the chunk whose beliefs contradict each other', async () => {
    const world = await filled(23)
    const page = await asJson(world, { limit: 100 })
    const [whole] = await allOf(streamOf(world, { chunk_size: 100 }))
    expect(whole?.conflicts?.length).toBeGreaterThan(0)
    expect(whole?.conflicts).toEqual(page['conflicts'])
    let found = 0
    const shown = new Set<string>()
    for (const { beliefs, conflicts = [] } of await allOf(streamOf(world, { chunk_size: 5 }))) {
      found += conflicts.length
      const here = ids({ beliefs })
      for (const id of here) shown.add(id)
      // With the later of the two, wherever the earlier one was.
      for (const { belief_ids } of conflicts) {
        expect(belief_ids.every(id => shown.has(id))).toBe(true)
        expect(belief_ids.some(id => here.includes(id))).toBe(true)
      }
    }
    expect(found).toBeGreaterThan(0)
  })
})

describe('BQ-155: each chunk', () => {
  it('is checked as it leaves', async () => {
    const world = await filled(12)
    const whole = ids(await world.ask())
    const stream = streamOf(world, { chunk_size: 3 })
    await stream.next()
    await world.member('ann', 'suspended')
    const rest = (await allOf(stream)).flatMap(ids)
    expect(rest).toEqual(whole.slice(3).filter(id => Number(id.slice(1)) % 3 !== 0))
    expect(rest.length).toBeLessThan(9)
  })

  it('is asked for by options.stream where there are streams, and nowhere else', async () => {
    const world = await filled(3)
    expect(await allOf(streamOf(world, { stream: true }))).toHaveLength(1)
    expect(await world.refused({ stream: true })).toMatchObject({
      ...{ code: 'INVALID_QUERY', path: 'options.stream', reason: 'not_supported' },
    })
    await expect(world.call('beliefs.count', 'ann', inputOf({ stream: true }))).rejects.toMatchObject({
      details: { reason: 'not_supported' },
    })
  })

  it('counts what it shows as used (BQ-072), and refuses as asking would', async () => {
    const world = await filled(3)
    world.wait(120_000)
    await allOf(streamOf(world, {}))
    const { edges } = (await world.call('trust.list', 'ann', {})) as { edges: readonly Json[] }
    expect(edges.map(edge => edge['last_used'])).toEqual([new Date(world.clock.now()).toISOString()])
    expect(() => streamOf(world, { limit: 0 })).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
  })
})

it('a stream is an operation of the lens, and a method of the library', async () => {
  const world = await filled(6)
  const operation = BELIEFS_OPERATIONS.find(({ name }) => name === 'beliefs.query')
  expect(operation?.stream).toBeDefined()
  const beliefs = beliefsOf(world.engine, { id: 'ann' })
  const chunks = await allOf(beliefs.stream({ semantic: 'fox honey', options: { scope: EVERYWHERE, chunk_size: 4 } }))
  expect(chunks.map(chunk => chunk.beliefs.length)).toEqual([4, 2])
})
