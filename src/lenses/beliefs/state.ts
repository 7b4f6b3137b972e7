/** What the parts of the lens share in one engine. */
import type { LensHost } from '../lens.ts'
import { secretOf } from './access/pseudonym.ts'
import { Requester } from './access/requester.ts'
import { BeliefColumns } from './record/columns.ts'

export interface BeliefsState {
  readonly host: LensHost
  readonly columns: BeliefColumns
  /** Who asks, as memberships stand now: ask once a request, and again before the answer leaves. */
  requester(id: string): Requester
  /** What pseudonyms are made with; never leaves the engine. */
  secret(): string
}

const STATES = new WeakMap<LensHost, BeliefsState>()

/** Made on first use, one an engine. */
export function stateOf(host: LensHost): BeliefsState {
  const known = STATES.get(host)
  if (known !== undefined) return known
  const made = makeState(host)
  STATES.set(host, made)
  return made
}

function makeState(host: LensHost): BeliefsState {
  const requesters = new Requesters(host)
  let secret: string | null = null
  return {
    host,
    columns: new BeliefColumns(host.store),
    requester: id => requesters.of(id),
    secret: () => {
      secret ??= secretOf(host.store, bytes => host.random(bytes), host.clock.now())
      return secret
    },
  }
}

/** Remembered for as long as nobody commits anything. */
class Requesters {
  readonly #host: LensHost
  readonly #known = new Map<string, Requester>()
  #version: number | null = null

  constructor(host: LensHost) {
    this.#host = host
  }

  of(id: string): Requester {
    const { store } = this.#host
    const version = store.version()
    if (version !== this.#version) this.#known.clear()
    this.#version = version
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const made = store.read(reader => new Requester(reader, id))
    this.#known.set(id, made)
    return made
  }
}
