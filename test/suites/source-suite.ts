/** What every source must do, whatever engine answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/base/canonical.ts'
import { Deadline } from '../../src/base/clock.ts'
import { type AccessScope, LOCAL_OWNER } from '../../src/model/viewer.ts'
import type { CollectionAnswer, Source, SourceRequest } from '../../src/pipeline/source.ts'

export interface SuiteRecord {
  readonly id: string
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  /** Length 1. */
  readonly vector: Float32Array
}

export interface SourceSuiteParts {
  readonly source: Source
  readonly accessScope: AccessScope
  /** Names of all collections there are. */
  collections(): Promise<readonly string[]>
  close(): Promise<void>
}

export const SUITE_DIMENSIONS = 4

/** Far enough from each other that no engine's rounding can change the order. */
export const SUITE_RECORDS: Readonly<Record<'items' | 'analysis', readonly SuiteRecord[]>> = {
  items: [
    record('one', [1, 0, 0, 0], ['mcp', 'news'], { title: 'One', n: 1, source_type: 'blogs', date: '2026-02-24' }),
    record('two', [0.9, 0.4, 0, 0], ['mcp'], { title: 'Two', n: 2, source_type: 'docs' }),
    record('three', [0.6, 0.7, 0.3, 0], ['other'], { title: 'Three', n: 3, source_type: 'blogs' }),
    record('four', [0.2, 0.1, 0.9, 0.3], [], { title: 'Four', n: '1', source_type: 'docs', ok: true }),
    record('five', [-0.5, 0.3, 0.2, 0.7], ['news'], { title: 'Five', source_type: 'blogs' }),
  ],
  analysis: [
    record('uno', [0.7, 0.1, 0.1, 0.6], [], { item_id: 'one', confidence: 0.9 }),
    record('dos', [0.1, 0.9, 0.1, 0.2], [], { item_id: 'two', confidence: 0.5 }),
  ],
}

