/** `/context/impact`: what changed files, or a unified diff as `git diff` writes it, touch: the concepts changed, and what depends on them. */
import { z } from 'zod'
import { handler, type Look, linksOf, look, noted, placed, readErrorNotes, requireWorkspace } from '../call.ts'
import { clamped, id, placedConcept, REQUIRED, text, texts, total } from '../envelope.ts'
import { reach, usersBy } from '../reach.ts'
import { type Concept, innermost } from '../state.ts'

interface DiffFile {
  /** After the change; of a deleted or moved file, before it. Without the prefixes `a/` and `b/`. */
  readonly path: string
  /**
   * Of the text before the change, from 1, both included: that is what is indexed. What is put between lines 2 and 3
   * stands at 2.5. Null: the whole file, as it is moved or deleted.
   */
  readonly ranges: readonly (readonly [start: number, end: number])[] | null
}

interface OpenFile {
  path: string
  isWhole: boolean
  readonly ranges: [number, number][]
}

export function parseDiff(diff: string): readonly DiffFile[] {
  const reader = new DiffReader()
  for (const line of diff.split(/\r?\n/)) reader.read(line)
  return reader.finish()
}

class DiffReader {
  readonly #files: OpenFile[] = []
  /** Name of the file before the change, and (null: none) its old name where it was moved; of the head being read. */
  #before = ''
  #moved: string | null = null
  /** Next line of the old text, and lines of the old and the new one yet to come; of the hunk being read. */
  #line = 0
  #oldLeft = 0
  #newLeft = 0

  read(line: string): void {
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#readChange(line)
    else if (!this.#opensHunk(line)) this.#readHead(line)
  }

  finish(): readonly DiffFile[] {
    return this.#files.map(({ path, isWhole, ranges }) => ({ path, ranges: isWhole ? null : joined(ranges) }))
  }

  #readHead(line: string): void {
    if (line.startsWith('diff ')) this.#moved = null
    const from = /^rename from (.+)$/.exec(line)?.[1]
    if (from !== undefined) {
      this.#moved = unquoted(from)
      this.#files.push({ path: this.#moved, isWhole: true, ranges: [] })
    }
    if (line.startsWith('--- ')) this.#before = pathIn(line)
    // Of a moved file, the old name stands for all of it.
    if (line.startsWith('+++ ') && (this.#moved === null || this.#moved !== this.#before)) {
      const after = pathIn(line)
      const isWhole = after === '/dev/null'
      this.#files.push({ path: isWhole ? this.#before : after, isWhole, ranges: [] })
    }
  }

  #opensHunk(line: string): boolean {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (hunk === null) return false
    const [, start = '1', old = '1', added = '1'] = hunk
    this.#oldLeft = Number(old)
    this.#newLeft = Number(added)
    // With no lines of the old text, it names the line after which the new ones come.
    this.#line = this.#oldLeft === 0 ? Number(start) + 1 : Number(start)
    return true
  }

  #readChange(line: string): void {
    const ranges = this.#files.at(-1)?.ranges
    if (line.startsWith('-')) {
      ranges?.push([this.#line, this.#line])
      this.#line++
      this.#oldLeft--
    } else if (line.startsWith('+')) {
      // What stands in the place of deleted lines touches what they touch, and no more.
      if (ranges?.at(-1)?.[1] !== this.#line - 1) ranges?.push([this.#line - 0.5, this.#line - 0.5])
      this.#newLeft--
    } else if (!line.startsWith('\\')) {
      this.#line++
      this.#oldLeft--
      this.#newLeft--
    }
  }
}

function pathIn(line: string): string {
  return unquoted(line.slice(4).split('\t')[0] ?? '').replace(/^[abciow]\//, '')
}

/** Git writes names in quotes that hold signs of its own or bytes beyond ASCII: `"\303\244.ts"`. */
function unquoted(path: string): string {
  if (!/^".*"$/.test(path)) return path
  const bytes = [...path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)].flatMap(([, octal, sign, plain]) =>
    octal === undefined
      ? [...new TextEncoder().encode(plain ?? SIGNS[sign as string] ?? sign)]
      : [Number.parseInt(octal, 8) & 255],
  )
  return new TextDecoder().decode(new Uint8Array(bytes))
}

const SIGNS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

function joined(ranges: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = []
  for (const [start, end] of ranges) {
    const last = all.at(-1)
    if (last !== undefined && start <= last[1] + 1 && Number.isInteger(start) === Number.isInteger(last[1]))
      last[1] = Math.max(last[1], end)
    else all.push([start, end])
  }
  return all
}

/** Along these, a change may be felt; being held by something is no dependence. */
const FELT: ReadonlySet<string> = new Set('CALLS USES EXTENDS IMPLEMENTS DEPENDS_ON LINKS_TO MENTIONS'.split(' '))
const MOST = 1000

/** Ranges null: the whole file. */
interface Change {
  readonly url: string
  readonly ranges: readonly (readonly [number, number])[] | null
}

const dependant = z.lazy(() =>
  placedConcept.extend({
    hops: id.describe('Links in a row from the change, from 1'),
    via: id.describe('Number of the concept that it depends on'),
    relation: z.string().describe('Kind of that link, such as CALLS'),
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
      changed: z.array(placedConcept).describe('Concepts that the change touches, by id'),
      dependants: z.array(dependant).describe('What depends on them, nearest first'),
      total: total.describe('Dependants there are'),
      files: z.array(z.string()).describe('URLs of other files with dependants'),
      not_indexed: z.array(z.string()).describe('URLs of changed files that have no concepts'),
    }),
  run(call, { paths, diff, depth, limit }) {
    const workspace = requireWorkspace(call)
    const changes: Change[] = [
      ...(paths ?? []).map(path => ({ url: workspace.urlOf(path), ranges: null })),
      ...parseDiff(diff ?? '').map(({ path, ranges }) => ({ url: workspace.urlOf(path), ranges })),
    ]
    const seen = look(call)
    const changed = changedConcepts(seen, changes)
    const known = new Set(seen.concepts.all.map(({ url }) => url))
    const unknown = changes.filter(({ url }) => !known.has(url))
    const reached = [...reach(changed, depth, usersBy(seen, linksOf(call), FELT))]
    const files = new Set(reached.flatMap(({ concept }) => concept.url ?? []))
    for (const { url } of changes) files.delete(url)
    const shown = reached.slice(0, limit)
    return {
      ...noted(readErrorNotes(call, seen, [...changes, ...shown.map(({ concept }) => concept)])),
      result: {
        changed: changed.map(placed),
        dependants: shown.map(({ concept, hops, from, relation }) => ({
          ...placed(concept),
          hops,
          via: from.id,
          relation,
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
