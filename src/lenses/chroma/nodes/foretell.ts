/** A forecast as callers see it: with the ids and labels of the nodes. */
import type { Viewer } from '../../../model/viewer.ts'
import { type Forecast, type Foreseen, forecast } from '../memory/forecast.ts'
import { type ChromaState, secondsNow } from '../state.ts'

export interface ForetoldNode extends Omit<Foreseen, 'entry'> {
  readonly entry_id: string
  readonly label: string
}

export interface Foretold extends Omit<Forecast, 'items'> {
  /** The soonest first. */
  readonly items: readonly ForetoldNode[]
}

export function foretell(state: ChromaState, viewer: Viewer, until: number, limit?: number): Foretold {
  const { host, memory } = state
  return host.store.read(reader => {
    const request = { now: secondsNow(host), until, ...(limit === undefined ? {} : { limit }) }
    const { items, ...rest } = forecast(memory, viewer.id, request)
    const entries = new Map(reader.entries(items.map(({ entry }) => entry)).map(entry => [entry.key, entry]))
    const told = items.flatMap(({ entry: key, ...foreseen }) => {
      const entry = entries.get(key)
      return entry === undefined ? [] : [{ entry_id: entry.id, label: entry.title, ...foreseen }]
    })
    return { ...rest, items: told }
  })
}
