/** One of the two worlds in which a story of hidden beliefs is replayed. */
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { type BeliefsState, stateOf } from '../../src/lenses/beliefs/state.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from './beliefs-engine.ts'
import {
  type Act,
  type Call,
  FADE,
  type HiddenStory,
  isOfFading,
  PEOPLE,
  REQUESTER,
  type Request,
  SECRETS,
  SHOWN_FIRST,
} from './beliefs-hidden.ts'
import { seededUniform } from './seeded.ts'
import { openToyEmbedder } from './toy-embedder.ts'

const START = Date.parse('2026-03-01T12:00:00Z')

/** How a world puts a question of ann's; its own interfaces beside the library. */
export interface Interface {
  ask(request: Call): Promise<string>
  close(): Promise<void>
}

export type OpenInterface = (engine: Engine) => Promise<Interface>

/** Answers and errors of the library, as JSON. */
export const LIBRARY: OpenInterface = engine =>
  Promise.resolve({
    ask: ({ by, operation, input }) => tryCall(engine, operation, by, input),
    close: () => Promise.resolve(),
  })

export class HiddenWorld {
  readonly engine: Engine
  readonly #via: Interface
  readonly #clock: SettableClock
  readonly #seed: { value: number }
  /** By question. */
  readonly #cursors = new Map<string, string>()
  #acts = 0

  private constructor(engine: Engine, via: Interface, clock: SettableClock, seed: { value: number }) {
    this.engine = engine
    this.#via = via
    this.#clock = clock
    this.#seed = seed
  }

  static async open(
    embedder: HiddenStory['embedder'],
    openInterface: OpenInterface,
    options: EngineOptions = {},
  ): Promise<HiddenWorld> {
    // Random bytes are no news: every act draws from a stream of its own.
    const seed = { value: 0 }
    let drawn = { value: -1, uniform: seededUniform(0) }
    const random = (length: number) => {
      if (drawn.value !== seed.value) drawn = { value: seed.value, uniform: seededUniform(seed.value) }
      return Uint8Array.from({ length }, () => Math.floor(256 * drawn.uniform()))
    }
    const clock = new SettableClock(START)
    const store = openMemoryStore('one')
    const engine = await openBeliefsEngine({
      ...{ store, clock, random, embedder: embedder === 'toy' ? openToyEmbedder() : 'none' },
      ...options,
      // More than any history asks: no answer may depend on how fast the test runs.
      limits: { burst: 10_000 },
    })
    const world = new HiddenWorld(engine, await openInterface(engine), clock, seed)
    for (const call of [...PEOPLE, ...SHOWN_FIRST]) await world.act(call)
    // Makes the secrets of pseudonyms and of cursors, which are random. The second is made with the first cursor, so this answer needs one.
    await world.act({ by: REQUESTER, operation: 'beliefs.get', input: { belief_id: 'f0' } })
    const page = await engine.query({ text: 'fox', limit: 1 }, { viewer: { id: REQUESTER } })
    if (page.cursor === null) throw new Error('the first answer has no cursor')
    return world
  }

  async act(act: Act, isLaced = false): Promise<void> {
    this.#seed.value = ++this.#acts
    if ('waits' in act) this.#clock.set(this.#clock.now() + act.waits)
    else await tryCall(this.engine, act.operation, act.by, inputOf(act, isLaced))
  }

  async hide(call: Call): Promise<void> {
    const before = this.#seed.value
    this.#seed.value = 1_000_000 + this.#acts
    await tryCall(this.engine, call.operation, call.by, call.input)
    this.#seed.value = before
  }

