/** Builds the extraction of a file: gives concepts their keys, counts lines, and keeps each reference once. */
import { sha256 } from '../../../base/canonical.ts'
import { LineStarts } from '../../../text/lines.ts'
import {
  type ConceptType,
  type Extraction,
  type FileReference,
  isUndeclared,
  type Language,
  MAX_NAME,
  type ModuleSettings,
  type ReadConcept,
  type Reference,
  type Relation,
  type Shape,
  WEIGHTS,
} from './concept.ts'

const MAX_SIGNATURE = 300
const MAX_DOC = 2_000
/**
 * Blanks, comments and semicolons, which may separate two parts of one concept. The alternatives of the pattern never overlap, so matching
 * takes linear time.
 */
const BETWEEN = /^(?:[\s;]|(?:\/\/|#)[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/
const MAX_BETWEEN = 4_000

/** A concept to be added, with its range in the text. */
export interface ConceptSpan {
  readonly type: ConceptType
  readonly name: string
  readonly qualifiedName: string
  /** Start of the concept in the text, in UTF-16 units; `end` is the offset after its last character. */
  readonly start: number
  readonly end: number
  readonly signature?: string | undefined
  readonly doc?: string | undefined
}

/** Error thrown when reading a file takes too long; the file is then skipped with the reason `too_slow`. */
export class Overdue extends Error {}

/** Error thrown when a file declares more than `MAX_CONCEPTS` concepts: it is generated, or made to do harm. The file is then skipped. */
export class TooMany extends Error {}

export const MAX_CONCEPTS = 20_000

export class Draft {
  readonly path: string
  readonly text: string
  readonly language: Language
  readonly exports: Map<string, Reference> = new Map()
  readonly stars: Set<string> = new Set()
  readonly shapes: Map<string, Shape> = new Map()
  readonly anchors: Map<string, string> = new Map()
  settings: ModuleSettings | null = null
  packageName = ''
  hasErrors = false
  readonly #isOverdue: () => boolean
  readonly #lines: LineStarts
  readonly #concepts: ReadConcept[] = []
  readonly #timesUsed = new Map<string, number>()
  readonly #at = new Map<string, { readonly index: number; end: number }>()
  readonly #references = new Map<string, FileReference>()
  #steps = 0

  constructor(path: string, text: string, language: Language, isOverdue: () => boolean) {
    this.path = path
    this.text = text
    this.language = language
    this.#isOverdue = isOverdue
    this.#lines = new LineStarts(text)
  }

  /** Must be called in every loop over the file; at intervals it checks the time, and throws `Overdue` when reading takes too long. */
  step(): void {
    if (++this.#steps % 4096 === 0 && this.#isOverdue()) throw new Overdue()
  }

  /** Key of the concept that represents the file itself; this concept must be added first. */
  get fileKey(): string {
    return (this.#concepts[0] as ReadConcept).key
  }

  /** Adds a concept to the extraction and returns its key. */
  add(concept: ConceptSpan): string {
    if (this.#concepts.length === MAX_CONCEPTS) throw new TooMany()
    const qualifiedName = concept.qualifiedName.slice(0, MAX_NAME)
    const plain = `${concept.type} ${qualifiedName}`
    const times = (this.#timesUsed.get(plain) ?? 0) + 1
    this.#timesUsed.set(plain, times)
    const key = times === 1 ? plain : `${plain}~${times}`
    this.#at.set(key, { index: this.#concepts.length, end: concept.end })
    this.#concepts.push({
      key,
      type: concept.type,
      name: concept.name.slice(0, MAX_NAME),
      qualifiedName,
      startLine: this.#lines.lineOf(concept.start),
      endLine: this.#lines.lineOf(Math.max(concept.start, concept.end - 1)),
      signature: shorten(concept.signature ?? '', MAX_SIGNATURE),
      doc: (concept.doc ?? '').slice(0, MAX_DOC),
    })
    return key
  }

  /**
   * Adds a further part of a concept, such as an overload or a setter. Where the part directly follows the earlier one, the concept's range
   * of lines is extended to include it.
   */
  extend(key: string, start: number, end: number): void {
    const at = this.#at.get(key)
    if (at === undefined || start < at.end || start - at.end > MAX_BETWEEN) return
    if (!BETWEEN.test(this.text.slice(at.end, start))) return
    at.end = end
    const concept = this.#concepts[at.index] as ReadConcept
    this.#concepts[at.index] = { ...concept, endLine: this.#lines.lineOf(Math.max(start, end - 1)) }
  }

  /**
   * Records which concept contains another one. With `parent` null, no concept of the file contains it: it is linked directly to the file.
   */
  place(key: string, parent: string | null): void {
    if (parent === null) this.refer(key, 'DEFINED_IN', { local: this.fileKey })
    else this.refer(parent, 'CONTAINS', { local: key })
  }

  /**
   * Adds a reference from a concept. Of several references with equal source and target, the one with the highest weight is kept; a
   * reference that depends on a name that nothing in the file declares is dropped.
   */
  refer(source: string, relation: Relation, target: Reference, weight: number = WEIGHTS[relation]): void {
    if (!isUndeclared(target) && isUndeclared(rootOf(target))) return
    const id = `${source}\n${relation}\n${JSON.stringify(target)}`
    const known = this.#references.get(id)
    if (known === undefined || known.weight < weight) this.#references.set(id, { source, relation, target, weight })
  }

  finish(): Extraction {
    return {
      path: this.path,
      hash: sha256(this.text),
      concepts: this.#concepts,
      references: [...this.#references.values()],
      surface: {
        language: this.language,
        keys: this.#concepts.map(concept => concept.key),
        exports: Object.fromEntries(this.exports),
        stars: [...this.stars],
        shapes: Object.fromEntries(this.shapes),
        ...(this.packageName === '' ? {} : { package: this.packageName }),
        ...(this.settings === null ? {} : { settings: this.settings }),
        ...(this.anchors.size === 0 ? {} : { anchors: Object.fromEntries(this.anchors) }),
      },
      hasErrors: this.hasErrors,
    }
  }
}

function rootOf(reference: Reference): Reference {
  let at = reference
  while ('of' in at) at = at.of
  return at
}

function shorten(text: string, length: number): string {
  // The text is shortened before blanks in it are replaced, since one declaration may be a megabyte long.
  const line = text
    .slice(0, length * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

/**
 * Pattern of a note in a comment: the word (TODO, FIXME, HACK, WARNING), its addressee or number as in `TODO(ann)` and `FIXME[#12]`, and
 * the rest of the line.
 */
const NOTE = /(?:^|[^\p{L}\p{N}_])(TODO|FIXME|HACK|WARNING)(?![\p{L}\p{N}_])(\([^()]{0,60}\)|\[[^[\]]{0,60}\])?(.*)/u
const MAX_NOTE = 120
/** Number of characters at the start of a comment's line in which notes such as TODO are searched for. */
const MAX_LINE = 2_000

/** Adds a concept for each note (TODO, FIXME, HACK, WARNING) in a comment, contained in the enclosing concept. */
export function addCaveats(draft: Draft, comment: string, start: number, enclosing: string): void {
  let at = start
  for (const line of comment.split('\n')) {
    const [, word, whose = '', rest] = NOTE.exec(line.slice(0, MAX_LINE)) ?? []
    if (word !== undefined) {
      const said = (rest ?? '').replace(/^[\s:\-–]+|(?:\*\/|-->)?\s*$/g, '').trim()
      const name = `${word}${whose}: ${said}`.slice(0, MAX_NOTE).trim().replace(/:$/, '')
      const key = draft.add({ type: 'Caveat', name, qualifiedName: name, start: at, end: at + line.length, doc: said })
      draft.refer(enclosing, 'CONTAINS', { local: key })
    }
    at += line.length + 1
  }
}
