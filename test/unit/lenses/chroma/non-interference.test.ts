/**
 * What a viewer may not see changes not one byte of what the lens answers it: every operation, by hashtags and by text,
 * errors, warnings, completed hashtags and the progress of runs among them. The long form, 1,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHROMA_OPERATIONS } from '../../../../src/lenses/chroma/operations.ts'
import { MEMORY } from '../../../../src/lenses/chroma/tables.ts'
import type { LensHost } from '../../../../src/lenses/lens.ts'
import { QuerentError } from '../../../../src/model/errors.ts'
import type { Operation, Progress } from '../../../../src/model/operation.ts'
import { audience, OWNER } from '../../../../src/model/partition.ts'
import type { TableDeclaration } from '../../../../src/model/table.ts'
import { type OpenChroma, openChroma } from '../../../../src/openings/chroma.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { TAGS } from '../../../support/chroma-acts.ts'
import { type Act, type Call, type HiddenStory, hiddenStories } from '../../../support/chroma-hidden.ts'
import { leaking } from '../../../support/non-interference.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { seededUniform } from '../../../support/seeded.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 40
const START = 1_700_000_000

type Twist = (store: Store) => Store

class ChromaWorld {
  now = START
  readonly #chroma: OpenChroma
  readonly #host: LensHost
  /** Of nodes that ann has seen, as their holders stored them. */
  readonly #shown: string[] = []
  readonly #randomness: { hidden: boolean }

  private constructor(chroma: OpenChroma, randomness: { hidden: boolean }) {
    this.#chroma = chroma
    this.#host = chroma.engine.host('chroma')
    this.#randomness = randomness
  }

  static async open(twist: Twist): Promise<ChromaWorld> {
    const randomness = { hidden: false }
    // Ids are no news: hidden ones are drawn from a stream of their own.
    const [shown, hidden] = [seededUniform(1), seededUniform(2)]
    const random = (length: number) =>
      Uint8Array.from({ length }, () => Math.floor(256 * (randomness.hidden ? hidden() : shown())))
    const clock = { now: () => START }
    const chroma = await openChroma({
      ...{ store: twist(openMemoryStore('one')), background: false, now: () => clock.now(), random },
    })
    const world = new ChromaWorld(chroma, randomness)
    // The first query draws the secret of the store's cursors.
    await chroma.engine.count({ text: 'fox' })
    clock.now = () => world.now
    await chroma.assignHashtags(TAGS.map(([hashtag, zone]) => ({ hashtag, zone })))
    return world
  }

  async act(act: Act): Promise<void> {
    if ('waits' in act) this.now += act.waits
    else await this.call(act)
  }

  async hide(act: Call): Promise<void> {
    this.#randomness.hidden = true
    const shown = this.#shown.length
    await this.call(act)
    this.#shown.length = shown
    this.#randomness.hidden = false
  }

  /** The whole answer, or the error, with the progress that was reported. */
  async call({ by, operation, input, node }: Call): Promise<string> {
    const about = node === undefined ? {} : { entry_id: this.#shown[node % Math.max(1, this.#shown.length)] ?? 'none' }
    const progress: Progress[] = []
    try {
      const answer = await this.#answer(by, operation, { ...input, ...about }, progress)
      if (operation === 'store') this.#shown.push((answer as { entry_id: string }).entry_id)
      return JSON.stringify({ answer, progress })
    } catch (error) {
      if (error instanceof QuerentError) return JSON.stringify({ error, progress })
      throw error
    }
  }

  close(): Promise<void> {
    return this.#chroma.close()
  }

  #answer(by: string, operation: string, input: Readonly<Record<string, unknown>>, progress: Progress[]) {
    const viewer = { id: by }
    if (operation === 'ask') return this.#chroma.engine.query({ ...input, lens: 'chroma' } as never, { viewer })
    const found: Operation<LensHost> | undefined = CHROMA_OPERATIONS.find(({ name }) => name === `chroma.${operation}`)
    if (found === undefined) throw new Error(`no operation ${operation}`)
    const context = { viewer, signal: new AbortController().signal, report: (one: Progress) => progress.push(one) }
    return found.run(this.#host, input, context)
  }
}

