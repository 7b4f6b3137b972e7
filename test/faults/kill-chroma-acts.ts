/** An endless history of the lens `chroma`: the same for a child that is killed over and over, and for one that is not. */

import { type RunOptions, runDecayCycle, runLifecycleCheck } from '../../src/lenses/chroma/memory/changes.ts'
import { MODE_NAMES } from '../../src/lenses/chroma/memory/formulas.ts'
import { stateOf } from '../../src/lenses/chroma/state.ts'
import { OWNER } from '../../src/model/partition.ts'
import { type OpenChroma, openChroma } from '../../src/openings/chroma.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { TAGS } from '../support/chroma-acts.ts'
import { seededUniform } from '../support/seeded.ts'

/** Several batches of a cycle, of which each is a transaction. */
export const NODES = 2_500
const START = 1_700_000_000
/** From one act to the next; a cycle that was cut off may be finished a little later, but before the next act. */
const STEP = 20_000
export const LATER = 7_200
const K = 30

export type Kind = 'query' | 'decay' | 'lifecycle'

export function kindOf(act: number): Kind {
  if (act % 5 === 3) return 'decay'
  return act % 5 === 4 ? 'lifecycle' : 'query'
}

/** `file` null: in memory. Each act sets the clock. */
export async function openHistory(file: string | null): Promise<History> {
  const clock = { now: START }
  const store = file === null ? 'memory' : openSqliteStore({ file })
  return new History(await openChroma({ store, background: false, now: () => clock.now }), clock)
}

export class History implements AsyncDisposable {
  readonly chroma: OpenChroma
  readonly #clock: { now: number }

  constructor(chroma: OpenChroma, clock: { now: number }) {
    this.chroma = chroma
    this.#clock = clock
  }

  /** The nodes that everything is about, with memories of all sorts. */
  async begin(): Promise<void> {
    const random = seededUniform(3)
    await this.chroma.assignHashtags(TAGS.map(([hashtag, zone]) => ({ hashtag, zone })))
    const nodes = Array.from({ length: NODES }, (_, at) => {
      const created_at = START - Math.floor(random() * 30) * 86_400
      const last_accessed = created_at + Math.floor(random() * (START - created_at))
      const signals = { created_at, last_accessed, strength_raw: random() * 25, decay_health: 1, access_count: 0 }
      const flags = { ascension: random() < 0.05, rotten: false, mode_name: MODE_NAMES[Math.floor(random() * 4)] }
      return { entry_id: `n${at}`, hashtags: tagsOf(random), label: '', content: `Node ${at}.`, ...signals, ...flags }
    })
    await this.chroma.importNodes({ version: 1, exported_at: START, nodes } as never)
  }

  /** `late`: seconds after the act is due. `report` is called when something was committed and more is to come. */
  async take(act: number, late = 0, report: () => void = () => {}): Promise<void> {
    this.#clock.now = START + act * STEP + late
    const options: RunOptions = { now: this.#clock.now, report }
    const { memory } = stateOf(this.chroma.engine.host('chroma'))
    switch (kindOf(act)) {
      case 'decay':
        await runDecayCycle(memory, OWNER, options)
        return
      case 'lifecycle':
        await runLifecycleCheck(memory, OWNER, options)
        return
      case 'query':
        await this.chroma.query(tagsOf(seededUniform(act)), { k: K, includeRotten: act % 2 === 0 })
    }
  }

  /** Everything that is remembered of every node, by id. */
  async memories(): Promise<readonly Memory[]> {
    const { nodes } = await this.chroma.exportNodes()
    return nodes.map(({ entry_id, access_count, last_accessed, ascension, rotten, version, ...rest }) => ({
      ...{ exact: { entry_id, access_count, last_accessed, ascension, rotten }, version },
      close: [rest.strength_raw, rest.decay_health],
    }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chroma.close()
  }
}

export interface Memory {
  readonly exact: Readonly<Record<string, unknown>>
  /** To within 1e-9. */
  readonly close: readonly number[]
  readonly version: number
}

function tagsOf(random: () => number): readonly string[] {
  const some = (zone: string, count: number) => {
    const all = TAGS.filter(([, of]) => of === zone).map(([tag]) => tag)
    const from = Math.floor(random() * all.length)
    return Array.from({ length: count }, (_, at) => all[(from + at) % all.length] as string)
  }
  return [...some('Core', 1), ...some('Mid', 6 + Math.floor(random() * 3)), ...some('Outer', 1)]
}
