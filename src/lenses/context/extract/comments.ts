/** Comments: what they say without their marks, which one documents a declaration, and notes to come back to. */
import type { Draft } from './draft.ts'
import { NONE, type Node, type SyntaxTree } from './syntax-tree.ts'

/** The word, whom or what it is for (`TODO(ann)`, `FIXME[#12]`), and the rest of the line. */
const NOTE = /(?:^|[^\p{L}\p{N}_])(TODO|FIXME|HACK|WARNING)(?![\p{L}\p{N}_])(\([^()]{0,60}\)|\[[^[\]]{0,60}\])?(.*)/u
const MAX_NOTE = 120
/** A note behind this many characters of a line is not looked for. */
const MAX_LINE = 2_000

export function isComment(kind: string): boolean {
  return kind === 'comment' || kind === 'line_comment' || kind === 'block_comment'
}

/** What the comments right in front of the declaration say: those with no empty line and no code between. */
export function docBefore(tree: SyntaxTree, declaration: Node): string {
  const parts: string[] = []
  let below = declaration
  for (let at = tree.before(declaration); at !== NONE && isComment(tree.kind(at)); at = tree.before(at)) {
    const between = tree.text.slice(tree.end(at), tree.start(below))
    if (between.trim() !== '' || lineFeeds(between) > allowedFeeds(tree.textOf(at))) break
    if (sharesLine(tree, at)) break
    parts.unshift(plainComment(tree.textOf(at)))
    below = at
    if (parts.length === 40) break
  }
  return parts.join('\n').trim()
}

/** Without slashes, block marks, number signs and the stars in front of its lines. */
function plainComment(comment: string): string {
  const body = comment.startsWith('/*') ? comment.slice(2).replace(/\*\/$/, '') : comment
  return body
    .split('\n')
    .map(line => line.replace(/^\s*(?:\*+(?!\/) ?|\/\/[/!]* ?|#+!? ?)?/, '').trimEnd())
    .join('\n')
    .trim()
}

/** Concepts of the notes in a comment, contained in what encloses it. */
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

/** A comment behind code on its line speaks of that code. */
function sharesLine(tree: SyntaxTree, comment: Node): boolean {
  const elder = tree.before(comment)
  return (
    elder !== NONE &&
    !tree.text.slice(tree.end(elder), tree.start(comment)).includes('\n') &&
    !tree.textOf(elder).endsWith('\n')
  )
}

/** A comment made for documentation may have an empty line behind it. */
function allowedFeeds(comment: string): number {
  return comment.startsWith('/**') ? 2 : comment.endsWith('\n') ? 0 : 1
}

function lineFeeds(text: string): number {
  return text.split('\n').length - 1
}
