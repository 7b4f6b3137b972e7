/**
 * Cursors and resume tokens: ours, of other questions, viewers, lenses and stores, cut, mixed, and made up. Whatever is
 * brought, the answer is a page that goes on, or an error of the family that says so.
 */
import fc from 'fast-check'
import { sha256 } from '../../../src/base/canonical.ts'
import { seal } from '../../../src/base/sealed.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { OWNER_NAME, REQUESTER } from '../calls/call.ts'
import { edited, type Target, textEdit } from '../inputs.ts'
import { assertAlike, assertRefusal, must } from '../oracles.ts'
import { openWorld, type World } from '../world.ts'

/** A question, its requester, and the token sent with it. */
interface Brought {
  readonly ask: number
  readonly viewer: string
  readonly token: string
}

const EVERYWHERE = { local: true, federated: true, network: true }
/** Undefined: for the first page. */
const ASKS: readonly ((
  token: string | undefined,
) => readonly [operation: string, input: Readonly<Record<string, unknown>>])[] = [
  token => ['query', { text: 'fox', limit: 1, any: true, touch: false, cursor: token }],
  token => ['query', { text: 'fox bees', limit: 1, any: true, touch: false, cursor: token }],
  token => ['query', { text: 'fox', limit: 1, any: true, touch: false, lens: 'collections', cursor: token }],
  token => ['query', { text: 'fox', limit: 1, any: true, touch: false, lens: 'context', cursor: token }],
  token => ['list', { limit: 1, cursor: token }],
  token => ['list', { limit: 1, order: 'id', cursor: token }],
  token => ['beliefs.query', { semantic: 'fox', options: { scope: EVERYWHERE, limit: 1, cursor: token } }],
  token => ['beliefs.query', { semantic: 'quick', options: { scope: EVERYWHERE, limit: 1, cursor: token } }],
  token => ['trust.list', { limit: 1, after: token }],
]

const REFUSALS = [
  'cursor_invalid',
  'cursor_mismatch',
  'cursor_expired',
  'invalid_argument',
  'INVALID_QUERY',
  'resume_invalid',
]

/** Texts under the seal of another store, in the shapes that ours have. */
const FORGED = [
  ['querent cursor', JSON.stringify([sha256('x').slice(0, 32), 9e15, 0, 0, 1, 'fox', 'owner', 1, 1, 1, ''])],
  ['querent cursor', '[]'],
  ['querent cursor', 'null'],
].map(([purpose = '', text = '']) => seal('another secret', purpose, text))

export async function tokensTarget(): Promise<Target<Brought>> {
  await using world = await openWorld()
  const own: Brought[] = []
  for (const viewer of [REQUESTER, OWNER_NAME]) {
    for (const [ask] of ASKS.entries()) {
      const token = await nextOf(world, ask, viewer)
      if (token !== null) own.push({ ask, viewer, token })
    }
  }
  must(own.length > 6, 'too few tokens to begin with')
  const tokens = [...own.map(({ token }) => token), ...FORGED, '', 'a', 'A'.repeat(8192), '\u0000', '..', 'b1']
  return {
    near: good => near(good, tokens),
    seeds: [...own, ...own.map((one, at) => ({ ...one, token: tokens[(at + 1) % tokens.length] as string }))],
    lifetime: 500,
    open: async () => {
      const fresh = await openWorld()
      return { try: brought => bring(fresh, brought), close: async () => fresh[Symbol.asyncDispose]() }
    },
  }
}

function near(good: readonly Brought[], tokens: readonly string[]): fc.Arbitrary<Brought> {
  const viewers = fc.constantFrom(REQUESTER, OWNER_NAME, 'stranger')
  return edited(
    good,
    fc.oneof(
      fc.nat(ASKS.length - 1).map(ask => (brought: Brought) => ({ ...brought, ask })),
      viewers.map(viewer => (brought: Brought) => ({ ...brought, viewer })),
      {
        weight: 4,
        arbitrary: textEdit(tokens, tokens).map(edit => (brought: Brought) => ({
          ...brought,
          token: edit(brought.token),
        })),
      },
    ),
  )
}

async function nextOf(world: World, ask: number, viewer: string): Promise<string | null> {
  const [operation, first] = (ASKS[ask] as (typeof ASKS)[number])(undefined)
  const answer = (await world.call({ operation, viewer }, first)) as Readonly<Record<string, unknown>>
  const token = answer['cursor'] ?? answer['next_cursor'] ?? answer['after'] ?? null
  return typeof token === 'string' ? token : null
}

async function bring(world: World, { ask, viewer, token }: Brought): Promise<void> {
  const [operation, input] = (ASKS[ask % ASKS.length] as (typeof ASKS)[number])(token)
  const one = await outcome(world, operation, viewer, input)
  if (!(one instanceof QuerentError)) return
  must(REFUSALS.includes(one.code), `${operation}: a token refused as ${one.code}: ${one.message}`)
  const other = await outcome(world, operation, viewer, input)
  must(other instanceof QuerentError, 'refused, then taken')
  assertAlike(one, other)
}

async function outcome(world: World, operation: string, viewer: string, input: unknown) {
  try {
    return await world.call({ operation, viewer }, input)
  } catch (thrown) {
    return assertRefusal(thrown)
  }
}
