/** Several nodes against one store that holds the same beliefs: what is found, and what is lost where nodes do not answer. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { openNodes, type TestNode } from '../../../../support/nodes.ts'
import { EVERYWHERE, PUBLIC, say } from '../../../../support/nodes-world.ts'
import { seededUniform } from '../../../../support/seeded.ts'

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']
const WORDS = 'swift heron owl kite lake roof reed hill storm frost nest song flight egg moult fish'.split(' ')
const PER_NODE = 15

interface Held {
  readonly id: string
  readonly content: string
  readonly node: string
  readonly reliability: number
}

function beliefsOf(seed: number): readonly Held[] {
  const uniform = seededUniform(seed)
  const word = () => WORDS[Math.floor(uniform() * WORDS.length)] as string
  return NODES.flatMap(node =>
    Array.from({ length: PER_NODE }, (_, at) => ({
      id: `${node}-${at}`,
      content: `${word()} ${word()} ${word()} ${word()} ${node} ${at}`,
      node,
      reliability: Math.round(uniform() * 100) / 100,
    })),
  )
}

async function worlds(seed: number) {
  const held = beliefsOf(seed)
  const world = await openNodes(['home', 'central', ...NODES])
  const [home, central] = [world.node('home'), world.node('central')]
  for (const node of [home, central]) await node.call('agents.create', 'owner', { id: 'ana' })
  for (const name of NODES) {
    const node = world.node(name)
    await node.call('agents.create', 'owner', { id: 'holder' })
    await central.call('agents.create', 'owner', { id: `holder-${name}` })
    await home.call('peers.add', 'owner', { id: name, address: node.address })
  }
  for (const { id, content, node, reliability } of held) {
    const domains = [`birds/${content.split(' ')[0]}`]
    const more = { ...PUBLIC, domains, confidence: { source_reliability: reliability, corroboration: 1 - reliability } }
    await say(world.node(node), 'holder', id, content, more)
    await say(central, `holder-${node}`, id, content, more)
  }
  return { world, home, central, held }
}

async function found(
  node: TestNode,
  semantic: string,
  limit: number,
  more: Json = {},
): Promise<readonly { id: string; final: number }[]> {
  const { beliefs } = (await node.call('beliefs.query', 'ana', {
    semantic,
    ...more,
    options: { ...EVERYWHERE, limit, ...(more['options'] as Json) },
  })) as unknown as {
    beliefs: readonly { belief: { id: string }; score: { final: number } }[]
  }
  return beliefs.map(({ belief, score }) => ({ id: belief.id, final: score.final }))
}

const QUESTIONS = [
  'heron by the lake',
  'owl in the frost',
  'storm',
  'kite flight over hill',
  'egg in the nest',
  'song of the reed',
]

const CONDITIONS: readonly (readonly [string, Json])[] = [
  ['owl +frost', {}],
  ['storm -heron', {}],
  ['kite "lake roof"', {}],
  ['kite', { options: { min_similarity: -1 } }],
  ['swift', { filters: { min_confidence: { source_reliability: 0.5 } } }],
  ['swift', { filters: { min_confidence: { overall: 0.5 } } }],
  ['swift', { filters: { preset: 'verified' } }],
  ['lake', { filters: { domains_include: ['birds/kite', 'birds/owl', 'birds/egg'] } }],
  ['', { filters: { domains_exclude: ['birds/kite', 'birds/owl'], visibility_levels: ['public'] } }],
  ['lake', { filters: { max_derivation_depth: 0, derivation_types: ['observation', 'inference'] } }],
  ['lake', { filters: { min_holder_reputation: 0.5 } }],
  ['lake', { filters: { valid_at: '2026-06-01T13:00:00Z' } }],
  ['lake', { filters: { created_before: '2026-06-01T11:00:00Z' } }],
  ['lake', { context: { query_domains: ['birds'], confidence_weights: { corroboration: 5 }, trust_weight: 1 } }],
]

describe('eight nodes', () => {
  it('BQ-125, BQ-129: rank as one store does that holds everything, to the last digit', async () => {
    for (const seed of [1]) {
      const { world, home, central } = await worlds(seed)
      await using _ = world
      for (const question of QUESTIONS)
        expect(await found(home, question, 20)).toEqual(await found(central, question, 20))
      for (const [question, more] of CONDITIONS) {
        const there = await found(central, question, 20, more)
        expect(await found(home, question, 20, more), JSON.stringify([question, more])).toEqual(there)
      }
    }
  })

  it('lose, where some do not answer, what those hold and nothing else', async () => {
    const { world, home, central, held } = await worlds(3)
    await using _ = world
    const nodeOf = new Map(held.map(({ id, node }) => [id, node]))
    for (const dead of [['n3'], ['n3', 'n6']]) {
      for (const name of dead) world.transport.fault(world.node(name).address, { isDead: true })
      for (const question of QUESTIONS) {
        const all = await found(central, question, held.length)
        const left = all.filter(({ id }) => !dead.includes(nodeOf.get(id) as string)).slice(0, 20)
        expect(await found(home, question, 20)).toEqual(left)
      }
    }
  })
})