/** Asks everything in the middle and at the end, so that what was remembered in between is tested too. */
async function replay(story: HiddenStory, twist: Twist, hidden: HiddenStory['hidden']): Promise<readonly string[]> {
  const world = await ChromaWorld.open(twist)
  const reported: string[] = []
  try {
    const base = [...story.before, null, ...story.after, null]
    for (const [at, act] of base.entries()) {
      for (const one of hidden) if (one.at % base.length === at) await world.hide(one.act)
      if (act !== null) await world.act(act)
      else for (const request of story.requests) reported.push(await world.call(request))
    }
    return reported
  } finally {
    await world.close()
  }
}

class Interference extends Error {}

async function check(twist: Twist, numRuns: number, operations?: readonly string[], shrink = true): Promise<void> {
  const property = fc.asyncProperty(hiddenStories(operations), async story => {
    const [plain, laced] = [await replay(story, twist, []), await replay(story, twist, story.hidden)]
    for (const [at, answer] of plain.entries()) {
      const asked = story.requests[at % story.requests.length]
      if (laced[at] !== answer) throw new Interference(`${JSON.stringify(asked)}\n${answer}\n${laced[at]}`)
    }
  })
  await fc.assert(property, { numRuns, endOnFailure: !shrink, ...(shrink ? {} : { seed: EARLY }) })
}

it(
  `no hidden history changes an answer of the lens (${RUNS} histories; 1,000 with QUERENT_LONG=1)`,
  async () => {
    await check(store => store, RUNS)
  },
  PATIENCE_MS,
)

/** One in some dozens shows the rarest leak; the search ends with the first that does. */
const MAX_HISTORIES = 3_000
/** A seed of which one of the first histories shows each; others show it later. */
const EARLY = 13

describe('a leak planted on purpose is found:', () => {
  it.each<[string, (store: Store) => Partial<Store>, readonly string[]]>([
    [
      'private nodes of another taken for public ones',
      store => ({ partitions: () => store.partitions().map(one => ({ ...one, audience: shownToAll(one.audience) })) }),
      ['query'],
    ],
    [
      'nodes found by their ids, whoever holds them',
      store => ({ find: id => store.find(id, everywhere(store)) }),
      ['get'],
    ],
    [
      'nodes of all holders counted',
      store => ({
        matching: (accessScope, filter) => store.matching({ ...accessScope, partitions: everywhere(store) }, filter),
      }),
      ['statistics'],
    ],
    [
      'the progress of a run over the nodes of all holders',
      store => ({
        matching: (accessScope, filter) => store.matching({ ...accessScope, partitions: everywhere(store) }, filter),
      }),
      ['lifecycle'],
    ],
    ['a memory that all share', store => ({ table: declaration => oneMemory(store, declaration) as never }), ['query']],
  ])('%s', async (_, leak, operations) => {
    const checked = check(store => leaking(store, leak), MAX_HISTORIES, operations, false)
    await expect(checked).rejects.toMatchObject({ cause: expect.any(Interference) })
  })
})

function shownToAll(of: ReturnType<typeof audience>): ReturnType<typeof audience> {
  return of.kind === 'private' && of.holder === 'bob' ? audience('public') : of
}

function everywhere(store: Store): readonly number[] {
  return store.partitions().map(({ id }) => id)
}

/** Every viewer's reading and writing of memories is the owner's. */
function oneMemory(store: Store, declaration: TableDeclaration): object {
  const table = store.table(declaration)
  if (declaration.name !== MEMORY.name) return table
  const shared = (row: object | undefined) => row && { ...row, viewer: OWNER }
  return {
    get: (key: object) => table.get(shared(key) as never),
    scan: (where: object, page: object) => table.scan(where as never, page as never),
    count: (where: object) => table.count(where as never),
  }
}
