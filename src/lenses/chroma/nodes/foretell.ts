/** A forecast as callers see it: with the ids and labels of the nodes. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { forecast } from '../memory/forecast.ts'
import { type ChromaState, secondsNow } from '../state.ts'

export const foretold = z.lazy(() =>
  z.strictObject({
    now: z.int().describe('The one clock reading, Unix seconds'),
    until: z.int().describe('Up to when, Unix seconds, included'),
    totals: z
      .strictObject({
        ascends: z.int().min(0).describe('Nodes that become permanent'),
        rots: z.int().min(0).describe('Nodes that are forgotten'),
        fades: z.int().min(0).describe('Nodes whose health falls below one half'),
      })
      .describe('All events, also those that items leaves out'),
    items: z.array(foretoldNode).describe('The soonest first'),
    skipped: z.enum(['memory_disabled']).optional().describe('Why nothing is foreseen: memory is switched off'),
  }),
)
const foretoldNode = z.lazy(() =>
  z.strictObject({
    entry_id: z.string().describe('Id of the node'),
    label: z.string().describe('Title'),
    event: z.enum(['ascends', 'rots', 'fades']).describe('What happens to it'),
    at: z.number().describe('First moment at which it holds, Unix seconds'),
    recency: z.number().min(0).max(1).describe('As it will be at the end of the time asked for'),
    strength_norm: z.number().min(0).max(1).describe('Normalised strength at the end of that time'),
    decay_health: z.number().min(0).max(1).describe('Health at the end of that time'),
  }),
)
export type Foretold = ReadonlyDeep<z.infer<typeof foretold>>

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
