/** What each lens is given of the engine: made when it is first asked for, and the same from then on. */
import { Turns } from '../base/turns.ts'
import type { ExclusiveOptions, Lens, LensHost, Turn } from '../lenses/lens.ts'
import type { LiveQueries } from '../model/live.ts'
import type { CallContext } from '../model/operation.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { Sight, Viewer } from '../model/viewer.ts'
import type { Answer } from '../pipeline/stage.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import type { Engine } from './engine.ts'
import { openScratch } from './index-makers.ts'
import type { Parts } from './parts.ts'
import { remotesOf } from './sources.ts'

/** What hosts need of the engine itself. */
export interface Hosting {
  readonly live: LiveQueries
  /** Throws when the engine is closed. */
  mustBeOpen(): void
  /** The signal, which is aborted when the engine is closed too. */
  untilClosed(signal: AbortSignal): AbortSignal
  sight(viewer: Viewer): Sight
  answer(input: QueryInput, call: Partial<CallContext>): Promise<Answer>
  readonly engine: Pick<Engine, 'explain' | 'count' | 'stream' | 'subscribe'>
}

export class LensHosts {
  readonly #parts: Parts
  readonly #engine: Hosting
  readonly #made = new Map<string, LensHost>()

  constructor(parts: Parts, engine: Hosting) {
    this.#parts = parts
    this.#engine = engine
  }

  /** Throws `unknown_lens`, and what is wrong with the lens's settings. */
  of(lens: string): LensHost {
    const made = this.#made.get(lens) ?? this.#make(this.#parts.registry.must(lens))
    this.#made.set(lens, made)
    return made
  }

  #make(lens: Lens): LensHost {
    const { isLasting } = this.#parts
    const { store, clock, embedder, random, log, workspace, embedding, indexes, sources, node, transport } = this.#parts
    const engine = this.#engine
    return {
      store,
      clock,
      embedder,
      random,
      log,
      settings: this.#settingsOf(lens),
      sight: viewer => engine.sight(viewer),
      embedded: async (signal, report) => {
        await embedding?.settled(engine.untilClosed(signal), report)
        await turnsUntil(signal).run(indexes.getInSteps())
      },
      exclusive: (name, options, body) => this.#exclusive(`${lens.name}:${name}`, options, body),
      workspace,
      ready: async (names, signal) => {
        engine.mustBeOpen()
        await (signal === undefined ? new Turns() : turnsUntil(signal)).run(indexes.getInSteps(...names))
        engine.mustBeOpen()
      },
      index: name => {
        engine.mustBeOpen()
        indexes.refresh()
        return indexes.get(name)
      },
      source: name => {
        engine.mustBeOpen()
        return sources.get(name)
      },
      live: engine.live,
      remote: remotesOf(this.#parts.environment),
      node,
      transport,
      isLasting,
      scratch: () => openScratch(embedder),
      query: (input, call) => engine.answer({ lens: lens.name, ...input }, call),
      explain: (request, call) =>
        engine.engine.explain({ ...request, query: { lens: lens.name, ...request.query } }, call),
      count: (input, call) => engine.engine.count({ lens: lens.name, ...input }, call),
      stream: (input, call) => engine.engine.stream({ lens: lens.name, ...input }, call),
      subscribe: (input, handlers, call) => engine.engine.subscribe({ lens: lens.name, ...input }, handlers, call),
    }
  }

  async #exclusive<T>(
    name: string,
    { signal, onWait }: ExclusiveOptions,
    body: (turn: Turn) => Promise<T>,
  ): Promise<T> {
    const lease = this.#parts.lease(name)
    const open = this.#engine.untilClosed(signal)
    await lease.waitFor(open, onWait)
    return lease.during(open, held => body({ signal: held, mustHold: lease.mustHold }))
  }

  /** Of the configuration, and of the variables whose names begin with the lens's or are declared by it. */
  #settingsOf(lens: Lens): unknown {
    const { lensSettings, environment } = this.#parts
    const given = lensSettings[lens.name]
    const own = `${lens.name.toUpperCase()}_`
    const isRead = ([name]: readonly [string, string]) => name.startsWith(own) || lens.variables?.includes(name)
    const variables = Object.fromEntries(Object.entries(environment).filter(isRead))
    return lens.settings ? lens.settings(given, variables) : given
  }
}
