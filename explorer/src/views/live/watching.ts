/** A live query as the page keeps it: its answer, what happened to it, and whether anybody is still listening. */
import { signal } from '@preact/signals'
import type { LiveEvent } from '../../../../src/model/live.ts'
import type { Item } from '../../../../src/model/page.ts'
import { ApiError, pause, stream } from '../../api.ts'

/** `lost`: it will be tried again. `refused`: it will not. */
export type ConnectionState = 'connecting' | 'watching' | 'lost' | 'refused'

export interface Seen {
  readonly state: ConnectionState
  readonly error: unknown
  /** The answer as it is now, the best first. */
  readonly items: readonly Item[]
  /** What happened since it was first answered, the newest first. */
  readonly events: readonly Happened[]
}

export type Happened = LiveEvent & { readonly title: string }

type Piece = LiveEvent | Subscribed | Alive | Failed

interface Subscribed {
  readonly type: 'subscribed'
  readonly began: 'anew' | 'continued' | 'resync'
}

interface Alive {
  readonly type: 'alive'
}

/** With a type the question goes on; without one the server has ended it. */
interface Failed {
  readonly type?: 'error'
  readonly error: { readonly code: string; readonly message: string }
}

const MAX_EVENTS = 200
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
/** Ends that are no refusal: the server stops, or is not there. */
const PASSING: readonly string[] = ['unreachable', 'cancelled', 'internal', 'store_locked', 'deadline_exceeded']

const BEGIN: Seen = { state: 'connecting', error: null, items: [], events: [] }

class Watching {
  readonly seen = signal<Seen>(BEGIN)

  /** Watches until the signal; when the connection is lost, resumes after the last event that arrived. */
  async follow(text: string, signal: AbortSignal): Promise<void> {
    this.seen.value = BEGIN
    let token: string | null = null
    let waitMs = FIRST_WAIT_MS
    while (!signal.aborted) {
      try {
        for await (const piece of stream<Piece>('watch', { text }, signal, token)) {
          if (signal.aborted) return
          token = piece.token ?? token
          waitMs = FIRST_WAIT_MS
          this.#take(piece.value)
        }
      } catch (error) {
        if (signal.aborted) return
        if (codeOf(error) === 'resume_invalid') token = null
        else if (!isPassing(error)) return this.#set({ state: 'refused', error })
      }
      if (signal.aborted) return
      this.#set({ state: 'lost' })
      await pause(waitMs, signal)
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
    }
  }

  #take(piece: Piece): void {
    if ('error' in piece) {
      const error = new ApiError(piece.error.code, piece.error.message)
      if (piece.type === undefined) throw error
      this.#set({ error })
    } else if (piece.type === 'subscribed') {
      // The next events are the whole answer, unless the subscription was continued.
      this.#set({ state: 'watching', error: null, ...(piece.began === 'continued' ? {} : { items: [] }) })
    } else if (piece.type === 'alive') this.#set({ error: null })
    else this.#happened(piece)
  }

  #happened(event: LiveEvent): void {
    const { items, events } = this.seen.value
    const before = event.details['previous_id'] ?? event.id
    const item = event.item as unknown as Item | undefined
    const known = items.find(({ id }) => id === before)
    const rest = items.filter(one => one !== known)
    const now = event.type === 'removed' ? rest : [...rest, ...((item ?? known) ? [item ?? (known as Item)] : [])]
    const title = item?.title || known?.title || event.id
    const isNews = event.reason !== 'initial'
    this.#set({
      items: now.sort((a, b) => b.score - a.score || a.rank - b.rank),
      events: isNews ? [{ ...event, title }, ...events].slice(0, MAX_EVENTS) : events,
    })
  }

  #set(part: Partial<Seen>): void {
    this.seen.value = { ...this.seen.value, ...part }
  }
}

export const watching = new Watching()

function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  // A connection that breaks while it is read throws what the browser likes.
  return code === null || PASSING.includes(code)
}

function codeOf(error: unknown): string | null {
  return error instanceof ApiError ? error.code : null
}
