/**
 * The calls `/context/definition`, `/context/references` and `/context/callers`: where a concept is, found by id or by a name as people
 * write it, and which concepts use it.
 */
import { z } from 'zod'
import { compareText } from '../../base/compare.ts'
import { didYouMean, nearNames } from '../../base/near-names.ts'
import type { Steps } from '../../base/turns.ts'
import type { LinkIndex, WordIndex } from '../../index/contract.ts'
import type { EntryKey } from '../../model/entry.ts'
import { entrySet } from '../../pipeline/columns.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { LineStarts } from '../../text/lines.ts'
import {
  brief,
  type Call,
  handler,
  type Look,
  languageNotes,
  linksOf,
  look,
  noted,
  placed,
  readErrorNotes,
  requireVisible,
} from './call.ts'
import { clamped, concept, id, placedConcept, REQUIRED, refusal, text, total } from './envelope.ts'
import { words } from './extract/code-file.ts'
import { grammarOf, languageOf } from './extract/concept.ts'
import { type Grammars, grammarsFor, NONE, type Node, type SyntaxTree } from './extract/grammars.ts'
import { foldName } from './names.ts'
import { textsOf } from './query/pack.ts'
import { type Concept, innermost, type RegisteredFile, reach } from './state.ts'
import { CONCEPTS } from './tables.ts'

