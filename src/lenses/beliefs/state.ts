/** What the parts of the lens share in one engine. */
import { modelKey } from '../../embed/embedder.ts'
import type { LensHost } from '../lens.ts'
import { Secret } from './access/pseudonym.ts'
import { Requester } from './access/requester.ts'
import type { ShowView } from './access/show.ts'
import { Contents } from './query/contents.ts'
import { BeliefColumns } from './record/columns.ts'
import { type BeliefsSettings, DEFAULTS } from './settings.ts'

export interface BeliefsState {
  readonly host: LensHost
  readonly settings: BeliefsSettings
  readonly columns: BeliefColumns
  readonly contents: Contents
  /** Who asks, as memberships stand now. */
  requester(id: string): Requester
  /**
   * One state of the store, all parts of it as of the same commit: columns, requester and reader. Once to answer, and
   * again before the answer leaves. Not within a write.
   */
  look<T>(requester: string, body: (view: ShowView) => T): T
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
  const { store, embedder } = host
  const columns = new BeliefColumns(store)
  const requesters = new Requesters(host)
  const secret = new Secret(host.store, bytes => host.random(bytes), host.clock)
  const model = embedder === null ? null : modelKey(embedder.model)
  return {
    host,
    settings: (host.settings as BeliefsSettings | undefined) ?? DEFAULTS,
    columns,
    contents: new Contents(store, columns),
    requester: id => requesters.of(id),
    look: (id, body) => {
      // Where pseudonyms may come up, what they are made with is made before: it is a write, which no read may hold.
      if (requesters.of(id).federations.length > 0) secret.make()
      return store.read(reader => {
        columns.refresh()
        return body({ reader, requester: requesters.of(id), columns, model, secret: () => secret.value })
      })
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
