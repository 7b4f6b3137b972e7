/** `/context/definition`, `/context/references` and `/context/callers`: where a name is, by id or as people write it, and who uses it. */
import { z } from 'zod'
import type { LinkIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { LineStarts } from '../../../text/lines.ts'
import { brief, type Call, handler, type Look, look, mustSee } from '../call.ts'
import { refusal } from '../envelope.ts'
import { foldName } from '../names.ts'
import { textsOf } from '../query/previews.ts'
import { languageNotes, noted, readErrorNotes } from '../read-notes.ts'
import { clamped, concept, id, placeFields, REQUIRED, text, total } from '../schemas.ts'
import type { Concept } from '../state.ts'
import { CONCEPTS, LINKS } from '../tables.ts'
import { callsUnresolved, unresolvedCalls } from './written-calls.ts'

/** Parameters that name a concept, and others. */
function namedAnd<Shape extends z.ZodRawShape>(more: Shape) {
  return z
    .object({
      id: id.nullish().describe('Number of a concept; this or name is required'),
      name: z
        .string()
        .nullish()
        .describe('Its name: login, LoginService.login, or the path of a module; this or id is required'),
      ...more,
    })
    .refine(named => isNamed(named as Named), { ...REQUIRED, path: ['name'], error: 'is required' })
    .meta({ anyOf: [{ required: ['id'] }, { required: ['name'] }], examples: [{ name: 'LoginService.login' }] })
}

interface Named {
  readonly id?: number | null | undefined
  readonly name?: string | null | undefined
}

function isNamed({ id, name }: Named): boolean {
  return (id ?? null) !== null || (name ?? '').trim() !== ''
}

interface Asked {
  readonly seen: Look
  readonly links: LinkIndex
  /** Best match first. */
  readonly concepts: readonly Concept[]
}

/** Throws `Refusal` where nothing is named so. */
function findNamed(call: Call, { id, name }: Named): Asked {
  const seen = look(call)
  const links = call.host.index(LINKS.name) as LinkIndex
  if (id !== null && id !== undefined) return { seen, links, concepts: [mustSee(seen, id)] }
  const wanted = (name ?? '').trim()
  const concepts = conceptsNamed(seen, wanted)
  if (concepts.length === 0) throw refusal('name', 'not_found', `there is no concept named ${wanted}`)
  return { seen, links, concepts }
}

/** Whole names before members' names before either in other letters; of those, by id. */
function conceptsNamed({ concepts }: Look, name: string): readonly Concept[] {
  const folded = foldName(name)
  const tests: readonly ((concept: Concept) => boolean)[] = [
    concept => concept.name === name,
    concept => isTail(concept.name, name),
    concept => concept.folded === folded,
    concept => isTail(concept.folded, folded),
  ]
  for (const test of tests) {
    const found = concepts.all.filter(test)
    if (found.length > 0) return found
  }
  return []
}

export function place({ url, startLine, endLine }: Concept): {
  url: string | null
  start_line: number | null
  end_line: number | null
} {
  return { url, start_line: startLine, end_line: endLine }
}

/** `load` of `Store.load`; `store.ts` of `src/store.ts`. */
function isTail(name: string, tail: string): boolean {
  return name.length > tail.length && name.endsWith(tail) && /[./]/.test(name.charAt(name.length - tail.length - 1))
}

interface Reached {
  readonly concept: Concept
  /** Links in a row, from 1. */
  readonly hops: number
  /** Id of what it refers to. */
  readonly via: number
  readonly relation: string
}

/** By hops, then in the order in which they are reached; each once, none of those started from. */
export function reach(
  { concepts, sight }: Look,
  links: LinkIndex,
  from: readonly Concept[],
  { depth, relations }: { readonly depth: number; readonly relations: ReadonlySet<string> },
): readonly Reached[] {
  const scope = { partitions: sight.partitions }
  const known = new Set(from.map(({ id }) => id))
  const found: Reached[] = []
  let edge: readonly Concept[] = from
  for (let hops = 1; hops <= depth && edge.length > 0; hops++) {
    const next: Concept[] = []
    for (const { id: via } of edge) {
      for (const { node, relation: number } of links.in(via, scope)) {
        const concept = concepts.byId(node)
        const relation = links.relationName(number)
        if (concept === undefined || known.has(node) || !relations.has(relation)) continue
        known.add(node)
        found.push({ concept, hops, via, relation })
        next.push(concept)
      }
    }
    edge = next
  }
  return found
}

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
      unresolved: unresolvedCalls.describe('Calls of the name of which it is not known what they call; not in total'),
    }),
  async run(call, { relation: wanted = null, limit, ...named }) {
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
    const isOfCalls = wanted === null || wanted === 'CALLS'
    const unresolved = await callsUnresolved(call, seen, links, isOfCalls ? concepts : [], limit)
    const references = found.slice(0, limit)
    const result = { of: concepts.map(brief), references, total: found.length, unresolved }
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
      unresolved: unresolvedCalls.describe('Calls of the name of which it is not known what they call; not in total'),
    }),
  async run(call, { depth, limit, ...named }) {
    const { seen, links, concepts } = findNamed(call, named)
    const found = reach(seen, links, concepts, { depth, relations: new Set(['CALLS']) })
    const told = found.map(({ concept, hops, via }) => ({ ...brief(concept), hops, via, ...place(concept) }))
    const unresolved = await callsUnresolved(call, seen, links, concepts, limit)
    const callers = told.slice(0, limit)
    const result = { of: concepts.map(brief), callers, total: told.length, unresolved }
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
  const concerned = [...concepts, ...shown]
  return noted(
    languageNotes(concepts.map(({ url }) => url)),
    readErrorNotes(
      call,
      seen,
      concerned.map(({ url }) => url),
    ),
  )
}

export const SYMBOL_HANDLERS = [definition, references, callers] as const
