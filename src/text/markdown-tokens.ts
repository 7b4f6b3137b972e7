/** The tokens of Markdown, those within lines among them, as `markdown-it` gives them. It is loaded when the first text comes. */
import { createRequire } from 'node:module'
import type { Env, MarkdownIt, Token } from 'markdown-it'
import { lineEnds } from './lines.ts'
import { markdownStructure } from './markdown-structure.ts'

export type MarkdownToken = Token

export interface MarkdownTokens {
  /** Blocks in order; those within lines are their `children`. A line counts from 0. */
  readonly tokens: readonly Token[]
  /** Address of the definition that the label names; undefined: there is none. */
  addressOf(label: string): string | undefined
}

/** UTF-16 units parsed at once, and as many more as the next heading is away: a long text costs several times as much in one piece. */
const PIECE = 1 << 18
const DEFINITIONS = /^ {0,3}\[[^\]\n]{1,300}\]:.*$/gm

let parser: MarkdownIt | null = null

/** @example markdownTokens('[a](b.md)').tokens[1]?.children?.[0]?.attrGet('href') // 'b.md' */
export function markdownTokens(markdown: string): MarkdownTokens {
  if (parser === null) {
    const markdownIt = createRequire(import.meta.url)('markdown-it') as new (options: { html: boolean }) => MarkdownIt
    parser = new markdownIt({ html: true })
  }
  const { normalizeReference } = parser.utils
  const env: Env = {}
  const tokens: Token[] = []
  const cuts = cutsOf(markdown)
  // A definition may stand in a later piece than its use.
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

/** Where pieces end: in front of headings, and at the end. */
function cutsOf(markdown: string): readonly number[] {
  const cuts: number[] = []
  for (const { start } of markdown.length > PIECE ? markdownStructure(markdown).headings : []) {
    if (start - (cuts.at(-1) ?? 0) > PIECE) cuts.push(start)
  }
  return [...cuts, markdown.length]
}