/** `open` is called once and makes a source that holds `SUITE_RECORDS`. */
export function sourceSuite(name: string, open: () => Promise<SourceSuiteParts>): void {
  describe(`source contract: ${name}`, () => {
    let parts: SourceSuiteParts
    beforeAll(async () => {
      parts = await open()
    })
    afterAll(async () => {
      await parts?.source.close()
      await parts?.close()
    })

    const ask = async (fields: Partial<SourceRequest> = {}): Promise<readonly CollectionAnswer[]> => {
      const answer = await parts.source.ask({
        ...QUESTION,
        accessScope: parts.accessScope,
        deadline: new Deadline(20_000),
        ...fields,
      })
      expect(answer.source).toBe(parts.source.name)
      expect(answer.ms).toBeGreaterThanOrEqual(0)
      return answer.collections
    }
    const idsOf = async (fields: Partial<SourceRequest>): Promise<readonly string[]> => {
      const [answer] = await ask(fields)
      expect(answer?.error).toBeNull()
      return (answer?.records ?? []).map(({ id }) => id)
    }

    it('answers for each collection, in the order asked, nearest first', async () => {
      const answers = await ask({ collections: ['analysis', 'items'] })
      expect(answers.map(({ collection }) => collection)).toEqual(['analysis', 'items'])
      expect(answers.map(({ records }) => records.map(({ id }) => id))).toEqual([
        ['uno', 'dos'],
        ['one', 'two', 'three', 'four', 'five'],
      ])
      expect(answers.every(({ error, exhausted }) => error === null && exhausted)).toBe(true)
    })

    it('tells distances of which the space makes the cosine', async () => {
      const [answer] = await ask()
      const toCosine = answer?.space === 'l2' ? 0.5 : 1
      for (const { id, distance } of answer?.records ?? []) {
        const { vector } = SUITE_RECORDS.items.find(one => one.id === id) as SuiteRecord
        expect(1 - (distance ?? 0) * toCosine).toBeCloseTo(dot(vector, QUESTION.vector), 4)
      }
    })

    it('gives records back as they are: text, metadata, tags', async () => {
      const [answer] = await ask({ limit: 1 })
      const [found] = answer?.records ?? []
      expect(found).toMatchObject({ id: 'one', content: 'The text of one.', tags: ['mcp', 'news'] })
      expect(found?.metadata).toMatchObject({ ...SUITE_RECORDS.items[0]?.metadata })
    })

    it('gives at most the limit, and says whether there is more', async () => {
      const [two] = await ask({ limit: 2 })
      expect({ ids: two?.records.map(({ id }) => id), more: !two?.exhausted }).toEqual({
        ids: ['one', 'two'],
        more: true,
      })
      const [many] = await ask({ limit: 500 })
      expect({ count: many?.records.length, more: !many?.exhausted }).toEqual({ count: 5, more: false })
    })

    it('holds to conditions, strict by type; a missing key fulfils none', async () => {
      expect(await idsOf({ where: [{ key: 'source_type', op: 'eq', value: 'blogs' }] })).toEqual([
        'one',
        'three',
        'five',
      ])
      expect(await idsOf({ where: [{ key: 'n', op: 'eq', value: 1 }] })).toEqual(['one'])
      expect(await idsOf({ where: [{ key: 'n', op: 'gte', value: 2 }] })).toEqual(['two', 'three'])
      expect(await idsOf({ where: [{ key: 'n', op: 'lt', value: 2 }] })).toEqual(['one'])
      expect(await idsOf({ where: [{ key: 'ok', op: 'eq', value: true }] })).toEqual(['four'])
      const both = [
        { key: 'source_type', op: 'eq', value: 'blogs' },
        { key: 'n', op: 'gte', value: 2 },
      ] as const
      expect(await idsOf({ where: both })).toEqual(['three'])
    })

    it('narrows to records that have one of the tags', async () => {
      expect(await idsOf({ anyTags: ['news'] })).toEqual(['one', 'five'])
      expect(await idsOf({ anyTags: ['other', 'mcp'] })).toEqual(['one', 'two', 'three'])
      const narrowed = [{ key: 'source_type', op: 'eq', value: 'docs' }] as const
      expect(await idsOf({ anyTags: ['mcp', 'news'], where: narrowed })).toEqual(['two'])
      expect(await idsOf({ anyTags: ['nobody has it'] })).toEqual([])
    })

    it('tells of a collection that is not there by name, makes none, and answers for the others', async () => {
      const before = await parts.collections()
      const answers = await ask({ collections: ['nowhere', 'analysis'] })
      expect(answers.map(({ error }) => error?.code ?? null)).toEqual(['collection_not_found', null])
      expect(answers[0]?.error?.message).toContain('nowhere')
      expect(answers[1]?.records.length).toBe(2)
      expect(await parts.collections()).toEqual(before)
    })

    it('names both sizes when the question has another', async () => {
      const [answer] = await ask({ vector: new Float32Array([1, 0]) })
      expect(answer?.error?.code).toBe('dimension_mismatch')
      expect(answer?.error?.message).toMatch(/\bitems\b.*\b4\b.*\b2\b/)
    })

    it('says that there is no vector', async () => {
      const [answer] = await ask({ vector: null })
      expect(answer?.error?.code).toBe('no_vector')
    })

    it('ends with the deadline and with the caller, and goes on answering', async () => {
      const [late] = await ask({ deadline: new Deadline(0) })
      expect(late?.error?.code).toBe('timeout')
      const [stopped] = await ask({ deadline: new Deadline(20_000, AbortSignal.abort()) })
      expect(stopped?.error?.code).toBe('cancelled')
      expect(await idsOf({ limit: 1 })).toEqual(['one'])
    })

    it('gives many at once the same answers', async () => {
      const [alone] = await ask()
      const together = await Promise.all(Array.from({ length: 8 }, () => ask()))
      for (const [answer] of together) expect(answer?.records).toEqual(alone?.records)
    })

    it('can be closed twice', async () => {
      await parts.source.close()
      await parts.source.close()
    })
  })
}

const QUESTION = {
  accessScope: { viewer: LOCAL_OWNER, partitions: [] },
  collections: ['items'],
  text: 'one',
  vector: unit([1, 0.1, 0, 0.05]),
  limit: 10,
  where: [],
  anyTags: [],
} as const

function record(id: string, vector: readonly number[], tags: readonly string[], metadata: JsonObject): SuiteRecord {
  return { id, content: `The text of ${id}.`, tags, metadata, vector: unit(vector) }
}

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  return new Float32Array(values.map(value => value / length))
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
}
