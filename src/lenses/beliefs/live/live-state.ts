/** What the standing questions of one engine share. */
import type { BeliefsState } from '../state.ts'
import type { TrustQuestion } from '../trust/resolved-edges.ts'
import { BeliefNews } from './news.ts'
import { SightWatch } from './sight-watch.ts'
import { TrustWatch } from './trust-watch.ts'

export interface LiveShared {
  readonly news: BeliefNews
  /** Takes in what was committed; the store's version, by which those who ask after each other spare asking again. */
  catchUp(): number
  sightOf(viewer: string): SightWatch
  trustOf(viewer: string, question: TrustQuestion): TrustWatch
}

const SHARED = new WeakMap<BeliefsState, LiveShared>()

export function liveShared(state: BeliefsState): LiveShared {
  const known = SHARED.get(state)
  if (known !== undefined) return known
  const made = makeShared(state)
  SHARED.set(state, made)
  return made
}

function makeShared(state: BeliefsState): LiveShared {
  const sights = new Watches<SightWatch>()
  const trusts = new Watches<TrustWatch>()
  const { store } = state.host
  const news = new BeliefNews(store)
  let caughtUp: number | null = null
  return {
    news,
    catchUp: () => {
      const version = store.version()
      if (version === caughtUp) return version
      news.refresh()
      state.columns.refresh()
      caughtUp = version
      return version
    },
    sightOf: viewer => sights.of(viewer, () => new SightWatch(state, viewer)),
    trustOf: (viewer, question) =>
      trusts.of(JSON.stringify([viewer, question]), () => new TrustWatch(state, viewer, question)),
  }
}

/** Kept for as long as some question holds them. */
class Watches<W extends WeakKey> {
  readonly #known = new Map<string, WeakRef<W>>()
  readonly #gone = new FinalizationRegistry<string>(key => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key)
  })

  of(key: string, make: () => W): W {
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    const made = make()
    this.#known.set(key, new WeakRef(made))
    this.#gone.register(made, key)
    return made
  }
}
