/** What viewers may see, worked out once for as long as the store stays as it is. */
import type { Sight, Viewer } from '../model/viewer.ts'
import type { Store } from '../store/store.ts'
import { lookAt } from './access.ts'
import { CurrentMembers } from './members.ts'

/** `lookAt`, remembered by viewer for as long as nobody commits anything. */
export class Sights {
  readonly #store: Store
  readonly #sights = new Map<string, Sight>()
  readonly #members: CurrentMembers
  #version: number | null = null

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  look(viewer: Viewer): Sight {
    const version = this.#store.version()
    if (version !== this.#version) this.#sights.clear()
    this.#version = version
    const known = this.#sights.get(viewer.id)
    if (known !== undefined) return known
    const sight = this.#store.read(reader => lookAt(reader, viewer, this.#members.now()))
    this.#sights.set(viewer.id, sight)
    return sight
  }
}
