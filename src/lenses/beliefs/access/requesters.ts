/** Who has asked of late, remembered until memberships or partitions change. */
import { Recent } from '../../../base/recent.ts'
import { CurrentMembers } from '../../../pipeline/members.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { Store } from '../../../store/store.ts'
import { Requester } from './requester.ts'

/** A byte for every partition, and some hundred for every shared one in sight. */
const KEPT = 64

export class Requesters {
  readonly #store: Store
  readonly #members: CurrentMembers
  readonly #known = new Recent<string, Requester>(KEPT)
  #version: number | null = null
  #marks = ''
  /** How many there were. */
  #partitions = 0

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  /** `through`: one federation, where it looks through no other. */
  of(id: string, through: string | null = null): Requester {
    this.#forgetOld()
    const make = () => this.#store.read(reader => new Requester(reader, id, this.#members.now(), through))
    // Names of agents have no blanks.
    return this.#known.get(through === null ? id : `${id} ${through}`, make)
  }

  #forgetOld(): void {
    const store = this.#store
    const version = store.version()
    if (version === this.#version) return
    this.#version = version
    const marks = [store.version(MEMBERSHIPS), store.version(FEDERATIONS)].join()
    if (marks !== this.#marks) this.#known.clear()
    this.#marks = marks
    const partitions = store.partitions()
    if (partitions.length < this.#partitions) this.#known.clear()
    // They are only ever added; one that is not seen changes nothing for who does not see it.
    const added = partitions.slice(this.#partitions)
    if (added.length > 0) this.#known.forget((_, requester) => !requester.passesOver(added))
    this.#partitions = partitions.length
  }
}
