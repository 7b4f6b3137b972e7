/** The systems that are compared: from plain BM25 up to the whole, the whole with each ingredient left out, and others. */
import type { Profile } from '../../../src/lenses/conversations/model.ts'
import { DEFAULTS, NO_PARTS, type System, USUAL } from './reference.ts'

export interface Rung {
  readonly name: string
  readonly system: System
}

const { people, assistant } = DEFAULTS
const NOTHING = { vectors: 0, smoothing: false, block: 0, speaker: 1, when: 1, user: 1 } as const
const WORDS_ALONE: System = { ...NOTHING, unit: NO_PARTS, chunks: false, bm25: USUAL }

/** Each step on top of those before it. */
const PEOPLE_STEPS: readonly (readonly [string, (system: System) => System])[] = [
  ['k1 .9 and b .4', system => ({ ...system, bm25: people.bm25 })],
  ['the speaker in the text', system => withPart(system, 'speaker', true)],
  ['the previous message when it asks', system => withPart(system, 'previous', true)],
  ["the session's date in the text", system => withPart(system, 'date', true)],
  ['resolved dates', system => withPart(system, 'resolved', true)],
  ['smoothing over neighbours', system => ({ ...system, smoothing: true })],
  ['the prior of blocks', system => ({ ...system, block: people.block })],
  ['the named speaker × 1.2', system => ({ ...system, speaker: people.speaker })],
  ['when × 1.3', system => ({ ...system, when: people.when })],
  ['vectors .4', system => ({ ...system, vectors: people.vectors })],
]

const ASSISTANT_STEPS: readonly (readonly [string, (system: System) => System])[] = [
  ['chunks of 120 words', system => ({ ...system, chunks: true })],
  ['the user × 2', system => ({ ...system, user: assistant.user })],
  ['vectors .4', system => ({ ...system, vectors: assistant.vectors })],
  ['smoothing over neighbours', system => ({ ...system, smoothing: true })],
]

/** The last one is the default. */
export const LADDERS: Readonly<Record<Profile, readonly Rung[]>> = {
  people: climb('BM25 of the message', PEOPLE_STEPS),
  assistant: climb('BM25 of the message', ASSISTANT_STEPS),
}

export const WITHOUT: Readonly<Record<Profile, readonly Rung[]>> = {
  people: [
    { name: 'vectors', system: { ...people, vectors: 0 } },
    { name: 'the prior of blocks', system: { ...people, block: 0 } },
    { name: 'the previous message', system: withPart(people, 'previous', false) },
    { name: "the session's date", system: withPart(people, 'date', false) },
    { name: 'the named speaker', system: { ...people, speaker: 1 } },
    { name: 'when', system: { ...people, when: 1 } },
    { name: 'smoothing', system: { ...people, smoothing: false } },
    { name: 'resolved dates', system: withPart(people, 'resolved', false) },
  ],
  assistant: [
    { name: 'the weight of the user', system: { ...assistant, user: 1 } },
    { name: 'vectors', system: { ...assistant, vectors: 0 } },
    { name: 'smoothing', system: { ...assistant, smoothing: false } },
    { name: 'chunks', system: { ...assistant, chunks: false } },
  ],
}

const BY_RANKS = { ...NOTHING, vectors: 0.5, byRanks: true, unit: NO_PARTS } as const

/** What people usually take. */
export const OTHERS: Readonly<Record<Profile, readonly Rung[]>> = {
  people: [
    { name: 'the model alone, on the message', system: { ...WORDS_ALONE, vectors: 1 } },
    { name: 'both by ranks (RRF, k 60)', system: { ...BY_RANKS, chunks: false, bm25: people.bm25 } },
  ],
  assistant: [
    { name: 'the model alone, on the message', system: { ...WORDS_ALONE, vectors: 1 } },
    { name: 'both by ranks (RRF, k 60)', system: { ...BY_RANKS, chunks: true, bm25: assistant.bm25 } },
  ],
}

function withPart(system: System, part: keyof System['unit'], has: boolean): System {
  return { ...system, unit: { ...system.unit, [part]: has } }
}

function climb(first: string, steps: readonly (readonly [string, (system: System) => System])[]): readonly Rung[] {
  const rungs: Rung[] = [{ name: first, system: WORDS_ALONE }]
  for (const [name, step] of steps) rungs.push({ name: `+ ${name}`, system: step((rungs.at(-1) as Rung).system) })
  return rungs
}
