/**
 * Parses Markdown to the tokens of the npm package `markdown-it`, including those within lines (links, emphasis). The package is loaded for
 * the first text.
 */
import { createRequire } from 'node:module'
import type { Env, MarkdownIt, Token } from 'markdown-it'
import { lineEnds } from './lines.ts'
import { markdownStructure } from './markdown-structure.ts'

export type MarkdownToken = Token

export interface MarkdownTokens {
  /** Tokens of blocks, in order; tokens within a line are the `children` of a token. Lines are numbered from 0. */
  readonly tokens: readonly Token[]
  /** Address of the link definition with this label in the document; undefined: there is none. */
  addressOf(label: string): string | undefined
}

/**
 * UTF-16 units parsed in one piece, which extends to the next heading: parsing a long text in a single piece takes several times as long.
 */
const PIECE = 1 << 18
const DEFINITIONS = /^ {0,3}\[[^\]\n]{1,300}\]:.*$/gm

let parser: MarkdownIt | null = null

/**
 * Parses Markdown.
 *
 * @example markdownTokens('[a](b.md)').tokens[1]?.children?.[0]?.attrGet('href') // 'b.md'
 */
export function markdownTokens(markdown: string): MarkdownTokens {
  if (parser === null) {
    const markdownIt = createRequire(import.meta.url)('markdown-it') as new (options: { html: boolean }) => MarkdownIt
    parser = new markdownIt({ html: true })
  }
  const { normalizeReference } = parser.utils
  const env: Env = {}
  const tokens: Token[] = []
  const cuts = cutsOf(markdown)
  // Link definitions are read from the whole text first, since a definition may be in a later piece than the link that uses it.
  if (cuts.length > 1) parser.parse((markdown.match(DEFINITIONS) ?? []).join('\n\n'), env)
  let [from, line] = [0, 0]
  for (const to of cuts) {
    for (const token of parser.parse(markdown.slice(from, to), env)) {
      if (token.map !== null) token.map = [token.map[0] + line, token.map[1] + line]
      tokens.push(token)
    }
    line += lineEnds(markdown, from, to)
    from = to
  }
  return { tokens, addressOf: label => env.references?.[normalizeReference(label)]?.href }
}

/** Offsets where the pieces of a long text end: before headings, and at the end of the text. */
function cutsOf(markdown: string): readonly number[] {
  const cuts: number[] = []
  for (const { start } of markdown.length > PIECE ? markdownStructure(markdown).headings : []) {
    if (start - (cuts.at(-1) ?? 0) > PIECE) cuts.push(start)
  }
  return [...cuts, markdown.length]
}
