/** The block of YAML between two lines of `---` at the top of a Markdown file. */
import { parseDocument } from 'yaml'
import { isRecord } from '../base/record.ts'
import { hasStorableTexts } from '../base/storable.ts'

export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>
  /** Where the text behind it begins. */
  readonly end: number
  /** Null, or why it could not be read; the text begins behind it all the same. */
  readonly problem: string | null
}

/** A longer block is taken for text. */
const MAX_LENGTH = 64 * 1024
const UNKEPT = 'front matter: it holds NUL or half a surrogate pair, which cannot be kept'
const NONE: FrontMatter = { fields: {}, end: 0, problem: null }

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
  try {
    const document = parseDocument(yaml, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return { fields: {}, problem: `front matter: ${error.message}` }
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    if (value === null || value === undefined) return { fields: {}, problem: null }
    if (!hasStorableTexts(value)) return { fields: {}, problem: UNKEPT }
    if (isRecord(value)) return { fields: { ...value }, problem: null }
    return { fields: {}, problem: 'front matter: expected fields such as `title: …`' }
  } catch (error) {
    return { fields: {}, problem: `front matter: ${error instanceof Error ? error.message : String(error)}` }
  }
}
