/** State of the lens `c64` that its operations share within one engine: settings, plugins, connection to the server. */
import type { Steps } from '../../base/turns.ts'
import type { LensHost, Scratch } from '../lens.ts'
import { keepCorpus } from './corpus-store.ts'
import { type Enrichment, enrichInSteps, withoutEnrichment } from './enrichment/enrich.ts'
import type { EnrichmentDomain, EnrichmentPlugin } from './enrichment/plugin.ts'
import { c64Domain } from './plugins.ts'
import { openRemote, type Remote } from './server.ts'
import type { C64Settings } from './settings.ts'

/** The resolved settings and the plugins of the lens, in the form in which the engine passes them as `host.settings`. */
export interface LensSettings {
  readonly settings: C64Settings
  readonly plugins: readonly EnrichmentPlugin[]
  /** Whether the environment variable with the key of the embedding server is set. */
  readonly hasModelKey: boolean
}

export class C64State {
  readonly settings: C64Settings
  readonly #openRemote: () => Promise<Remote>
  readonly #plugins: EnrichmentPlugin[]
  #domain: EnrichmentDomain | null = null
  #remote: Promise<Remote> | null = null
  #inMemory: Promise<Scratch> | null = null

  constructor(host: LensHost) {
    const { settings, plugins, hasModelKey } = host.settings as LensSettings
    this.settings = settings
    this.#openRemote = () => openRemote(host, settings, hasModelKey)
    this.#plugins = [...plugins]
  }

  get domain(): EnrichmentDomain {
    const { expandAddresses } = this.settings
    this.#domain ??= c64Domain({ expandAddresses, plugins: this.#plugins })
    return this.#domain
  }

  /** Enriches a query, which needs no store, server, key or model. When `isRaw` is true, the query is left as it is. */
  *enrich(query: string, isRaw = false): Steps<Enrichment> {
    return isRaw ? withoutEnrichment(query) : yield* enrichInSteps(query, this.domain)
  }

  /** Adds an enrichment plugin of the user's; must be called before the first query. */
  add(plugin: EnrichmentPlugin): void {
    this.#plugins.push(plugin)
    this.#domain = null
  }

  /** The connection to the Qdrant server, opened on first use and kept. When opening fails, the next query tries to open it again. */
  readonly remote = (): Promise<Remote> => {
    this.#remote ??= this.#openRemote().catch((error: unknown) => {
      this.#remote = null
      throw error
    })
    return this.#remote
  }

  /** A store in memory with only the built-in facts, searched by words. It is made on first use and kept until the engine is closed. */
  inMemory(host: LensHost): Promise<Scratch> {
    this.#inMemory ??= openInMemory(host, this.settings.collection)
    return this.#inMemory
  }

  async close(): Promise<void> {
    await (await this.#remote?.catch(() => null))?.close()
  }
}

const STATES = new WeakMap<LensHost, C64State>()

/** The state of the lens `c64` for this engine, made on first use. */
export function stateOf(host: LensHost): C64State {
  const known = STATES.get(host)
  if (known !== undefined) return known
  const made = new C64State(host)
  STATES.set(host, made)
  return made
}

/** The state of the lens `c64` for this engine; undefined while nothing has used it yet. */
export function stateIfMade(host: LensHost): C64State | undefined {
  return STATES.get(host)
}

async function openInMemory(host: LensHost, collection: string): Promise<Scratch> {
  const scratch = host.scratch?.()
  if (scratch === undefined) throw new Error('invariant broken: an engine lends stores in memory')
  await keepCorpus(scratch.store, collection, host.clock.now())
  return scratch
}
