/** State that the parts of the lens `chroma` share within one engine: settings, bindings, profiles, memories. */
import type { LensHost } from '../lens.ts'
import { Bindings } from './colour/bindings.ts'
import { Coordinates, TagMeanings } from './colour/coordinates.ts'
import type { Sleep } from './errors.ts'
import { StorageError } from './errors.ts'
import { AccessUpdates } from './memory/changes.ts'
import { Memories, type MemoryContext } from './memory/columns.ts'
import { FieldValues, type Nodes, nodesOf } from './nodes/stored.ts'
import type { Extensions } from './profiles/query-profile.ts'
import type { Profiles } from './profiles/registry.ts'
import type { ChromaSettings } from './settings.ts'

/** The resolved settings and the profiles of the lens, in the form in which the engine passes them as `host.settings`. */
export interface LensSettings {
  readonly settings: ChromaSettings
  readonly profiles: Profiles
  readonly extensions: Extensions
  readonly sleep: Sleep
}

export interface ChromaState {
  readonly host: LensHost
  readonly settings: ChromaSettings
  readonly sleep: Sleep
  readonly bindings: Bindings
  readonly coordinates: Coordinates
  readonly meanings: TagMeanings
  readonly memories: Memories
  readonly access: AccessUpdates
  /** What background jobs and other code need to change memories of nodes. */
  readonly memory: MemoryContext
  readonly profiles: Profiles
  readonly extensions: Extensions
  readonly fields: FieldValues
  readonly nodes: Nodes
}

const STATES = new WeakMap<LensHost, ChromaState | 'closed'>()

/** The state of the lens `chroma` for this engine, made on first use. Throws `store_closed` when the engine was closed. */
export function stateOf(host: LensHost): ChromaState {
  const known = STATES.get(host)
  if (known === 'closed') throw closedError()
  if (known !== undefined) return known
  const made = makeState(host)
  STATES.set(host, made)
  return made
}

/** Called when the engine closes: writes the queued uses of nodes. */
export function closeState(host: LensHost): void {
  const known = STATES.get(host)
  STATES.set(host, 'closed')
  if (known !== 'closed') known?.access.close()
}

function closedError(): StorageError {
  return new StorageError('store_closed', 'the store is closed', {}, undefined, { help: 'Open it again.' })
}

/** The engine's present time in Unix seconds. A call reads it once, so that all its parts use one time. */
export function secondsNow({ clock }: LensHost): number {
  return Math.floor(clock.now() / 1000)
}

function makeState(host: LensHost): ChromaState {
  const { settings, sleep, profiles, extensions } = host.settings as LensSettings
  const { store } = host
  const { enabled, decayEnabled, accessUpdates } = settings.memory
  const bindings = new Bindings(host)
  const memories = new Memories(store)
  const access = new AccessUpdates({ store, memories, mode: accessUpdates, memoryEnabled: enabled })
  return {
    host,
    settings,
    sleep,
    bindings,
    coordinates: new Coordinates(bindings),
    meanings: new TagMeanings(host),
    memories,
    access,
    memory: { host, memories, access, settings: { enabled, decay_enabled: decayEnabled } },
    profiles,
    extensions,
    fields: new FieldValues((reader, entry) => extensions.read(reader, entry)),
    nodes: nodesOf((reader, entry) => extensions.read(reader, entry)),
  }
}
