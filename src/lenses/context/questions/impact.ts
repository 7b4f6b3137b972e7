/** `/context/impact`: what changed files, or a diff, touch: the concepts changed, and what depends on them. */
import { z } from 'zod'
import type { LinkIndex } from '../../../index/contract.ts'
import { handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { brief, type Look, look } from '../mind/look.ts'
import { noted, readErrorNotes } from '../read-notes.ts'
import { clamped, concept, conceptRef, id, placeFields, REQUIRED, text, texts, total } from '../schemas.ts'
import { LINKS } from '../tables.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { place } from './named.ts'
import { reach } from './reach.ts'
import { parseDiff } from './unified-diff.ts'

/** Along these, a change may be felt; being held by something is no dependence. */
const FELT: ReadonlySet<string> = new Set('CALLS USES EXTENDS IMPLEMENTS DEPENDS_ON LINKS_TO MENTIONS'.split(' '))
const MOST = 1000

/** Ranges null: the whole file. */
interface Change {
  readonly url: string
  readonly ranges: readonly (readonly [number, number])[] | null
}

const dependant = z.lazy(() =>
  z.strictObject({
    ...conceptRef,
    hops: id.describe('Links in a row from the change, from 1'),
    via: id.describe('Number of the concept that it depends on'),
    relation: z.string().describe('Kind of that link, such as CALLS'),
    ...placeFields,
  }),
)

export const IMPACT_HANDLER = handler({
  path: '/context/impact',
  summary: 'Tell what changed files or a diff touch: concepts, what depends on them, and files',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z
      .object({
        paths: texts.describe('Changed files, from the folder of the store; this or diff is required'),
        diff: text.nullish().describe('A unified diff against what is indexed; this or paths is required'),
        depth: clamped('Links in a row from a change to what depends on it', 2, 1, 5),
        limit: clamped('Most dependants', 100, 1, MOST),
      })
      .refine(({ paths, diff }) => (paths ?? []).length > 0 || (diff ?? null) !== null, {
        ...REQUIRED,
        path: ['paths'],
        error: 'or diff is required',
      })
      .meta({ anyOf: [{ required: ['paths'] }, { required: ['diff'] }], examples: [{ paths: ['src/login.ts'] }] }),
  result: () =>
    z.strictObject({
      changed: z.array(concept.extend(placeFields)).describe('Concepts that the change touches, by id'),
      dependants: z.array(dependant).describe('What depends on them, nearest first'),
      total: total.describe('Dependants there are'),
      files: z.array(z.string()).describe('URLs of other files with dependants'),
      not_indexed: z.array(z.string()).describe('URLs of changed files that have no concepts'),
    }),
  run(call, { paths, diff, depth, limit }) {
    const workspace = mustHaveWorkspace(call)
    const changes: Change[] = [
      ...(paths ?? []).map(path => ({ url: workspace.urlOf(path), ranges: null })),
      ...parseDiff(diff ?? '').map(({ path, ranges }) => ({ url: workspace.urlOf(path), ranges })),
    ]
    const seen = look(call)
    const changed = changedConcepts(seen, changes)
    const known = new Set(seen.concepts.all.map(({ url }) => url))
    const unknown = changes.filter(({ url }) => !known.has(url))
    const links = call.host.index(LINKS.name) as LinkIndex
    const reached = reach(seen, links, changed, { depth, relations: FELT })
    const files = new Set(reached.flatMap(({ concept }) => concept.url ?? []))
    for (const { url } of changes) files.delete(url)
    const shown = reached.slice(0, limit)
    const notes = readErrorNotes(
      call,
      seen,
      [...changes, ...shown.map(({ concept }) => concept)].map(({ url }) => url),
    )
    return {
      ...noted(notes),
      result: {
        changed: changed.map(each => ({ ...brief(each), ...place(each) })),
        dependants: shown.map(({ concept, hops, via, relation }) => ({
          ...brief(concept),
          hops,
          via,
          relation,
          ...place(concept),
        })),
        total: reached.length,
        files: [...files].sort(),
        not_indexed: [...new Set(unknown.map(({ url }) => url))],
      },
    }
  },
})

/** By id. Of lines, the innermost concepts that hold them; the file's own where none does. */
function changedConcepts({ concepts }: Look, changes: readonly Change[]): readonly Concept[] {
  const changesOf = Map.groupBy(changes, ({ url }) => url)
  const there = concepts.all.filter(({ url }) => url !== null && changesOf.has(url))
  const found = new Set<Concept>()
  for (const [url, held] of Map.groupBy(there, concept => concept.url as string)) {
    for (const { ranges } of changesOf.get(url) ?? []) {
      const touched = ranges === null ? held : ranges.flatMap(range => touchedBy(held, range))
      for (const concept of touched) found.add(concept)
    }
  }
  return [...found].sort((a, b) => a.id - b.id)
}

/** What holds none of its concepts, as the end of the file, is the file's own. */
function touchedBy(held: readonly Concept[], [start, end]: readonly [number, number]): readonly Concept[] {
  const inner = innermost(held, start, end)
  return inner.length > 0 ? inner : held.slice(0, 1)
}

function innermost(concepts: readonly Concept[], start: number, end: number): readonly Concept[] {
  const touched = concepts.filter(({ startLine, endLine }) => (startLine ?? 0) <= end && (endLine ?? -1) >= start)
  return touched.filter(
    outer => !touched.some(inner => inner !== outer && isWithin(inner, outer) && linesOf(inner) < linesOf(outer)),
  )
}

function isWithin(inner: Concept, outer: Concept): boolean {
  return (inner.startLine ?? 0) >= (outer.startLine ?? 0) && (inner.endLine ?? 0) <= (outer.endLine ?? 0)
}

function linesOf({ startLine, endLine }: Concept): number {
  return (endLine ?? 0) - (startLine ?? 0)
}
