/** `/context/definition`, `/context/references` and `/context/callers`: where a name is, and who uses it. */
import { z } from 'zod'
import type { EntryKey } from '../../../model/entry.ts'
import { LineStarts } from '../../../text/lines.ts'
import { type Call, handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { brief, type Look } from '../mind/look.ts'
import { textsOf } from '../query/previews.ts'
import { languageNotes, noted, readErrorNotes } from '../read-notes.ts'
import { clamped, concept, id, placeFields, text, total } from '../schemas.ts'
import { CONCEPTS } from '../tables.ts'
import { findNamed, namedAnd, place } from './named.ts'
import { reach } from './reach.ts'

const MOST = 1000

const placed = z.lazy(() => concept.extend(placeFields))
const of = z.lazy(() => z.array(concept).describe('Concepts that have the name, the best match first'))

const definition = handler({
  path: '/context/definition',
  summary: 'Show where a name is defined: place, signature, documentation and text',
  effect: 'read',
  needs: ['mind'],
  params: () => namedAnd({ limit: clamped('Most definitions', 10, 1, MOST) }),
  result: () =>
    z.strictObject({
      definitions: z
        .array(
          placed.unwrap().extend({
            signature: z.string().nullable().describe('One line that declares it; null: none'),
            doc: z.string().nullable().describe('Its doc comment; null: none'),
            text: z.string().nullable().describe('Its lines; null: its file is not indexed'),
          }),
        )
        .describe('The best match first'),
      total: total.describe('Concepts of that name'),
    }),
  async run(call, { limit, ...named }) {
    const { seen, concepts } = findNamed(call, named)
    const shown = concepts.slice(0, limit)
    const entries = shown.map(({ entry }) => entry)
    const rows = call.host.store.table(CONCEPTS).scan({}, { entries, columns: ['entry', 'signature', 'doc'] })
    const told = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
    const texts = await textsOf(call, seen, [...new Set(shown.flatMap(({ url }) => url ?? []))])
    const definitions = shown.map(concept => {
      const { url, startLine, endLine } = concept
      const text = url === null || startLine === null ? undefined : texts.get(url)
      return {
        ...brief(concept),
        ...place(concept),
        signature: (told.get(concept.entry)?.['signature'] ?? null) as string | null,
        doc: (told.get(concept.entry)?.['doc'] ?? null) as string | null,
        text: text === undefined ? null : new LineStarts(text).between(startLine ?? 1, endLine ?? 1),
      }
    })
    const notes = readErrorNotes(
      call,
      seen,
      shown.map(({ url }) => url),
    )
    return { result: { definitions, total: concepts.length }, ...noted(notes) }
  },
})

const references = handler({
  path: '/context/references',
  summary: 'List what refers to a concept, and how',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    namedAnd({
      relation: text.nullish().describe('Only links of exactly this kind, such as CALLS. Default: all kinds'),
      limit: clamped('Most references', 100, 1, MOST),
    }),
  result: () =>
    z.strictObject({
      of,
      references: z
        .array(
          placed.unwrap().extend({
            relation: z.string().describe('Kind of the link, such as CALLS'),
            of: id.describe('Number of the concept it refers to'),
          }),
        )
        .describe('Concepts that refer to it'),
      total: total.describe('References there are'),
    }),
  run(call, { relation: wanted = null, limit, ...named }) {
    const { seen, links, concepts } = findNamed(call, named)
    const scope = { partitions: seen.sight.partitions }
    const found = concepts.flatMap(of =>
      links.in(of.id, scope).flatMap(({ node, relation: number }) => {
        const relation = links.relationName(number)
        const concept = seen.concepts.byId(node)
        if (concept === undefined || !(wanted === null || wanted === relation)) return []
        return [{ ...brief(concept), relation, of: of.id, ...place(concept) }]
      }),
    )
    const references = found.slice(0, limit)
    const result = { of: concepts.map(brief), references, total: found.length }
    return { result, ...notedOn(call, seen, concepts, references) }
  },
})

const callers = handler({
  path: '/context/callers',
  summary: 'List what calls a function, directly or through others',
  effect: 'read',
  needs: ['mind'],
  params: () => namedAnd({ depth: clamped('Calls in a row', 1, 1, 5), limit: clamped('Most callers', 100, 1, MOST) }),
  result: () =>
    z.strictObject({
      of,
      callers: z
        .array(
          placed.unwrap().extend({
            hops: id.describe('Calls in a row to the function, from 1'),
            via: id.describe('Number of the concept that it calls on the way'),
          }),
        )
        .describe('Nearest first'),
      total: total.describe('Callers there are'),
    }),
  run(call, { depth, limit, ...named }) {
    const { seen, links, concepts } = findNamed(call, named)
    const found = reach(seen, links, concepts, { depth, relations: new Set(['CALLS']) })
    const told = found.map(({ concept, hops, via }) => ({ ...brief(concept), hops, via, ...place(concept) }))
    const callers = told.slice(0, limit)
    const result = { of: concepts.map(brief), callers, total: told.length }
    return { result, ...notedOn(call, seen, concepts, callers) }
  },
})

/** What to know of the files of the concepts and of what refers to them. */
function notedOn(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  shown: readonly { readonly url: string | null }[],
): ReturnType<typeof noted> {
  return noted(
    languageNotes(concepts.map(({ url }) => url)),
    readErrorNotes(
      call,
      seen,
      [...concepts, ...shown].map(({ url }) => url),
    ),
  )
}

export const SYMBOL_HANDLERS = [definition, references, callers] as const
