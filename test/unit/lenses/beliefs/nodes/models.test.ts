/** Nodes that embed with other models than this one: what they are asked, and what becomes of what they send (BQ-031). */
import { expect, it } from 'vitest'
import type { Embedder } from '../../../../../src/embed/embedder.ts'
import type { EngineOptions } from '../../../../../src/engine/options.ts'
import type { WireQuery } from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { type Birds, openBirds, PUBLIC, say } from '../../../../support/nodes-world.ts'
import { openToyEmbedder, TOY_KEY, TOY_MODEL } from '../../../../support/toy-embedder.ts'

/** Turns every vector: what two models make of a text has nothing to do with each other. */
function turnedEmbedder(): Embedder {
  const inner = openToyEmbedder({ ...TOY_MODEL, id: 'turned' })
  return {
    ...inner,
    embed: async (...given) => (await inner.embed(...given)).map(vector => vector.toReversed()),
  }
}

const CONTENTS = ['swifts sleep in the air', 'herons wait', 'swifts', 'swifts and herons over the lake']

async function openSouth(options: (name: string) => Partial<EngineOptions>): Promise<Birds> {
  const birds = await openBirds(options)
  for (const [at, content] of CONTENTS.entries()) await say(birds.south, 'dee', `public ${at}`, content, PUBLIC)
  return birds
}

async function meaningsIn(birds: Birds, question: string) {
  const { beliefs, errors } = await birds.ask(question, { scope: { network: true } })
  expect(errors).toEqual([])
  return new Map(beliefs.map(({ belief, score }) => [belief.id, score.components['semantic_similarity']]))
}

function queriesTo({ world, south }: Birds): readonly WireQuery[] {
  return world.transport.sent
    .filter(({ address, message }) => address === south.address && message.path === '/v1/nodes/query')
    .map(({ message }) => (message.body as unknown as { query: WireQuery }).query)
}

it('BQ-031: what comes with a vector of another model is embedded here, once, and counts as if it had come with one of this', async () => {
  await using same = await openSouth(() => ({}))
  const here: string[] = []
  const counted = openToyEmbedder()
  const counting = {
    ...counted,
    embed: (...given: Parameters<typeof counted.embed>) => {
      if (given[1] === 'passage') here.push(...given[0])
      return counted.embed(...given)
    },
  }
  await using other = await openSouth(name =>
    name === 'south' ? { embedder: turnedEmbedder() } : { embedder: counting },
  )
  const expected = await meaningsIn(same, 'swifts sleep')
  expect(new Set(expected.values()).size).toBeGreaterThan(2)
  expect(await meaningsIn(other, 'swifts sleep')).toEqual(expected)
  expect(here).toHaveLength(CONTENTS.length)
  await meaningsIn(other, 'herons')
  expect(here).toHaveLength(CONTENTS.length)
  const { beliefs } = await other.ask('swifts', { scope: { network: true } })
  expect(new Set(beliefs.map(({ belief }) => belief['embedding_model']))).toEqual(new Set([TOY_KEY]))
})

it('BQ-031: a node with another model says that it needs the text, is sent it at once, and from then on', async () => {
  await using birds = await openSouth(name => (name === 'south' ? { embedder: turnedEmbedder() } : {}))
  expect([...(await meaningsIn(birds, 'swifts sleep')).keys()]).toContain('public 0')
  const [first, second, ...more] = queriesTo(birds)
  expect([first?.text, first?.vector?.model, more]).toEqual([null, TOY_KEY, []])
  expect([second?.text, second?.vector]).toEqual(['swifts sleep', null])
  birds.world.transport.sent.length = 0
  await meaningsIn(birds, 'herons')
  expect(queriesTo(birds).map(({ text, vector }) => [text, vector])).toEqual([['herons', null]])
})
