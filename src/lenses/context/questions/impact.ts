/** `/context/impact`: what changed files, or a diff, touch: the concepts changed, and what depends on them. */
import type { LinkIndex } from '../../../index/contract.ts'
import type { Handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { brief, type Look, look } from '../mind/look.ts'
import type { ParamReader } from '../params.ts'
import { readParams } from '../read-params.ts'
import { NUMBER, TEXT } from '../schemas.ts'
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

export const IMPACT_HANDLER: Handler = {
  path: '/context/impact',
  summary: 'Tell what changed files or a diff touch: concepts, what depends on them, and files',
  effect: 'read',
  params: {
    paths: { type: 'array', items: TEXT, description: 'Changed files' },
    diff: { ...TEXT, description: 'A unified diff against what is indexed' },
    depth: { ...NUMBER, description: 'Links in a row, 1 to 5; default 2' },
    limit: { ...NUMBER, description: 'Dependants told; default 100' },
  },
  run(call, params) {
    const { paths, diff, depth, limit } = readParams(call, ['mind'], params, readAsked)
    const workspace = mustHaveWorkspace(call)
    const changes: Change[] = [
      ...paths.map(path => ({ url: workspace.urlOf(path), ranges: null })),
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
    return {
      result: {
        changed: changed.map(concept => ({ ...brief(concept), ...place(concept) })),
        dependants: reached
          .slice(0, limit)
          .map(({ concept, hops, via, relation }) => ({ ...brief(concept), hops, via, relation, ...place(concept) })),
        total: reached.length,
        files: [...files].sort(),
        not_indexed: [...new Set(unknown.map(({ url }) => url))],
      },
    }
  },
}

function readAsked(reader: ParamReader): {
  readonly paths: readonly string[]
  readonly diff: string | null
  readonly depth: number
  readonly limit: number
} {
  const paths = reader.texts('paths')
  const diff = reader.optionalText('diff')
  const depth = reader.clamped('depth', 2, 1, 5)
  const limit = reader.clamped('limit', 100, 1, MOST)
  if (paths.length === 0 && diff === null) reader.fail('paths', 'required', 'paths or diff is required', null)
  return { paths, diff, depth, limit }
}

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
