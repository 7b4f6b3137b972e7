/**
 * Pairs of worlds that differ in what neither strangers nor members of birds may see: a node answers both alike, to the byte but
 * for time and signature (BQ-111, BQ-123). The long form, 1,000 pairs: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WireQuery } from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import {
  ANA,
  answerTo,
  EVERYTHING,
  OF_BIRDS,
  openNorth,
  STRANGER,
  sealed,
  startNonces,
} from '../../../../support/asked-node.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import type { TestNode } from '../../../../support/nodes.ts'
import { assertUntil } from '../../../../support/until-met.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 1_000 : 20

const WORDS = ['swifts', 'nest', 'roofs', 'sleep', 'air']
/** Few and short, so that what is hidden often says the same as what is not. */
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map(words => words.join(' '))
const holder = fc.constantFrom('bo', 'cy')
const confidence = fc.record({ source_reliability: fc.constantFrom(0.2, 0.9) })

interface Act {
  readonly operation: string
  readonly by: string
  readonly input: Json
}

const put = (audiences: readonly Json[]) =>
  fc
    .record({ by: holder, content: text, confidence, audience: fc.constantFrom(...audiences) })
    .map(({ by, audience, ...belief }): Act => ({ operation: 'beliefs.put', by, input: { ...belief, ...audience } }))

const shared = (...federation_ids: readonly string[]) => ({ visibility: 'federated', federation_ids })
const seen = put([{ visibility: 'public' }, shared('birds'), shared('bats', 'birds')])
const hidden = fc.oneof(
  { weight: 3, arbitrary: put([{ visibility: 'private' }, shared('bats')]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      act('beliefs.delete', 'bo', { belief_id: 'private' }),
      act('trust.set', 'bo', { target: 'cy', trust_level: 1 }),
      act('trust.set', 'cy', { target: 'bo', trust_level: -1 }),
      act('agents.create', 'owner', { id: 'zoe' }),
      act('federations.create', 'owner', { id: 'newts' }),
      act('federations.set_member', 'owner', { federation: 'bats', agent: STRANGER.did, status: 'departed' }),
    ),
  },
)

function act(operation: string, by: string, input: Json): Act {
  return { operation, by, input }
}

const question = fc
  .record({ words: fc.option(text), limit: fc.integer({ min: 1, max: 6 }), of: fc.constantFrom(EVERYTHING, OF_BIRDS) })
  .map(({ words, limit, of }): WireQuery => ({ ...of, text: words, limit }))

/** Each with how many visible ones are before it. */
const secrets = fc.array(fc.tuple(fc.nat({ max: 8 }), hidden), { minLength: 1, maxLength: 6 })
const world = fc.record({
  visible: fc.array(seen, { maxLength: 8 }),
  secrets,
  questions: fc.array(question, { minLength: 1, maxLength: 4 }),
})

it(`no hidden act changes an answer to another node (${RUNS} pairs; 1,000 with QUERENT_LONG=1)`, {
  timeout: LONG ? 1_800_000 : 600_000,
}, async () => {
  let items = 0
  let copies = 0
  const property = fc.asyncProperty(world, async ({ visible, secrets, questions }) => {
    const plain = await answersOf(visible, [], questions)
    expect(await answersOf(visible, secrets, questions)).toEqual(plain)
    items += plain.flatMap(({ items }) => items).length
    const contents = new Set(visible.map(({ input }) => input['content']))
    copies += secrets.filter(([, { input }]) => contents.has(input['content'])).length
  })
  await assertUntil(property, { numRuns: RUNS }, () => {
    expect(items).toBeGreaterThan(0)
    expect(copies).toBeGreaterThan(0)
  })
})

async function answersOf(
  visible: readonly Act[],
  secrets: readonly (readonly [number, Act])[],
  questions: readonly WireQuery[],
) {
  const { world, north } = await openNorth()
  await using _ = world
  // Makes what pseudonyms are made with, which is random, before anything differs.
  await north.call('beliefs.query', 'bo', { semantic: 'swifts', options: { scope: { federated: true } } })
  const actsAt = (place: number) =>
    secrets.flatMap(([at, act], number) => (at === place ? [[`h${number}`, act] as const] : []))
  for (let place = 0; place <= 8; place++) {
    for (const [id, act] of actsAt(place)) await done(north, id, act)
    const next = visible[place]
    if (next !== undefined) await done(north, `v${place}`, next)
  }
  startNonces()
  const answers = []
  for (const query of questions) {
    const keys = query.scope.kind === 'network' ? STRANGER : ANA
    const { timestamp: _, signature: __, ...rest } = await answerTo(north, sealed(north, query, keys))
    answers.push(rest)
  }
  return answers
}

/** What was done before is refused, which changes nothing. */
async function done(node: TestNode, id: string, { operation, by, input }: Act): Promise<void> {
  const given = operation === 'beliefs.put' ? { id, ...input } : input
  await node.call(operation, by, given).catch((error: { code: string }) => {
    if (error.code !== 'INVALID_QUERY') throw error
  })
}
