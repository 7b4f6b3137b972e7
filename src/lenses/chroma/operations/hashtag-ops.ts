/** Hashtags and their places. */
import { z } from 'zod'
import { Chroma } from '../chroma.ts'
import type { Assignment, Target } from '../colour/assignment.ts'
import { migration } from '../colour/migrate.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { ANCHORS } from '../colour/stack.ts'
import { loadStack } from '../colour/stack-file.ts'
import { loadVocabulary } from '../colour/vocabulary.ts'
import { binding, hashtagList, zone } from '../model.ts'
import { stateOf } from '../state.ts'
import { chromaOperation } from './chroma-operation.ts'

const hashtag = z.string().describe('1 to 100 characters, with or without #, in any letter case')
const target = {
  zone: zone
    .optional()
    .describe('Zone, in any letter case: the free anchor of it with the lowest number; or give anchor_id'),
  anchor_id: z.int().min(1).max(ANCHORS).optional().describe(`Number of the anchor, 1 to ${ANCHORS}; or give zone`),
}
const assignment = z.strictObject({ hashtag, ...target })

/** Ways to name what is to be assigned; exactly one of them. */
const WAYS = ['hashtag', 'assignments', 'text', 'starter'] as const

const assign = chromaOperation({
  name: 'chroma.assign',
  summary: 'Bind hashtags to anchors, in a zone or at an anchor; what is bound stays where it is',
  input: z
    .strictObject({
      hashtag: hashtag.optional().describe(`${hashtag.description}; or give assignments, text or starter`),
      ...target,
      assignments: z
        .array(assignment)
        .optional()
        .describe('Many at once, all or none; instead of hashtag')
        .meta({ examples: [[{ hashtag: '#rust', zone: 'Mid' }]] }),
      text: z
        .string()
        .optional()
        .describe(
          'Many, all or none: a line each of hashtag and zone or anchor id, or a stack file; instead of hashtag',
        )
        .meta({ examples: ['#rust mid\n#typing 17'] }),
      starter: z
        .literal(true)
        .optional()
        .describe("The starter vocabulary for developers' topics, as far as its hashtags are free; instead of hashtag"),
    })
    .refine(input => WAYS.filter(way => input[way] !== undefined).length === 1, {
      path: ['hashtag'],
      error: `exactly one of ${WAYS.join(', ')}`,
    })
    .meta({ oneOf: WAYS.map(way => ({ required: [way] })), examples: [{ hashtag: '#rust', zone: 'Mid' }] }),
  output: z.lazy(() =>
    z.union([
      binding,
      z.strictObject({ assigned: z.array(binding).describe('Of assignments and text all, of starter the new ones') }),
    ]),
  ),
  effect: { kind: 'write', idempotent: true },
  async run(host, input, { viewer }) {
    const chroma = new Chroma(host, viewer)
    if (input.hashtag !== undefined) return chroma.assignHashtag(input.hashtag, targetOf(input))
    if (input.starter) return { assigned: await chroma.assignStarter() }
    const { text, assignments = [] } = input
    const list =
      text === undefined ? assignments.map(each => ({ hashtag: each.hashtag, ...targetOf(each) })) : read(text)
    return { assigned: await chroma.assignHashtags(list) }
  },
})

const unassign = chromaOperation({
  name: 'chroma.unassign',
  summary: 'Free the anchor of a hashtag that no node carries',
  input: z.strictObject({ hashtag }),
  output: binding,
  effect: { kind: 'destroy', idempotent: false, ownerOnly: true },
  run: (host, input, { viewer }) => new Chroma(host, viewer).unassignHashtag(input.hashtag),
})

const migrate = chromaOperation({
  name: 'chroma.migrate',
  summary: 'Move a hashtag to another anchor, and every node that carries it to its new colour',
  input: assignment,
  output: migration,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, { viewer }) => new Chroma(host, viewer).migrateHashtag(input.hashtag, targetOf(input)),
})

const hashtags = chromaOperation({
  name: 'chroma.hashtags',
  summary: 'List assigned hashtags with their anchors, of all zones or of one',
  input: z.strictObject({
    zone: zone.nullish().describe('Only of this zone, in any letter case. Default: all'),
    hashtag: hashtag.nullish().describe('Only this one, if it is assigned. Default: all'),
  }),
  output: z.lazy(() => z.strictObject({ hashtags: z.array(binding).describe('By ascending anchor') })),
  effect: { kind: 'read', idempotent: true },
  async run(host, { zone, hashtag }, { viewer }) {
    const chroma = new Chroma(host, viewer)
    const listed = chroma.listHashtags(zone ?? undefined)
    if (hashtag === undefined || hashtag === null) return { hashtags: listed }
    const found = chroma.resolveHashtag(hashtag)
    return { hashtags: listed.filter(each => each.hashtag === found?.hashtag) }
  },
})

const place = chromaOperation({
  name: 'chroma.place',
  summary: 'Compute the colour of a set of hashtags, in full precision',
  input: z.strictObject({ hashtags: hashtagList }),
  output: z.lazy(() =>
    z.strictObject({
      color_L: z.number().describe('Lightness, 0 to 100'),
      color_a: z.number().describe('Green to red, -128 to 127'),
      color_b: z.number().describe('Blue to yellow, -128 to 127'),
      node_id: z.string().describe('Name of the colour'),
      hashtags: z.array(z.string()).describe('Normalised (#lower-case) and distinct, by ascending anchor'),
    }),
  ),
  effect: { kind: 'read', idempotent: true },
  async run(host, input) {
    const { coordinates } = stateOf(host)
    const checked = coordinates.check(input.hashtags)
    const color = coordinates.color(checked)
    const [color_L, color_a, color_b] = color
    return { color_L, color_a, color_b, node_id: nodeIdOf(color), hashtags: checked.hashtags }
  },
})

const suggest = chromaOperation({
  name: 'chroma.suggest_hashtags',
  summary: 'Find the assigned hashtags that a text names; nothing is applied',
  input: z.strictObject({ content: z.string().describe('A text, such as the content of a node to store') }),
  output: z.strictObject({ hashtags: z.array(z.string()).describe('Normalised, in order of first appearance') }),
  effect: { kind: 'read', idempotent: true },
  run: async (host, { content }, { viewer }) => ({ hashtags: new Chroma(host, viewer).suggestHashtags(content) }),
})

export const HASHTAG_OPERATIONS = [assign, unassign, migrate, hashtags, place, suggest] as const

function targetOf({
  zone,
  anchor_id,
}: {
  readonly zone?: string | undefined
  readonly anchor_id?: number | undefined
}): Target {
  return { zone, anchorId: anchor_id }
}

/** What begins as an object of JSON does is no list of hashtags. */
const STACK_FILE = /^\s*\{\s*"/

function read(text: string): readonly Assignment[] {
  return STACK_FILE.test(text) ? loadStack(text.trim()).assignments : loadVocabulary(text)
}
