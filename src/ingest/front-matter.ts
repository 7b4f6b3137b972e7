/** The block of YAML between two lines of `---` at the top of a Markdown file. */
import { parseDocument } from 'yaml'
import { isRecord } from '../base/record.ts'
import { hasStorableTexts } from '../base/storable.ts'

export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>
  /** Where the text behind it begins. */
  readonly end: number
  /** Null, or why its fields are not what YAML would say. */
  readonly problem: string | null
}

/** A longer block is taken for text. */
const MAX_LENGTH = 64 * 1024
const UNKEPT = 'front matter: it holds NUL or half a surrogate pair, which cannot be kept'
const NONE: FrontMatter = { fields: {}, end: 0, problem: null }

/** What YAML refuses is read line by line, with a problem that says so (QE-010). */
export function readFrontMatter(text: string): FrontMatter {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0]
  if (opening === undefined) return NONE
  const block = text.slice(0, MAX_LENGTH)
  const closing = /^(---|\.\.\.)[ \t]*(\r?\n|$)/gm
  closing.lastIndex = opening.length
  const match = closing.exec(block)
  if (match === null) return NONE
  return { ...parse(block.slice(opening.length, match.index)), end: match.index + match[0].length }
}

function parse(yaml: string): Omit<FrontMatter, 'end'> {
  const read = readYaml(yaml)
  if (!('refused' in read)) return { fields: read.fields, problem: null }
  const fields = readLines(yaml)
  if (read.refused === UNKEPT || !hasStorableTexts(fields)) return { fields: {}, problem: UNKEPT }
  const how = Object.keys(fields).length === 0 ? 'no field was read' : 'read line by line'
  return { fields, problem: `front matter: ${how}: ${read.refused}` }
}

function readYaml(yaml: string): { readonly fields: FrontMatter['fields'] } | { readonly refused: string } {
  try {
    const document = parseDocument(yaml, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return { refused: error.message }
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    if (value === null || value === undefined) return { fields: {} }
    if (!hasStorableTexts(value)) return { refused: UNKEPT }
    return isRecord(value) ? { fields: { ...value } } : { refused: 'expected fields such as `title: …`' }
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

/** `key: rest`, and `- item` below a key without a rest. Of a key that comes twice the last counts, as in YAML here. */
function readLines(yaml: string): Readonly<Record<string, unknown>> {
  const fields = new Map<string, string | string[]>()
  let list: string[] | null = null
  for (const line of yaml.split(/\r?\n/)) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1]
    if (item !== undefined) {
      list?.push(unquoted(item))
      continue
    }
    const [, key, rest = ''] = /^([^\s:#][^:]{0,99}):(?:\s+(.*))?$/.exec(line) ?? []
    if (key === undefined) continue
    list = rest.trim() === '' ? [] : null
    fields.set(key.trim(), list ?? unquoted(rest))
  }
  return Object.fromEntries([...fields].filter(([, value]) => value.length > 0))
}

function unquoted(value: string): string {
  const text = value.trim()
  return /^(["']).*\1$/s.exec(text) !== null || /^\[.*\]?$/s.test(text) ? text.slice(1).replace(/["'\]]$/, '') : text
}
