import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recompute } from '../../../src/model/explanation.ts'
import { audience } from '../../../src/model/partition.ts'
import { knowledge, questions } from '../../support/ask-arbitraries.ts'
import { openWorld, smallWorld } from './world.ts'

const long = process.env['QUERENT_LONG'] === '1'
const owners = fc.constant(audience('private'))

describe('why an entry has its place', () => {
  it('says rank, score, tree and a sentence as the answer has them, and a drop of exactly those that are not on the page', async () => {
    await fc.assert(
      fc.asyncProperty(
        knowledge(owners, 20),
        questions(),
        fc.integer({ min: 1, max: 6 }),
        async (all, question, limit) => {
          const world = openWorld()
          await world.learn(all)
          const { page } = await world.ask({ ...question, limit })
          const shown = new Map(page.items.map(item => [item.id, item]))
          for (const { draft } of all) {
            const answer = await world.explain({ ...question, limit }, { id: draft.id })
            const item = shown.get(draft.id)
            expect(answer.dropped === null).toBe(item !== undefined)
            if (item === undefined) continue
            expect(answer).toMatchObject({ id: item.id, rank: item.rank, score: item.score, over: null })
            if (answer.explanation !== null) expect(recompute(answer.explanation)).toBeCloseTo(item.score, 12)
            expect(answer.sentence).toContain(item.why)
          }
        },
      ),
      { numRuns: long ? 500 : 25 },
    )
  })
})

describe('why one over another', () => {
  it('gives the exact gap, by component, and a weight that really swaps them', async () => {
    await fc.assert(
      fc.asyncProperty(knowledge(owners, 20), questions(), fc.nat(), fc.nat(), async (all, question, one, other) => {
        const world = openWorld()
        await world.learn(all)
        const input = { ...question, any: true, limit: 100 }
        const { items } = (await world.ask(input)).page
        fc.pre(items.length > 1 && one % items.length !== other % items.length)
        const [a, b] = [items[one % items.length], items[other % items.length]]
        fc.pre(a !== undefined && b !== undefined)
        const { over } = await world.explain(input, { id: a.id, over: b.id })
        expect(over?.gap).toBe(a.score - b.score)
        expect(over?.rank).toBe(b.rank)
        const sum = Object.values(over?.by_component ?? {}).reduce((x, y) => x + y, 0)
        expect(sum).toBeCloseTo(over?.gap ?? Number.NaN, 12)
        const swap = over?.swap ?? null
        if (swap === null) return
        const turned = (await world.ask({ ...input, meaning_weight: swap.to })).page.items.map(item => item.id)
        const before = items.map(item => item.id)
        const first = (ids: readonly string[]) => ids.indexOf(a.id) < ids.indexOf(b.id)
        expect(first(turned)).toBe(!first(before))
        // The smallest: a thousandth nearer, and they stand as they did.
        const nearer = swap.to + Math.sign(swap.from - swap.to) * 1e-3
        if (Math.sign(swap.from - nearer) !== Math.sign(swap.from - swap.to)) return
        const kept = (await world.ask({ ...input, meaning_weight: nearer })).page.items.map(item => item.id)
        expect(first(kept)).toBe(first(before))
      }),
      { numRuns: long ? 2000 : 30 },
    )
  })

  it('finds the weight at which what has the words passes what has the meaning', async () => {
    const world = openWorld()
    world.put({ id: 'meaning', content: 'vixen' })
    world.put({ id: 'words', content: 'fox rain road garden tulip wine cloud' })
    await world.embedAll()
    const { over } = await world.explain({ text: 'fox' }, { id: 'meaning', over: 'words' })
    expect(over?.swap).toMatchObject({ weight: 'meaning_weight', from: 0.7 })
    const to = over?.swap?.to as number
    expect(to).toBeGreaterThan(0.5)
    expect(to).toBeLessThan(0.7)
    expect(over?.sentence).toContain(`With meaning_weight ${to} instead of 0.7 they would swap places.`)
    const first = async (meaning_weight: number) => (await world.ask({ text: 'fox', meaning_weight })).page.items[0]?.id
    expect(await first(to)).toBe('words')
    expect(await first(to + 1e-5)).toBe('meaning')
  })

  it('says it in a sentence', async () => {
    const world = openWorld()
    world.put({ id: 'both', content: 'fox dog' })
    world.put({ id: 'less', content: 'fox rain' })
    await world.embedAll()
    const { over } = await world.explain({ text: 'fox dog', mode: 'words' }, { id: 'both', over: 'less' })
    expect(over?.sentence).toMatch(
      /^"both" ranks 0\.\d{4} above "less" \(words \+0\.\d{4}\)\. No weighting would swap them/,
    )
    const turned = await world.explain({ text: 'fox dog', mode: 'words' }, { id: 'less', over: 'both' })
    expect(turned.over?.sentence).toMatch(/^"less" ranks 0\.\d{4} below "both" \(words −0\.\d{4}\)/)
  })

  it('has nothing to compare with what is not in the answer', async () => {
    const world = await smallWorld()
    const { over } = await world.explain({ text: 'fox +dog', any: true }, { id: 'words', over: 'neither' })
    expect(over).toMatchObject({ id: 'neither', rank: null, swap: null })
    expect(over?.sentence).toBe('"neither" is not in the answer, so there is nothing to compare.')
  })
})
