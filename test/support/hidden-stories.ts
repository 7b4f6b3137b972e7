/**
 * Histories that are replayed in two worlds, in one of them with hidden edits in between, and the questions to both. ann asks:
 * ann is active in the lab, suspended in the guild, and no member of the moon. bob is active in lab and guild, cyd has left
 * the lab, dan is active on the moon.
 */
import fc from 'fast-check'
import type { EntryDraft } from '../../src/model/entry.ts'
import type { ListInput, PutEntriesInput } from '../../src/model/entry-input.ts'
import { type Audience, audience, OWNER } from '../../src/model/partition.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import type { Viewer } from '../../src/model/viewer.ts'
import { known, questions, sentences } from './ask-arbitraries.ts'

export type Edit =
  | { readonly do: 'put'; readonly draft: EntryDraft }
  | { readonly do: 'delete'; readonly holder: string; readonly id: string }
  | { readonly do: 'use'; readonly viewer: string; readonly holder: string; readonly id: string }
  | {
      readonly do: 'member'
      readonly federation: string
      readonly agent: string
      readonly status: 'active' | 'suspended' | 'left'
    }
  /** Everything that has no vector yet gets one. */
  | { readonly do: 'embed' }

/** Named and shaped as the operations of the catalog. */
export type Request =
  | { readonly operation: 'query'; readonly input: QueryInput }
  | { readonly operation: 'explain'; readonly input: { query: QueryInput; id: string; over?: string } }
  | { readonly operation: 'similar' | 'get'; readonly input: { id: string } }
  | { readonly operation: 'list'; readonly input: ListInput }
  | { readonly operation: 'put'; readonly input: PutEntriesInput }
  | { readonly operation: 'delete'; readonly input: { ids: string[] } }
  | { readonly operation: 'status'; readonly input: Record<string, never> }

export interface Story {
  readonly before: readonly Edit[]
  readonly after: readonly Edit[]
  /** Each somewhere in the timeline: see `placeOf`. */
  readonly hidden: readonly { readonly at: number; readonly edit: Edit }[]
  readonly requests: readonly Request[]
}

export const ANN: Viewer = { id: 'ann' }
const PEOPLE: readonly Edit[] = [
  { do: 'member', federation: 'lab', agent: 'ann', status: 'active' },
  { do: 'member', federation: 'lab', agent: 'bob', status: 'active' },
  { do: 'member', federation: 'lab', agent: 'cyd', status: 'left' },
  { do: 'member', federation: 'guild', agent: 'ann', status: 'suspended' },
  { do: 'member', federation: 'guild', agent: 'bob', status: 'active' },
  { do: 'member', federation: 'guild', agent: 'cyd', status: 'active' },
  { do: 'member', federation: 'moon', agent: 'dan', status: 'active' },
]

const VISIBLE: readonly Audience[] = [
  audience('public', 'bob'),
  audience('private', 'ann'),
  audience('shared', 'ann', ['guild']),
  audience('shared', 'bob', ['lab']),
  audience('shared', 'bob', ['guild', 'lab']),
]
const HIDDEN: readonly Audience[] = [
  audience('private', 'bob'),
  audience('private', 'cyd'),
  audience('private', OWNER),
  audience('shared', 'bob', ['guild']),
  audience('shared', 'bob', []),
  audience('shared', 'cyd', ['guild', 'lab']),
  audience('shared', 'dan', ['moon']),
  audience('shared', 'dan', ['lab']),
]

const VISIBLE_IDS = Array.from({ length: 12 }, (_, at) => `e${at}`)
/** Of holders who have visible entries too: other ids, since a hidden edit must not change a visible entry. */
const HIDDEN_IDS = ['h0', 'h1', 'h2', 'h3']
/** Of bob's: visible at first, then hidden by both histories, then changed while hidden. Never shown again. */
const FADING_IDS = ['f0', 'f1', 'f2']

const OPERATIONS: readonly Request['operation'][] = [
  ...(['query', 'explain', 'similar', 'get', 'list', 'put', 'delete', 'status'] as const),
]

const FADE: readonly Edit[] = FADING_IDS.map(id => fadingPut(id, audience('private', 'bob')))

function fadingPut(id: string, of: Audience): Edit {
  return {
    do: 'put',
    draft: {
      ...{ id, collection: 'notes', kind: 'note', title: '', content: `fox ${id}`, tags: [], metadata: {} },
      ...{ audience: of, origin: null, createdAt: 1, updatedAt: 1, validFrom: null, validUntil: null, knownAt: 1 },
    },
  }
}

/** The edits of both worlds, in order; null: everything is asked here, so that what was cached in between is tested too. */
export function timelineOf(story: Story): readonly (Edit | null)[] {
  return [...PEOPLE, ...story.before, null, ...FADE, ...story.after, null]
}

/** Where a hidden edit comes in a timeline of this length. What touches a fading entry must wait until it has faded. */
export function placeOf({ at, edit }: Story['hidden'][number], length: number): number {
  const fading = 'id' in edit ? edit.id : edit.do === 'put' ? edit.draft.id : ''
  return FADING_IDS.includes(fading) ? length - 1 : at % length
}

