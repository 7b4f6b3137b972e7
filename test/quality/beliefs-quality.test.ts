/**
 * Whether answers of the lens beliefs are about what was asked (BQ-043): the seed's example queries as printed, over the sample, whose
 * beliefs are labelled by topic in beliefs-topics.json.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import { SAMPLE_AGENTS, SAMPLE_BELIEFS } from '../../src/lenses/beliefs/sample/sample-beliefs.ts'
import type { BeliefQuery } from '../../src/lenses/beliefs/schema/query.ts'
import { type OpenBeliefs, openBeliefs } from '../../src/openings/beliefs.ts'
import { modelFolder } from '../support/model.ts'
import topicsFile from './beliefs-topics.json' with { type: 'json' }

const TOPICS: Readonly<Record<string, readonly string[]>> = topicsFile
const NOW = Date.parse('2026-03-01T12:00:00Z')
/** Results that are judged, and the share of them that must be on topic. */
const FIRST = 10
const MIN_ON_TOPIC = 0.8

const EXAMPLES = [
  ['climate', 'climate change'],
  ['quantum', 'quantum computing'],
  ['vaccines', 'mRNA vaccines'],
  ['ai-regulation', 'AI regulation'],
] as const

let open: OpenBeliefs
beforeAll(async () => {
  const embedder = { provider: 'local', folder: modelFolder() } as const
  open = await openBeliefs({ store: 'memory', background: false, embedder, clock: new SettableClock(NOW) })
  await open.loadSample()
})
afterAll(() => open.close())

async function idsOf(viewer: string, query: BeliefQuery): Promise<readonly string[]> {
  const { beliefs } = await open.as(viewer).query(query)
  return beliefs.map(({ belief }) => belief.id)
}

describe('the labels of the sample', () => {
  it('name beliefs that the sample has, each once a topic', () => {
    const known = new Set([...SAMPLE_BELIEFS.values()].flat().map(({ id }) => id))
    for (const ids of Object.values(TOPICS)) {
      expect(ids.filter(id => !known.has(id))).toEqual([])
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('BQ-043: an answer is about what was asked', () => {
  it.each(EXAMPLES)('eight in ten of the first results are on topic: example query %s', async (name, topic) => {
    const file = new URL(`../fixtures/beliefs/${name}.json`, import.meta.url)
    const ids = await idsOf('my-agent-uuid', JSON.parse(readFileSync(file, 'utf8')) as BeliefQuery)
    const first = ids.slice(0, FIRST)
    const onTopic = first.filter(id => TOPICS[topic]?.includes(id))
    process.stderr.write(`${name}: ${onTopic.length} of the first ${first.length} on topic, ${ids.length} in all\n`)
    expect(first.length).toBeGreaterThanOrEqual(5)
    expect(onTopic.length / first.length).toBeGreaterThanOrEqual(MIN_ON_TOPIC)
  })

  it.each(SAMPLE_AGENTS.map(({ id }) => id))(
    'a belief on sleep comes first for %s, whomever it trusts',
    async viewer => {
      const scope = { local: true, federated: true, network: true }
      const [first] = await idsOf(viewer, { semantic: 'how much sleep do people need', options: { scope } })
      expect(TOPICS['sleep']).toContain(first)
    },
  )
})
