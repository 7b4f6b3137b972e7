/** Hashtags and their places. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, described, FLAG, fields, INTEGER, NUMBER, OBJECTS, TEXT, type WireInput } from '../../wire-schema.ts'
import { Chroma } from '../chroma.ts'
import type { Assignment, Target } from '../colour/assignment.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { loadStack } from '../colour/stack-file.ts'
import { loadVocabulary } from '../colour/vocabulary.ts'
import { invalidParameter, placed } from '../errors.ts'
import { isPlainObject } from '../plain.ts'
import { stateOf } from '../state.ts'
import { only, TAGS, ZONE } from './wire.ts'

const BINDING = { hashtag: TEXT, anchor_id: INTEGER, zone: ZONE, L: NUMBER, a: NUMBER, b: NUMBER, mass: NUMBER }
const TARGET = {
  zone: described(ZONE, 'The free anchor with the lowest id of this zone'),
  anchor_id: described(INTEGER, 'This anchor, 1 to 10000'),
}
/** Ways to name what is to be assigned; exactly one of them. */
const WAYS = ['hashtag', 'assignments', 'text', 'starter'] as const

const assign: Operation<LensHost> = {
  name: 'chroma.assign',
  summary: 'Bind hashtags to anchors, in a zone or at an anchor; what is bound stays where it is',
  input: fields({
    hashtag: described(TEXT, 'With or without #'),
    ...TARGET,
    assignments: described(OBJECTS, 'Many, all or none: {hashtag, zone} or {hashtag, anchor_id}'),
    text: described(TEXT, 'Many, all or none: a line each, hashtag and zone or anchor id; or a stack file'),
    starter: described(FLAG, "The starter vocabulary for developers' topics, as far as its hashtags are not assigned"),
  }),
  output: answers({}),
  effect: { kind: 'write', idempotent: true },
  async run(host, given, { viewer }) {
    const input = only(given as WireInput, [...WAYS, 'zone', 'anchor_id'])
    const ways = WAYS.filter(way => input[way] !== undefined)
    if (ways.length !== 1) throw invalidParameter('hashtag', input['hashtag'], `exactly one of ${WAYS.join(', ')}`)
    const chroma = new Chroma(host, viewer)
    switch (ways[0]) {
      case 'hashtag':
        return chroma.assignHashtag(input['hashtag'] as string, targetOf(input))
      case 'starter':
        if (input['starter'] !== true) throw invalidParameter('starter', input['starter'], 'true')
        return { assigned: await chroma.assignStarter() }
      default:
        return { assigned: await chroma.assignHashtags(assignmentsOf(input)) }
    }
  },
}

const unassign: Operation<LensHost> = {
  name: 'chroma.unassign',
  summary: 'Free the anchor of a hashtag that no node carries',
  input: fields({ hashtag: described(TEXT, 'With or without #') }, ['hashtag']),
  output: answers(BINDING),
  effect: { kind: 'destroy', idempotent: false, ownerOnly: true },
  run: async (host, given, { viewer }) =>
    new Chroma(host, viewer).unassignHashtag(only(given as WireInput, ['hashtag'])['hashtag'] as string),
}

const migrate: Operation<LensHost> = {
  name: 'chroma.migrate',
  summary: 'Move a hashtag to another anchor, and every node that carries it to its new colour',
  input: fields({ hashtag: described(TEXT, 'With or without #'), ...TARGET }, ['hashtag']),
  output: answers({ hashtag: TEXT, from_anchor_id: INTEGER, to_anchor_id: INTEGER, nodes_updated: INTEGER }),
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  async run(host, given, { viewer }) {
    const input = only(given as WireInput, ['hashtag', 'zone', 'anchor_id'])
    return new Chroma(host, viewer).migrateHashtag(input['hashtag'] as string, targetOf(input))
  },
}

const hashtags: Operation<LensHost> = {
  name: 'chroma.hashtags',
  summary: 'List assigned hashtags with their anchors, of all zones or of one',
  input: fields({ zone: described(ZONE, 'Only of this zone'), hashtag: described(TEXT, 'Only this one') }),
  output: answers({ hashtags: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { zone, hashtag } = only(given as WireInput, ['zone', 'hashtag'])
    const chroma = new Chroma(host, viewer)
    const listed = chroma.listHashtags((zone ?? undefined) as string | undefined)
    if (hashtag === undefined || hashtag === null) return { hashtags: listed }
    const found = chroma.resolveHashtag(hashtag as string)
    return { hashtags: listed.filter(binding => binding.hashtag === found?.hashtag) }
  },
}

const place: Operation<LensHost> = {
  name: 'chroma.place',
  summary: 'Compute the colour of a set of hashtags, in full precision',
  input: fields({ hashtags: TAGS }, ['hashtags']),
  output: answers({ color_L: NUMBER, color_a: NUMBER, color_b: NUMBER, node_id: TEXT, hashtags: TAGS }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given) {
    const { coordinates } = stateOf(host)
    const checked = coordinates.check(only(given as WireInput, ['hashtags'])['hashtags'] as readonly unknown[])
    const color = coordinates.color(checked)
    const [color_L, color_a, color_b] = color
    return { color_L, color_a, color_b, node_id: nodeIdOf(color), hashtags: checked.hashtags }
  },
}

const suggest: Operation<LensHost> = {
  name: 'chroma.suggest_hashtags',
  summary: 'Find the assigned hashtags that a text names; nothing is applied',
  input: fields({ content: described(TEXT, 'The text') }, ['content']),
  output: answers({ hashtags: TAGS }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { content } = only(given as WireInput, ['content'])
    return { hashtags: new Chroma(host, viewer).suggestHashtags(content as string) }
  },
}

export const HASHTAG_OPERATIONS: readonly Operation<LensHost>[] = [assign, unassign, migrate, hashtags, place, suggest]

function targetOf(input: WireInput): Target {
  const { zone, anchor_id } = input
  return { zone: zone as string | undefined, anchorId: anchor_id as number | undefined }
}

/** What begins as an object of JSON does is no list of hashtags. */
const STACK_FILE = /^\s*\{\s*"/

function assignmentsOf({ text, assignments }: WireInput): readonly Assignment[] {
  if (typeof text === 'string' && STACK_FILE.test(text)) return loadStack(text.trim()).assignments
  if (text !== undefined) return loadVocabulary(text)
  if (!Array.isArray(assignments)) throw invalidParameter('assignments', assignments, 'a list of assignments')
  return assignments.map((item: unknown, index) => {
    try {
      return assignmentOf(item)
    } catch (error) {
      throw placed(error, `assignments[${index}]`, { index })
    }
  })
}

function assignmentOf(item: unknown): Assignment {
  if (!isPlainObject(item)) throw invalidParameter('assignments', item, 'a hashtag and its place')
  const { hashtag, ...target } = only(item, ['hashtag', 'zone', 'anchor_id'])
  return { hashtag: hashtag as string, ...targetOf(target) }
}
