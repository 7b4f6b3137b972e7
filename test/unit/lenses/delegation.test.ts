/** Which questions of the default lens are another lens's. */
import { describe, expect, it } from 'vitest'
import { delegating } from '../../../src/lenses/registry.ts'
import type { Filter } from '../../../src/model/filter.ts'
import { DEFAULT_STAGES } from '../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../src/pipeline/stage.ts'
import { openWorld } from '../pipeline/world.ts'

const message: Filter = { op: 'eq', field: 'kind', value: 'message' }
const speaker: Filter = { op: 'in', field: 'conversations.speaker', values: ['Mira'] }
const tag: Filter = { op: 'eq', field: 'tag', value: 'x' }

function takenBy(filter: Filter | null): unknown {
  const { query, ...context } = openWorld().context({ text: 'fox' })
  const own: Stages = { ...DEFAULT_STAGES, parse: (asked, of) => ({ ...DEFAULT_STAGES.parse(asked, of), filter }) }
  const messageLens = { name: 'talk', kinds: ['message', 'mail'], aspects: ['conversations'], stages: async () => own }
  const all = { ...context, query, note: () => {} } as unknown as Parameters<Stages['parse']>[1]
  return delegating(own, [messageLens]).parse(query, all).facts['delegated_to']
}

describe('a question of the default lens', () => {
  it.each([
    message,
    speaker,
    { op: 'in', field: 'kind', values: ['mail', 'message'] },
    { op: 'exists', field: 'conversations.role' },
    { op: 'and', of: [tag, { op: 'or', of: [message, speaker] }] },
  ] satisfies Filter[])('goes to the lens whose entries alone fulfil %j', filter =>
    expect(takenBy(filter)).toBe('talk'),
  )

  it.each([
    null,
    tag,
    { op: 'not', of: message },
    { op: 'not', of: speaker },
    { op: 'in', field: 'kind', values: ['note', 'message'] },
    { op: 'or', of: [message, tag] },
    { op: 'or', of: [] },
    { op: 'exists', field: 'conversational.role' },
  ] satisfies (Filter | null)[])('stays where others may fulfil %j', filter => expect(takenBy(filter)).toBeUndefined())
})
