/** The tokens of Markdown, those within lines among them, as `markdown-it` gives them. It is loaded when the first text comes. */
import { createRequire } from 'node:module'
import type { Env, MarkdownIt, Token } from 'markdown-it'

export type MarkdownToken = Token

export interface MarkdownTokens {
  /** Blocks in order; those within lines are their `children`. A line counts from 0. */
  readonly tokens: readonly Token[]
  /** Address of the definition that the label names; undefined: there is none. */
  addressOf(label: string): string | undefined
}

let parser: MarkdownIt | null = null

/** @example markdownTokens('[a](b.md)').tokens[1]?.children?.[0]?.attrGet('href') // 'b.md' */
export function markdownTokens(markdown: string): MarkdownTokens {
  if (parser === null) {
    const markdownIt = createRequire(import.meta.url)('markdown-it') as new (options: { html: boolean }) => MarkdownIt
    parser = new markdownIt({ html: true })
  }
  const { normalizeReference } = parser.utils
  const env: Env = {}
  const tokens = parser.parse(markdown, env)
  return { tokens, addressOf: label => env.references?.[normalizeReference(label)]?.href }
}