  /** The whole answer, or the error, without request ids and measured times. */
  async ask(request: Request, isLaced: boolean): Promise<string> {
    this.#seed.value = ++this.#acts
    const { gap } = request
    if (gap === undefined) return this.#askOn(request, untimed(await this.#via.ask(request)))
    const hidden = isLaced ? await this.#onlyShared(gap.hidden) : []
    const end = beforeSecondLook(stateOf(this.engine.host('beliefs')), () => {
      for (const call of [...gap.shown, ...hidden]) void tryCall(this.engine, call.operation, call.by, call.input)
    })
    try {
      return untimed(await this.#via.ask(request))
    } finally {
      end()
    }
  }

  /** With the next page, and with that of the cursor that the same question had before. */
  async #askOn(request: Request, answer: string): Promise<string> {
    if (request.operation !== 'beliefs.query') return answer
    const name = JSON.stringify(request.input)
    const cursors = [answer.match(/"next_cursor":"([^"]*)"/)?.[1], this.#cursors.get(name)]
    if (cursors[0] !== undefined) this.#cursors.set(name, cursors[0])
    const pages = [answer]
    for (const cursor of cursors) {
      if (cursor === undefined) continue
      const options = { ...(request.input['options'] as object | undefined), cursor, offset: 0 }
      pages.push(untimed(await this.#via.ask({ ...request, input: { ...request.input, options } })))
    }
    return pages.join('\n')
  }

  async close(): Promise<void> {
    await this.#via.close()
    await this.engine.close()
  }

  /** What is for all to see is no hidden matter. */
  async #onlyShared(calls: readonly Call[]): Promise<readonly Call[]> {
    const shared: Call[] = []
    for (const call of calls) {
      const reported = await tryCall(this.engine, 'beliefs.get', call.by, { belief_id: call.input['belief_id'] })
      const { belief, source } = JSON.parse(reported) as { belief?: { visibility: string }; source?: { kind: string } }
      if (belief?.visibility === 'federated' && source?.kind === 'local') shared.push(call)
    }
    return shared
  }
}

/** What ann was answered, in the middle and at the end, so that what was remembered in between is tested too. */
export async function replay(
  story: HiddenStory,
  openInterface: OpenInterface,
  isLaced: boolean,
): Promise<readonly { readonly request: Request; readonly answer: string }[]> {
  const world = await HiddenWorld.open(story.embedder, openInterface)
  const found: { request: Request; answer: string }[] = []
  try {
    if (isLaced) for (const secret of SECRETS) await world.hide(secret)
    const base = [...story.before, null, ...FADE, ...story.after, null]
    for (const [at, act] of base.entries()) {
      const due = story.hidden.filter(one => (isOfFading(one.act) ? base.length - 1 : one.at % base.length) === at)
      if (isLaced) for (const one of due) await world.hide(one.act)
      if (act !== null) await world.act(act, isLaced)
      else for (const request of story.requests) found.push({ request, answer: await world.ask(request, isLaced) })
    }
    return found
  } finally {
    await world.close()
  }
}

/** In one of the worlds the belief rests on secrets too. */
function inputOf({ input, alsoNames = [] }: Call, isLaced: boolean): Call['input'] {
  if (alsoNames.length === 0) return input
  const { sources } = (input['derivation'] ?? { sources: [] }) as { readonly sources: readonly object[] }
  const more = isLaced ? alsoNames.map(belief_id => ({ belief_id })) : []
  return { ...input, derivation: { type: 'inference', sources: [...more, ...sources] } }
}

/** An answer that depended on something hidden. */
export class Interference extends Error {
  override readonly name: string = 'Interference'
  constructor(asked: unknown, plain: string, laced: string) {
    const at = [...plain].findIndex((unit, place) => laced[place] !== unit)
    const around = (answer: string) => answer.slice(Math.max(0, at - 160), at + 160)
    super(
      `${JSON.stringify(asked)}\n  without what is hidden: …${around(plain)}\n  with it:                …${around(laced)}`,
    )
  }
}

/** Rejects with an `Interference` when the two worlds answer differently. Says how many answers were the same. */
export async function findInterference(story: HiddenStory, openInterface: OpenInterface): Promise<readonly string[]> {
  const [plain, laced] = [await replay(story, openInterface, false), await replay(story, openInterface, true)]
  for (const [at, { request, answer }] of plain.entries()) {
    const other = laced[at]?.answer ?? ''
    if (other !== answer) throw new Interference(request, answer, other)
  }
  return plain.map(({ answer }) => answer)
}

/** The synchronous part of what is done is done within the look that comes second, as another process might. */
function beforeSecondLook(state: BeliefsState, meanwhile: () => void): () => void {
  const mutable = state as { -readonly [K in 'look' | 'lookInSteps']: BeliefsState[K] }
  const { look, lookInSteps } = mutable
  let looks = 0
  const count = () => {
    if (++looks === 2) meanwhile()
  }
  mutable.look = (...given) => {
    count()
    return look(...given)
  }
  mutable.lookInSteps = (...given) => {
    count()
    return lookInSteps(...given)
  }
  return () => {
    Object.assign(mutable, { look, lookInSteps })
  }
}

async function tryCall(engine: Engine, operation: string, by: string, input: unknown): Promise<string> {
  try {
    return JSON.stringify(await callOperation(engine, operation, by, input))
  } catch (error) {
    if (error instanceof QuerentError) return JSON.stringify({ error })
    throw error
  }
}

function untimed(answer: string): string {
  return answer
    .replace(/"(query_time_ms|total_time_ms|elapsed_ms)":[\d.e-]+/g, '"$1":0')
    .replace(/"request_id":"[^"]*"/g, '"request_id":""')
}
