/**
 * Creates the host of each lens, the object through which a lens uses the engine, when the lens is first used; and offers the operations of
 * lenses as typed functions.
 */
import { Turns } from '../base/turns.ts'
import { type Calls, callsOf } from '../lenses/calls.ts'
import type { ExclusiveOptions, Lens, LensHost, Remotes, Turn } from '../lenses/lens.ts'
import { BUILT_IN_LENSES } from '../lenses/registry.ts'
import type { LiveQueries } from '../model/live.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { QueryInput } from '../model/query-input.ts'
import { type AccessScope, LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import type { Answer } from '../pipeline/stage.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import type { Engine } from './engine.ts'
import type { Parts } from './parts.ts'
import { onHost, runOperation, streamOperation } from './run-operation.ts'

/** The functions of the engine from which the hosts of lenses are made. */
interface Hosting {
  readonly live: LiveQueries
  /** Throws an error if the engine has been closed. */
  assertOpen(): void
  /** Returns a signal that is aborted when the given signal is, and also when the engine is closed. */
  untilClosed(signal: AbortSignal): AbortSignal
  accessScope(viewer: Viewer): AccessScope
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

  /**
   * The host of a lens: the object through which the lens uses the engine. Throws `unknown_lens`, or an error about the lens's settings.
   */
  of(lens: string): LensHost {
    const made = this.#made.get(lens) ?? this.#make(this.#parts.registry.must(lens))
    this.#made.set(lens, made)
    return made
  }

  #make(lens: Lens): LensHost {
    const { isLasting, makeScratch } = this.#parts
    const { store, clock, embedder, random, workspace, embedding, indexes, sources, node, transport } = this.#parts
    const engine = this.#engine
    return {
      store,
      clock,
      embedder,
      random,
      settings: this.#settingsOf(lens),
      accessScope: viewer => engine.accessScope(viewer),
      embedded: async (signal, report) => {
        await embedding?.settled(engine.untilClosed(signal), report)
        await turnsUntil(signal).run(indexes.getInSteps())
      },
      exclusive: (name, options, body) => this.#exclusive(`${lens.name}:${name}`, options, body),
      workspace,
      ready: async (names, signal) => {
        engine.assertOpen()
        await (signal === undefined ? new Turns() : turnsUntil(signal)).run(indexes.getInSteps(...names))
        engine.assertOpen()
      },
      index: name => {
        engine.assertOpen()
        return indexes.current(name)
      },
      source: async name => {
        engine.assertOpen()
        return (await sources()).get(name)
      },
      live: engine.live,
      remote: {
        openServer: async (...settings) => (await this.#remotes()).openServer(...settings),
        openModel: async settings => (await this.#remotes()).openModel(settings),
      },
      node,
      transport,
      isLasting,
      scratch: makeScratch,
      query: (input, call) => engine.answer({ lens: lens.name, ...input }, call),
      explain: (request, call) =>
        engine.engine.explain({ ...request, query: { lens: lens.name, ...request.query } }, call),
      count: (input, call) => engine.engine.count({ lens: lens.name, ...input }, call),
      stream: (input, call) => engine.engine.stream({ lens: lens.name, ...input }, call),
      subscribe: (input, handlers, call) => engine.engine.subscribe({ lens: lens.name, ...input }, handlers, call),
    }
  }

  async #remotes(): Promise<Remotes> {
    const { remotesOf } = await import('./sources.ts')
    return remotesOf(this.#parts.environment)
  }

  async #exclusive<T>(
    name: string,
    { signal, onWait }: ExclusiveOptions,
    body: (turn: Turn) => Promise<T>,
  ): Promise<T> {
    const lease = this.#parts.lease(name)
    const open = this.#engine.untilClosed(signal)
    await lease.waitFor(open, onWait)
    return lease.during(open, held => body({ signal: held, requireHeld: lease.requireHeld }))
  }

  /**
   * Settings of a lens, from the configuration file and from environment variables whose names begin with the lens's name or that the lens
   * declares.
   */
  #settingsOf(lens: Lens): unknown {
    const { lensSettings, environment } = this.#parts
    const given = lensSettings[lens.name]
    const own = `${lens.name.toUpperCase()}_`
    const isRead = ([name]: readonly [string, string]) => name.startsWith(own) || lens.variables?.includes(name)
    const variables = Object.fromEntries(Object.entries(environment).filter(isRead))
    return lens.settings ? lens.settings(given, variables) : given
  }
}

/**
 * Functions that call the operations of lenses for this viewer, grouped by lens and made at first use. For a built-in lens that the engine
 * has not loaded, they throw `unknown_lens`.
 */
export function lensCalls(engine: Engine, viewer: Viewer): Calls {
  const lenses = new Map([...BUILT_IN_LENSES, ...engine.lenses].map(lens => [lens.name, lens]))
  const calls = {}
  for (const { name: lens, families = [] } of lenses.values()) {
    const caller = callerOf(engine, lens, viewer)
    for (const family of [lens, ...families]) {
      const get = () => {
        engine.host(lens)
        const operations = engine.lensOperations.flatMap(of => (of.lens === lens ? of.operation : []))
        return callsOf(operations, family, caller)
      }
      Object.defineProperty(calls, family, { get, enumerable: true })
    }
  }
  return calls as Calls
}

/**
 * Adds functions for the operations of lenses, called for the local owner, as properties of the engine. Existing properties of the same
 * name are kept.
 */
export function withCalls(engine: Omit<Engine, keyof Calls>): Engine {
  const whole = engine as Engine
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(lensCalls(whole, LOCAL_OWNER)))) {
    if (!(name in engine)) Object.defineProperty(engine, name, property)
  }
  return whole
}

function callerOf(engine: Engine, lens: string, viewer: Viewer): Parameters<typeof callsOf>[2] {
  const completed = (context: Partial<CallContext>): CallContext => ({
    ...{ viewer, signal: new AbortController().signal },
    ...context,
  })
  const of = (operation: Operation<ReturnType<Engine['host']>>) => onHost(lens, operation)
  return {
    run: (operation, input, context) => runOperation(of(operation), engine, input, completed(context)),
    stream: (operation, input, context) => streamOperation(of(operation), engine, input, completed(context)),
  }
}
