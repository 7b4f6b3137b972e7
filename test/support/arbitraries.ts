/**
 * Generators of what stores, indexes and pipelines are given: nasty but legal. Pools are small on purpose, so that ids
 * meet again, filters hit something, and equal texts occur twice in one entry.
 */
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/canonical.ts'
import { storableText } from '../../src/base/storable.ts'
import type { ChunkDraft, EntryDraft } from '../../src/model/entry.ts'
import { type Audience, audience, OWNER } from '../../src/model/partition.ts'
import type { GivenEntry } from './play.ts'

/** Texts that have broken stores before: quotes, wildcards, controls, case folding that changes length, beyond U+FFFF. */
export const NASTY_TEXTS: readonly string[] = [
  '',
  ' ',
  "Robert'); drop table entries;--",
  '"quoted" \\ back`tick',
  '100% _under_ [a-z]*',
  'bell\u0007 and \u001f inside',
  'line\nbreak\r\nand\ttab',
  'İstanbul ŒUVRE straße ÅNGSTRÖM',
  'e\u0301 is é, K is \u212a',
  '日本語のテキスト',
  'مرحبا ‮ right to left',
  '🦊👩‍👩‍👧 family',
  '\u{10000} above \uffee and \ue000',
  '1',
  '1.0',
  'true',
]

/** Storable, mostly short. */
export function texts(maxLength = 40): fc.Arbitrary<string> {
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...NASTY_TEXTS) },
    { weight: 3, arbitrary: fc.constantFrom('fox', 'Fox', 'red fox', 'hound', 'a', 'b') },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength }) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength }) },
  )
  return text.map(storableText)
}

/** Texts that stores refuse: they hold half a surrogate pair or NUL. */
export function brokenTexts(): fc.Arbitrary<string> {
  return fc
    .tuple(texts(8), fc.constantFrom('\ud83d', '\udc00', '\u0000'), fc.constantFrom('', 'x'))
    .map(([before, broken, after]) => `${before} ${broken}${after}`)
}

export const HOLDERS: readonly string[] = [
  OWNER,
  'ann',
  'bob',
  'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
]
export const FEDERATIONS: readonly string[] = ['lab', 'guild', 'ünion']

export function audiences(): fc.Arbitrary<Audience> {
  const holder = fc.constantFrom(...HOLDERS)
  return fc.oneof(
    fc
      .tuple(fc.constantFrom<'public' | 'private'>('public', 'private'), holder)
      .map(([kind, who]) => audience(kind, who)),
    fc.tuple(holder, fc.subarray([...FEDERATIONS])).map(([who, ids]) => audience('shared', who, ids)),
  )
}

const METADATA_KEYS = [
  'a',
  'a',
  'n',
  'n',
  'deep',
  'deep',
  'list',
  'list',
  'with.dot',
  'with "quote',
  '',
  '__proto__',
  'ключ',
] as const

/** Numbers that are equal or nearly so in ways that databases get wrong. */
export function numbers(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constantFrom(0, 1, -1, 2, 1.5, 0.1, 0.30000000000000004, 1e21, 5e-324, 2 ** 53, 2 ** 53 - 1, 2 ** 63, -0),
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
}

export function scalars(): fc.Arbitrary<string | number | boolean> {
  return fc.oneof(texts(12), numbers(), fc.boolean())
}

export function metadata(): fc.Arbitrary<JsonObject> {
  const { object } = fc.letrec<{ value: Json; object: JsonObject }>(tie => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(scalars(), fc.integer({ min: -3, max: 3 }), fc.constantFrom('fox', 'a', true, null)),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(fc.constantFrom(...METADATA_KEYS), tie('value')), { maxLength: 5 })
      // Object.fromEntries makes `__proto__` an ordinary key.
      .map(pairs => Object.fromEntries(pairs)),
  }))
  return object
}

/** Instants close together, so that orders meet ties. */
export function instants(): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(-1, 1_700_000_000_000, 8.64e15))
}

export const IDS: readonly string[] = ['one', 'two', 'three', 'Ω', '🦊', '\uffee']
export const COLLECTIONS: readonly string[] = ['notes', 'code', 'Notes', '']
export const KINDS: readonly string[] = ['note', 'document', 'memory']
export const TAGS: readonly string[] = ['fox', 'Fox', 'ünïcode', 'x']

function entryDrafts(): fc.Arbitrary<EntryDraft> {
  return fc.record({
    id: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...IDS) },
      { weight: 1, arbitrary: texts(12).filter(text => text.length > 0) },
    ),
    collection: fc.constantFrom(...COLLECTIONS),
    kind: fc.constantFrom(...KINDS),
    title: texts(20),
    content: fc.array(texts(30), { maxLength: 4 }).map(parts => parts.join('\n')),
    tags: fc.array(fc.oneof(fc.constantFrom(...TAGS), texts(8)), { maxLength: 4 }),
    metadata: metadata(),
    audience: audiences(),
    origin: fc.option(texts(12)),
    createdAt: instants(),
    updatedAt: instants(),
    validFrom: fc.option(instants()),
    validUntil: fc.option(instants()),
    knownAt: instants(),
  })
}

/** An entry cut into up to five chunks that cover its content. */
export function givenEntries(): fc.Arbitrary<GivenEntry> {
  return fc
    .tuple(entryDrafts(), fc.array(fc.nat(), { maxLength: 4 }), fc.array(texts(6), { maxLength: 2 }), fc.boolean())
    .map(([draft, cuts, headings, whole]) => ({
      draft,
      chunks: whole ? cutAt(draft.content, [], headings) : cutAt(draft.content, cuts, headings),
    }))
}

/** Chunks between the given places, which may come in any order and are taken modulo the length. */
function cutAt(content: string, cuts: readonly number[], headings: readonly string[] = []): ChunkDraft[] {
  const places = [0, ...cuts.map(cut => cut % (content.length + 1)).sort((a, b) => a - b), content.length]
  return places.slice(1).map((end, at) => {
    const start = places[at] as number
    return { start, end, startLine: lineAt(content, start), endLine: lineAt(content, end), headings }
  })
}

function lineAt(content: string, offset: number): number {
  return content.slice(0, offset).split('\n').length
}
