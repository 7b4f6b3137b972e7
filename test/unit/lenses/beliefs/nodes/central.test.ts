/** Several nodes against one store that holds the same beliefs: what is found, and what is lost where nodes do not answer. */
import { describe, expect, it } from 'vitest'
import { openNodes, type TestNode } from '../../../../support/nodes.ts'
import { EVERYWHERE, PUBLIC, say } from '../../../../support/nodes-world.ts'
import { seededUniform } from '../../../../support/seeded.ts'

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']
const WORDS = 'swift heron owl kite lake roof reed hill storm frost nest song flight egg moult fish'.split(' ')
const PER_NODE = 25

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
    const more = { ...PUBLIC, confidence: { source_reliability: reliability } }
    await say(world.node(node), 'holder', id, content, more)
    await say(central, `holder-${node}`, id, content, more)
  }
  return { world, home, central, held }
}

async function found(
  node: TestNode,
  semantic: string,
  limit: number,
): Promise<readonly { id: string; final: number }[]> {
  const { beliefs } = (await node.call('beliefs.query', 'ana', {
    semantic,
    options: { ...EVERYWHERE, limit },
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

describe('eight nodes', () => {
  it('BQ-125, BQ-129: rank as one store does that holds everything, to the last digit', {
    timeout: 60_000,
  }, async () => {
    for (const seed of [1, 2]) {
      const { world, home, central } = await worlds(seed)
      await using _ = world
      for (const question of QUESTIONS)
        expect(await found(home, question, 20)).toEqual(await found(central, question, 20))
    }
  })

  it('lose, where some do not answer, what those hold and nothing else', { timeout: 60_000 }, async () => {
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
