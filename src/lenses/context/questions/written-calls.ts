/**
 * Calls of a name that no link resolves, found in the texts (CX-076): a list of callers is complete only with them, and an empty
 * one then means that nothing is written either.
 */
import { z } from 'zod'
import { compareText } from '../../../base/compare.ts'
import type { Steps } from '../../../base/turns.ts'
import type { LinkIndex, WordIndex } from '../../../index/contract.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import { brief, type Call, type Look } from '../call.ts'
import { grammarOf, languageOf } from '../extract/concept.ts'
import { concept, total } from '../schemas.ts'
import type { Concept } from '../state.ts'

export const unresolvedCalls = z.lazy(() =>
  z.strictObject({
    places: z
      .array(
        concept.extend({
          url: z.string().describe('URL of the file'),
          line: z.int().min(1).describe('Line of the call, from 1'),
          text: z.string().describe('The line, without the blanks around it'),
        }),
      )
      .describe(
        'Where the name is written as a call and it is not known what is called, with the concept it is written in',
      ),
    total: total.describe('Such places there are'),
  }),
)
type Unresolved = z.infer<typeof unresolvedCalls>
type Place = Unresolved['places'][number]

/** What can be called. */
const CALLED: ReadonlySet<string> = new Set(['Function', 'Method', 'Class', 'Constant', 'Interface', 'TypeAlias'])
const READ_AT_ONCE = 20
const MOST_TEXT = 200

/**
 * A place within a concept that has a link to a concept of this name counts as resolved. Comments over whole lines and declarations are no
 * calls. Costs the reading of each visible file of code that holds the name.
 */
export async function callsUnresolved(
  call: Call,
  seen: Look,
  links: LinkIndex,
  concepts: readonly Concept[],
  limit: number,
): Promise<Unresolved> {
  const names = new Set(concepts.filter(({ type }) => CALLED.has(type)).map(lastName))
  if (names.size === 0) return { places: [], total: 0 }
  await call.host.ready?.(['words'], call.signal)
  const places = await turnsUntil(call.signal).run(search(call, seen, links, names))
  places.sort((a, b) => compareText(a.url, b.url) || a.line - b.line)
  return { places: places.slice(0, limit), total: places.length }
}

function* search({ host, state }: Call, seen: Look, links: LinkIndex, names: ReadonlySet<string>): Steps<Place[]> {
  const { partitions } = seen.sight
  const code = state.files.visible(partitions).all.filter(({ url }) => grammarOf(languageOf(url)) !== null)
  const words = host.index('words') as WordIndex
  const terms = [...names].map(text => ({ text, boost: 1 }))
  const hits = words.search({ terms, k: code.length, partitions, allow: entrySet(code) })
  const urls = new Map(code.map(({ entry, url }) => [entry, url]))
  const isResolved = resolvedWithin(seen, links, names)
  const places: Place[] = []
  for (let at = 0; at < hits.length; at += READ_AT_ONCE) {
    const entries = hits.slice(at, at + READ_AT_ONCE).map(({ entry }) => entry)
    const texts = host.store.entries(entries).map(({ key, content }) => ({ url: urls.get(key) ?? '', content }))
    for (const { url, content } of texts) {
      const calls = callsIn(content, names)
      if (calls.length === 0) continue
      const inFile = seen.concepts.all.filter(one => one.url === url)
      for (const { name, line, text } of calls) {
        const around = innermost(inFile, line)
        if (around === null || isDeclaration(around, name, line, text) || isResolved(around)) continue
        places.push({ ...brief(around), url, line, text: text.slice(0, MOST_TEXT) })
      }
    }
    yield
  }
  return places
}

/** Whether a concept has a link to one of these names. */
function resolvedWithin(
  { concepts, sight }: Look,
  links: LinkIndex,
  names: ReadonlySet<string>,
): (concept: Concept) => boolean {
  const known = new Map<number, boolean>()
  const find = ({ id }: Concept) =>
    links.out(id, { partitions: sight.partitions }).some(({ node, relation }) => {
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

interface WrittenCall {
  readonly name: string
  /** From 1. */
  readonly line: number
  readonly text: string
}

const COMMENT = /^(?:\/\/|#|\/?\*)/
/** In front of a name that is declared. */
const DECLARES = /\b(?:function\*?|def|fn|func|fun|sub|class|interface|struct|trait)\s+$/
const REGEXP_SIGNS = /[.*+?^${}()|[\]\\]/g

/** One a line and name. Arguments of a type may stand between the name and its bracket. */
function callsIn(text: string, names: ReadonlySet<string>): readonly WrittenCall[] {
  if (![...names].some(name => text.includes(name))) return []
  const alternatives = [...names].map(name => name.replace(REGEXP_SIGNS, '\\$&')).join('|')
  const pattern = new RegExp(`(?<![\\p{ID_Continue}$])(${alternatives})\\s*(?:<[^<>()]{0,200}>)?!?(?:\\?\\.)?\\(`, 'u')
  const calls: WrittenCall[] = []
  for (const [at, whole] of text.split(/\r\n|\r|\n/).entries()) {
    const line = whole.trim()
    const found = pattern.exec(line)
    if (found === null || COMMENT.test(line)) continue
    const before = line.slice(0, found.index)
    if (DECLARES.test(before) || /\/\/|\s#\s/.test(before)) continue
    calls.push({ name: found[1] as string, line: at + 1, text: line })
  }
  return calls
}

/** The head of a method, or of an overload; what an interface declares. */
function isDeclaration(around: Concept, name: string, line: number, text: string): boolean {
  if (/^(?:Interface|TypeAlias)$/.test(around.type)) return true
  if (lastName(around) !== name) return false
  return (
    line === around.startLine || !/[.=]|\b(?:return|await|new|yield|throw)\b/.test(text.slice(0, text.indexOf(name)))
  )
}

/** The smallest one that holds the line; a file is a concept too. */
function innermost(concepts: readonly Concept[], line: number): Concept | null {
  let best: Concept | null = null
  for (const one of concepts) {
    const { startLine, endLine } = one
    if (startLine === null || endLine === null || line < startLine || line > endLine) continue
    const isSmaller = best === null || endLine - startLine <= (best.endLine as number) - (best.startLine as number)
    if (isSmaller) best = one
  }
  return best
}

/** `next` of `Sub.next`. Modules have paths for names, which nobody calls. */
function lastName({ name, type }: Concept): string {
  return type === 'Module' ? name : name.slice(name.lastIndexOf('.') + 1)
}