export function stories(operations: readonly Request['operation'][] = OPERATIONS): fc.Arbitrary<Story> {
  const visible = fc.oneof(
    { weight: 8, arbitrary: puts(VISIBLE, VISIBLE_IDS) },
    { weight: 1, arbitrary: deletes(['ann', 'bob'], VISIBLE_IDS) },
    { weight: 1, arbitrary: uses(['ann', 'bob'], VISIBLE_IDS, ['ann', 'bob']) },
    { weight: 2, arbitrary: fc.constant<Edit>({ do: 'embed' }) },
  )
  const hidden = fc.oneof(
    { weight: 8, arbitrary: hiddenPuts() },
    { weight: 2, arbitrary: deletes(['bob', OWNER], HIDDEN_IDS) },
    { weight: 2, arbitrary: deletes(['bob'], FADING_IDS) },
    { weight: 2, arbitrary: deletes(['cyd', 'dan'], [...HIDDEN_IDS, ...VISIBLE_IDS]) },
    // Others use what ann sees, and what ann does not.
    { weight: 2, arbitrary: uses(['ann', 'bob'], VISIBLE_IDS, ['bob', 'cyd', OWNER]) },
    { weight: 1, arbitrary: uses(['cyd', 'bob'], HIDDEN_IDS, ['cyd', OWNER]) },
    { weight: 1, arbitrary: hiddenMembers() },
  )
  const shown: readonly Edit[] = FADING_IDS.map(id => fadingPut(id, audience('public', 'bob')))
  return fc.record({
    before: fc.array(visible, { maxLength: 20, size: 'max' }).map(edits => [...shown, ...edits]),
    after: fc.array(visible, { maxLength: 8 }),
    hidden: fc.array(fc.record({ at: fc.nat(), edit: hidden }), { minLength: 1, maxLength: 12, size: 'max' }),
    requests: fc.array(requests(operations), { minLength: 1, maxLength: 6 }),
  })
}

function puts(audiences: readonly Audience[], ids: readonly string[]): fc.Arbitrary<Edit> {
  return known(fc.constantFrom(...audiences), fc.constantFrom(...ids)).map(({ draft }) => ({ do: 'put', draft }))
}

function hiddenPuts(): fc.Arbitrary<Edit> {
  const ofOthers = HIDDEN.filter(({ holder }) => holder === 'cyd' || holder === 'dan')
  const ofSeen = HIDDEN.filter(({ holder }) => holder === 'bob')
  // Ids of visible entries too, but of holders who have none of them: an id is unique for its holder only.
  return fc.oneof(puts(HIDDEN, HIDDEN_IDS), puts(ofOthers, [...HIDDEN_IDS, ...VISIBLE_IDS]), puts(ofSeen, FADING_IDS))
}

function deletes(holders: readonly string[], ids: readonly string[]): fc.Arbitrary<Edit> {
  return fc.record({
    do: fc.constant('delete' as const),
    holder: fc.constantFrom(...holders),
    id: fc.constantFrom(...ids),
  })
}

function uses(holders: readonly string[], ids: readonly string[], viewers: readonly string[]): fc.Arbitrary<Edit> {
  return fc.record({
    do: fc.constant('use' as const),
    viewer: fc.constantFrom(...viewers),
    holder: fc.constantFrom(...holders),
    id: fc.constantFrom(...ids),
  })
}

/** Where ann is no active member, the status of members does not concern ann. */
function hiddenMembers(): fc.Arbitrary<Edit> {
  return fc.record({
    do: fc.constant('member' as const),
    federation: fc.constantFrom('guild', 'moon'),
    agent: fc.constantFrom('bob', 'cyd', 'dan'),
    status: fc.constantFrom('active' as const, 'suspended' as const, 'left' as const),
  })
}

/** What no world answers; the refusal is an answer too. */
const REFUSED: readonly QueryInput[] = [
  { text: '' },
  { text: '"fox' },
  { text: 'fox', lens: 'nope' },
  { text: 'fox', cursor: 'forged' },
]

function lists(): fc.Arbitrary<ListInput> {
  return fc.record({
    limit: fc.constantFrom(2, 4, 50),
    order: fc.constantFrom('created', 'updated', 'accessed', 'id'),
    filter: fc.constantFrom(undefined, { tags: ['red'] }, { collections: ['notes'] }, { metadata: { n: [1, 2] } }),
  })
}

function requests(operations: readonly Request['operation'][]): fc.Arbitrary<Request> {
  const id = fc.constantFrom(...VISIBLE_IDS, ...HIDDEN_IDS, ...FADING_IDS, 'nowhere')
  const asked = fc
    .tuple(
      questions(),
      fc.record({ explain: fc.boolean(), limit: fc.integer({ min: 1, max: 6 }), touch: fc.boolean() }),
    )
    .map(([question, options]) => ({ ...question, ...options }))
  const all: Record<Request['operation'], fc.Arbitrary<Request>> = {
    query: fc
      .oneof({ weight: 12, arbitrary: asked }, { weight: 1, arbitrary: fc.constantFrom(...REFUSED) })
      .map(input => ({ operation: 'query', input })),
    explain: fc.tuple(asked, id, fc.option(id)).map(([query, one, over]) => ({
      operation: 'explain',
      input: { query, id: one, ...(over === null ? {} : { over }) },
    })),
    similar: id.map(one => ({ operation: 'similar', input: { id: one } })),
    get: id.map(one => ({ operation: 'get', input: { id: one } })),
    list: lists().map(input => ({ operation: 'list', input })),
    put: fc.tuple(id, sentences(), fc.constantFrom('private', 'public')).map(([one, content, visibility]) => ({
      operation: 'put',
      // Waiting, since when a vector comes in the background is a matter of time.
      input: { entries: [{ id: one, content, visibility }], wait: true },
    })),
    delete: fc.array(id, { minLength: 1, maxLength: 2 }).map(ids => ({ operation: 'delete', input: { ids } })),
    status: fc.constant<Request>({ operation: 'status', input: {} }),
  }
  const weights: Record<Request['operation'], number> = {
    ...{ query: 10, explain: 4, similar: 3, get: 2, list: 3, put: 1, delete: 1, status: 2 },
  }
  return fc.oneof(...operations.map(name => ({ weight: weights[name], arbitrary: all[name] })))
}