/** Schema of the parameters that name a concept by id or name, extended by further parameters of a call. */
function namedAnd<Shape extends z.ZodRawShape>(more: Shape) {
  return z
    .object({
      id: id.nullish().describe('Number of a concept; this or name is required'),
      name: z
        .string()
        .nullish()
        .describe('Name, such as login, LoginService.login, or the path of a module; this or id is required'),
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
  /** The concepts with the requested id or name, best match first. */
  readonly concepts: readonly Concept[]
}

/** Finds the concepts that a call names by id or by name. Throws `Refusal` where there are none. */
function findNamed(call: Call, { id, name }: Named): Asked {
  const seen = look(call)
  const links = linksOf(call)
  if (id !== null && id !== undefined) return { seen, links, concepts: [requireVisible(seen, id)] }
  const wanted = (name ?? '').trim()
  const concepts = conceptsNamed(seen, wanted)
  if (concepts.length === 0) {
    const near = nearNames(wanted, [
      ...new Set(seen.concepts.all.flatMap(({ name }) => [name, name.replace(/.*\./, '')])),
    ])
    throw refusal('name', 'not_found', `there is no concept named ${wanted}${didYouMean(near)}`)
  }
  return { seen, links, concepts }
}

/**
 * Concepts with the name, by the first of four tests that finds any: whole name; last part of a name, such as a member; then both tests
 * without regard to letter case. Ordered by id.
 */
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

/** Whether `tail` is the last part of a name, after a point or slash: `load` for `Store.load`, `store.ts` for `src/store.ts`. */
function isTail(name: string, tail: string): boolean {
  return name.length > tail.length && name.endsWith(tail) && /[./]/.test(name.charAt(name.length - tail.length - 1))
}

const MOST = 1000

const of = z.lazy(() => z.array(concept).describe('Concepts with this name, the best match first'))

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
          placedConcept.extend({
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
    const rowOf = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
    const texts = await textsOf(call, seen, [...new Set(shown.flatMap(({ url }) => url ?? []))])
    const definitions = shown.map(concept => {
      const { url, startLine, endLine } = concept
      const text = url === null || startLine === null ? undefined : texts.get(url)
      return {
        ...placed(concept),
        signature: (rowOf.get(concept.entry)?.['signature'] ?? null) as string | null,
        doc: (rowOf.get(concept.entry)?.['doc'] ?? null) as string | null,
        text: text === undefined ? null : new LineStarts(text).between(startLine ?? 1, endLine ?? 1),
      }
    })
    return { result: { definitions, total: concepts.length }, ...noted(readErrorNotes(call, seen, shown)) }
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
          placedConcept.extend({
            relation: z.string().describe('Kind of the link, such as CALLS'),
            of: id.describe('Number of the concept it refers to'),
          }),
        )
        .describe('Concepts that refer to it'),
      total: total.describe('Number of references'),
      unresolved: unresolvedCalls.describe('Calls of this name whose target is unknown; not in total'),
    }),
  async run(call, { relation: wanted = null, limit, ...named }) {
    const { seen, links, concepts } = findNamed(call, named)
    const scope = { partitions: seen.accessScope.partitions }
    const found = concepts.flatMap(of =>
      links.in(of.id, scope).flatMap(({ node, relation: number }) => {
        const relation = links.relationName(number)
        const concept = seen.concepts.byId(node)
        if (concept === undefined || !(wanted === null || wanted === relation)) return []
        return [{ ...placed(concept), relation, of: of.id }]
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
  params: () =>
    namedAnd({
      depth: clamped('Longest chain of calls to follow', 1, 1, 5),
      limit: clamped('Most callers', 100, 1, MOST),
    }),
  result: () =>
    z.strictObject({
      of,
      callers: z
        .array(
          placedConcept.extend({
            hops: id.describe('Length of the chain of calls to the function, from 1'),
            via: id.describe('Number of the concept that it calls on the way'),
          }),
        )
        .describe('Nearest first'),
      total: total.describe('Number of callers'),
      unresolved: unresolvedCalls.describe('Calls of this name whose target is unknown; not in total'),
    }),
  async run(call, { depth, limit, ...named }) {
    const { seen, links, concepts } = findNamed(call, named)
    const scope = { partitions: seen.accessScope.partitions }
    const callersOf = ({ id }: Concept) =>
      links.in(id, scope).flatMap(({ node, relation }) => {
        const concept = links.relationName(relation) === 'CALLS' ? seen.concepts.byId(node) : undefined
        return concept === undefined ? [] : [{ concept }]
      })
    const found = [...reach(concepts, depth, callersOf)]
    const calling = found.map(({ concept, hops, from }) => ({ ...placed(concept), hops, via: from.id }))
    const unresolved = await callsUnresolved(call, seen, links, concepts, limit)
    const callers = calling.slice(0, limit)
    const result = { of: concepts.map(brief), callers, total: calling.length, unresolved }
    return { result, ...notedOn(call, seen, concepts, callers) }
  },
})

/**
 * Notes for an answer: on the languages of the concepts, and on syntax errors in the files of the concepts and of the places that refer to
 * them.
 */
function notedOn(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  shown: readonly { readonly url: string | null }[],
): ReturnType<typeof noted> {
  return noted(languageNotes(concepts), readErrorNotes(call, seen, [...concepts, ...shown]))
}

export const SYMBOL_HANDLERS = [definition, references, callers] as const

// Finds calls of a name that no stored link resolves, in the texts of files (CX-076). Only with these calls is a list of callers complete,
// and an empty list then means that no text calls the name.

const unresolvedCalls = z.lazy(() =>
  z.strictObject({
    places: z
      .array(
        concept.extend({
          url: z.string().describe('URL of the file'),
          line: z.int().min(1).describe('Line of the call, from 1'),
          text: z.string().describe('The line, without the blanks around it'),
        }),
      )
      .describe('Calls of this name whose target is unknown, with the concept that contains each'),
    total: total.describe('Number of such calls'),
  }),
)
type Unresolved = z.infer<typeof unresolvedCalls>
type Place = Unresolved['places'][number]

/** Types of concepts that code can call; concepts of other types have no callers. */
const CALLED: ReadonlySet<string> = new Set(['Function', 'Method', 'Class', 'Constant', 'Interface', 'TypeAlias'])
const READ_AT_ONCE = 20
const MAX_TEXT = 200

/**
 * Finds calls of the concepts that no stored link resolves. A call within a concept that already has a link to a concept of this name
 * counts as resolved. Cost: reads each visible code file that contains the name, and parses it where its text may contain an unresolved
 * call.
 */
async function callsUnresolved(
  call: Call,
  seen: Look,
  links: LinkIndex,
  concepts: readonly Concept[],
  limit: number,
): Promise<Unresolved> {
  const names = new Set(concepts.filter(({ type }) => CALLED.has(type)).map(lastName))
  if (names.size === 0) return { places: [], total: 0 }
  await call.host.ready?.(['words'], call.signal)
  const { partitions } = seen.accessScope
  const code = call.state.files.visible(partitions).all.filter(({ url }) => grammarOf(languageOf(url)) !== null)
  const grammars = await grammarsFor(code.map(({ url }) => url))
  const places = await turnsUntil(call.signal).run(search(call, seen, links, names, code, grammars))
  places.sort((a, b) => compareText(a.url, b.url) || a.line - b.line)
  return { places: places.slice(0, limit), total: places.length }
}

function* search(
  { host, signal }: Call,
  seen: Look,
  links: LinkIndex,
  names: ReadonlySet<string>,
  code: readonly RegisteredFile[],
  grammars: Grammars,
): Steps<Place[]> {
  const words = host.index('words') as WordIndex
  const terms = [...names].map(text => ({ text, boost: 1 }))
  const { partitions } = seen.accessScope
  const hits = words.search({ terms, k: code.length, partitions, allow: entrySet(code) })
  const urls = new Map(code.map(({ entry, url }) => [entry, url]))
  const conceptsIn = Map.groupBy(seen.concepts.all, ({ url }) => url)
  const isResolved = resolvedWithin(seen, links, names)
  const places: Place[] = []
  for (let at = 0; at < hits.length; at += READ_AT_ONCE) {
    const entries = hits.slice(at, at + READ_AT_ONCE).map(({ entry }) => entry)
    for (const { key, content } of host.store.entries(entries)) {
      const url = urls.get(key) ?? ''
      const lines = new LineStarts(content)
      const possible = possibleCalls(content, names, languageOf(url) === 'ruby').flatMap(written => {
        const line = lines.lineOf(written.at)
        const around = innermost(conceptsIn.get(url) ?? [], line, line).at(-1)
        return around === undefined || isResolved(around) ? [] : [{ ...written, line, around }]
      })
      const grammar = possible.length === 0 ? null : grammarOf(languageOf(url))
      const tree = grammar === null ? null : grammars.parse(grammar, content, () => signal.aborted)
      for (const { line, around, ...written } of possible) {
        if (tree === null || !isCall(tree, written)) continue
        const text = lines.between(line, line).trim().slice(0, MAX_TEXT)
        places.push({ ...brief(around), url, line, text })
      }
      yield
    }
  }
  return places
}

/** Makes a function that tests whether a given concept has a link (CALLS, USES or EXTENDS) to a concept with one of these names. */
function resolvedWithin(
  { concepts, accessScope }: Look,
  links: LinkIndex,
  names: ReadonlySet<string>,
): (concept: Concept) => boolean {
  const known = new Map<number, boolean>()
  const find = ({ id }: Concept) =>
    links.out(id, { partitions: accessScope.partitions }).some(({ node, relation }) => {
      const target = concepts.byId(node)
      const isCall = /^(?:CALLS|USES|EXTENDS)$/.test(links.relationName(relation))
      return target !== undefined && isCall && names.has(lastName(target))
    })
  return concept => {
    const found = known.get(concept.id) ?? find(concept)
    known.set(concept.id, found)
    return found
  }
}

/**
 * The name by which code calls a concept: `next` for `Sub.next`. A module's name is a path, which is never called, so it is returned whole.
 */
function lastName({ name, type }: Concept): string {
  return type === 'Module' ? name : name.slice(name.lastIndexOf('.') + 1)
}

// Finds calls of given names in a text by its syntax tree, in every language that has a grammar; which definition a call refers to is not
// examined.

/** Kinds of syntax-tree nodes that are calls, in all grammars. In Go, a call with type arguments is parsed as a type conversion. */
const CALLS: ReadonlySet<string> = new Set(
  words(`call_expression call invocation_expression function_call_expression member_call_expression
    nullsafe_member_call_expression scoped_call_expression method_invocation object_creation_expression new_expression
    type_conversion_expression macro_invocation`),
)
/**
 * Fields of a call's syntax-tree node that hold the called expression; for `new A` in PHP the expression is the first child, which has no
 * field.
 */
const CALLEES: ReadonlySet<string | null> = new Set(words('function name method type constructor macro'))
/** Fields of a syntax-tree node that hold the last name of a path such as `a.b.c`, or a name that has type arguments. */
const LAST_NAMES: ReadonlySet<string | null> = new Set(words('property attribute field name function type'))
/**
 * Kinds of syntax-tree nodes around a called name (brackets, a path such as `A::b`, type arguments) in which the grammar gives the last
 * name no field by which to find it.
 */
const WRAPPERS =
  /^(?:parenthesized_expression|non_null_expression|(?:generic|qualified)_name|scoped_type_identifier|generic_type|conditional_access_expression)$/
const TYPE_ARGUMENTS = /^(?:type|template)_argument/
/** Kinds of syntax-tree nodes whose content the grammar leaves as text or could not parse. */
const UNREAD = /^(?:token_tree|preproc_arg|)$/
const REGEXP_SIGNS = /[.*+?^${}()|[\]\\]/g

export interface WrittenCall {
  /** Position of the called name in the text, in UTF-16 units. */
  readonly at: number
  readonly name: string
}

/**
 * Places in a text that may be a call of one of the names, found by a pattern alone: all calls, and some places that are none, which the
 * syntax tree must exclude.
 */
export function possibleCalls(text: string, names: ReadonlySet<string>, isRuby: boolean): readonly WrittenCall[] {
  if (![...names].some(name => text.includes(name))) return []
  const alternatives = [...names].map(name => name.replace(REGEXP_SIGNS, '\\$&')).join('|')
  const name = `(?<![\\p{ID_Continue}$])(${alternatives})(?![\\p{ID_Continue}$])`
  const brackets = '(?=(?:(?:::)?[<[][^;]{0,300}?[>\\]])?[)\\s!?.]*[(`])'
  const pattern = isRuby ? name : `(?<=\\bnew\\s+[\\w.:\\\\]{0,200})${name}|${name}${brackets}`
  return [...text.matchAll(new RegExp(pattern, 'gu'))].map(({ index, 1: made, 2: called }) => {
    return { at: index, name: (made ?? called) as string }
  })
}

/**
 * Whether the name at this place of the text is called. In text that the grammar could not parse, a name before an opening bracket counts
 * as called.
 */
export function isCall(tree: SyntaxTree, { at, name }: WrittenCall): boolean {
  const last = tree.lastFrom(at)
  let node = last
  while (node !== NONE && tree.start(node) === at && tree.end(node) !== at + name.length) node--
  if (node !== NONE && tree.start(node) === at && isCalled(tree, node)) return true
  return isUnread(tree, last) && /^\s*\(/.test(tree.source.slice(at + name.length, at + name.length + 100))
}

/** The syntax-tree node of the expression that the given node calls; NONE where the given node is no call. */
export function calleeOf(tree: SyntaxTree, node: Node): Node {
  const kind = tree.kind(node)
  if (!CALLS.has(kind)) return NONE
  for (const child of tree.children(node)) if (CALLEES.has(tree.field(child))) return child
  return kind === 'object_creation_expression' ? tree.inside(node) : NONE
}

function isCalled(tree: SyntaxTree, name: Node): boolean {
  for (let node = atMark(tree, name); ; ) {
    const parent = tree.parent(node)
    if (parent === NONE) return false
    const [kind, field] = [tree.kind(parent), tree.field(node)]
    if (CALLS.has(kind)) return node === calleeOf(tree, parent)
    const isLast = field === null ? WRAPPERS.test(kind) && isLastName(tree, node) : LAST_NAMES.has(field)
    if (!isLast && !(field === 'operand' && kind === 'index_expression')) return false
    node = parent
  }
}

/**
 * Finds the node that is called in `a ?? b.run!()`. The TypeScript grammar parses this as `(a ?? b.run)!`, so where `name` is the last name
 * of an expression before the mark `!`, the node of the whole expression is returned instead of `name`.
 */
function atMark(tree: SyntaxTree, name: Node): Node {
  let node = name
  while (tree.end(tree.parent(node)) === tree.end(name)) node = tree.parent(node)
  return tree.kind(tree.parent(node)) === 'non_null_expression' ? node : name
}

function isLastName(tree: SyntaxTree, node: Node): boolean {
  const parts = tree.parts(tree.parent(node)).filter(part => !TYPE_ARGUMENTS.test(tree.kind(part)))
  return parts.at(-1) === node
}

function isUnread(tree: SyntaxTree, leaf: Node): boolean {
  if (/comment|string/.test(tree.kind(leaf))) return false
  for (let node = leaf; node !== NONE; node = tree.parent(node)) if (UNREAD.test(tree.kind(node))) return true
  return false
}
