/** Whether what a requester may see has changed by memberships and federations: new beliefs are told by the news. */
import type { Requester } from '../access/requester.ts'
import type { BeliefsState } from '../state.ts'

export class SightWatch {
  readonly #state: BeliefsState
  readonly #viewer: string
  #requester: Requester
  #revision = 0
  #version: number | null = null

  constructor(state: BeliefsState, viewer: string) {
    this.#state = state
    this.#viewer = viewer
    this.#requester = state.requester(viewer)
  }

  /** As memberships stand now. */
  get requester(): Requester {
    return this.#requester
  }

  /** Another number when the requester sees others, or through other federations, than at the last call. `version`: of the store. */
  refresh(version: number): number {
    if (version === this.#version) return this.#revision
    this.#version = version
    const now = this.#state.requester(this.#viewer)
    if (now === this.#requester) return this.#revision
    if (!seeAlike(this.#requester, now)) this.#revision++
    this.#requester = now
    return this.#revision
  }
}

function seeAlike(before: Requester, now: Requester): boolean {
  if (before.federations.join('\n') !== now.federations.join('\n')) return false
  if (now.federations.some(id => before.isStrict(id) !== now.isStrict(id))) return false
  const isTheSame = (partition: number) =>
    before.kindOf(partition) === now.kindOf(partition) &&
    before.federationsOf(partition).join('\n') === now.federationsOf(partition).join('\n')
  return (
    before.sight.partitions.every(isTheSame) &&
    // What lies in a new partition is news.
    now.sight.partitions.every(partition => !before.knows(partition) || isTheSame(partition))
  )
}
