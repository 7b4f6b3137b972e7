/** Extracts the visible text of an HTML page, with line breaks where a browser would break lines, and the page's headings and blocks. */
import { type DefaultTreeAdapterTypes, Parser } from 'parse5'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { Block } from './blocks.ts'
import type { Heading } from './outline.ts'
import { TextWriter } from './text-writer.ts'

export interface HtmlText {
  readonly text: string
  readonly headings: readonly Heading[]
  /** Blocks of the page that cuts should spare: tables, `<pre>`, list items and quotations. */
  readonly blocks: readonly Block[]
  /** Title of the page (`<title>`). `meta`: contents of its `<meta>` elements by name; `language`: `<html lang>`. */
  readonly title: string
  readonly meta: Readonly<Record<string, string>>
  readonly language: string
}

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

const UNSEEN = new Set(
  'script style noscript template svg math head iframe object audio video canvas select datalist textarea'.split(' '),
)
/** Names of HTML elements that are separated from other text: `BLOCKS` by a blank line before and after, `LINES` only by a line break. */
const BLOCKS = new Set(
  `address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header main nav ol p pre
   section table ul`.split(/\s+/),
)
const LINES = new Set('body caption dd div dt figcaption html legend li option summary tbody tfoot thead tr'.split(' '))

/** An HTML element as shown to the caller's test for elements to leave out. */
export interface HtmlElement {
  readonly tag: string
  /** Value of an attribute; empty where the element lacks it. */
  attribute(name: string): string
}

export interface HtmlOptions {
  /** Test for elements that are left out with everything in them. Default: none. */
  readonly isLeftOut?: ((element: HtmlElement) => boolean) | undefined
  /**
   * Which part of the page to read. `page` (default): the whole page. `main`: its main content, which is its `<main>` (or its articles,
   * where it has none) without navigation, asides and footers; for a page with neither, everything except its navigation; the whole page
   * where nothing would be left.
   */
  readonly part?: 'page' | 'main' | undefined
}

/** The visible text of an HTML page with its structure. Time is linear in the HTML. */
export function htmlText(html: string, options: HtmlOptions = {}): HtmlText {
  return atOnce(htmlTextInSteps(html, options))
}

/**
 * `UNITS_AT_ONCE`: UTF-16 units of HTML parsed, and `NODES_AT_ONCE`: nodes visited, before the work pauses so that other requests can run:
 * some milliseconds.
 */
const UNITS_AT_ONCE = 1 << 15
const NODES_AT_ONCE = 1 << 12

/** Extracts the visible text of an HTML page, pausing during a long page so that other work can run. */
export function* htmlTextInSteps(
  html: string,
  { isLeftOut = () => false, part = 'page' }: HtmlOptions = {},
): Steps<HtmlText> {
  const parser = new Parser<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>()
  for (let at = 0; at < html.length; at += UNITS_AT_ONCE) {
    parser.tokenizer.write(html.slice(at, at + UNITS_AT_ONCE), false)
    yield
  }
  parser.tokenizer.write('', true)
  const page = parser.document
  const isSkipped = (element: Element): boolean =>
    isUnseen(element) || isLeftOut({ tag: element.tagName, attribute: name => attribute(element, name) })
  const head = headOf(page)
  if (part === 'main') {
    const [main, isBeside] = yield* mainOf(page, isSkipped)
    const found = yield* written(main, element => isSkipped(element) || isBeside(element))
    if (found.text !== '') return { ...found, ...head }
  }
  return { ...(yield* written([page], isSkipped)), ...head }
}

function* written(roots: readonly Node[], isSkipped: Test): Steps<ReturnType<TextWriter['finish']>> {
  const writer = new TextWriter()
  const pace = new StepPace(NODES_AT_ONCE)
  for (const root of roots) {
    for (const step of steps(root, isSkipped)) {
      if (pace.isOver(1)) yield
      if (step.leave) leave(step.node as Element, writer)
      else if (isElement(step.node)) enter(step.node, writer)
      else if (step.node.nodeName === '#text') writer.text((step.node as DefaultTreeAdapterTypes.TextNode).value)
    }
  }
  return writer.finish()
}

/** Tags and ARIA roles of elements that do not belong to a page's main content. */
const BESIDE = new Set('nav aside footer'.split(' '))
const ROLES_BESIDE = new Set('navigation complementary contentinfo banner search'.split(' '))

type Test = (element: Element) => boolean

/**
 * Finds the elements that contain a page's main content, and returns them with a test for elements within them that do not belong to it.
 */
function* mainOf(page: Node, isSkipped: Test): Steps<readonly [roots: readonly Node[], isBeside: Test]> {
  const isBeside: Test = element => BESIDE.has(element.tagName) || ROLES_BESIDE.has(attribute(element, 'role'))
  const isMain: Test = element => element.tagName === 'main' || attribute(element, 'role') === 'main'
  const mains = yield* outermost(page, isMain, isSkipped)
  if (mains.length > 0) return [mains, isBeside]
  const articles = yield* outermost(page, element => element.tagName === 'article', isSkipped)
  if (articles.length > 0) return [articles, isBeside]
  return [[page], element => element.tagName === 'nav' || attribute(element, 'role') === 'navigation']
}

/** Elements that pass the test and are not inside another element that passes it. */
function* outermost(page: Node, passes: Test, isSkipped: Test): Steps<readonly Element[]> {
  const found: Element[] = []
  const pace = new StepPace(NODES_AT_ONCE)
  const isInner: Test = element => isSkipped(element) || found.at(-1) === element.parentNode
  for (const { node, leave } of steps(page, isInner)) {
    if (!leave && isElement(node) && passes(node)) found.push(node)
    if (pace.isOver(1)) yield
  }
  return found
}

/**
 * Visits the nodes of a page in order; an element twice, when entering and when leaving it. Uses a stack instead of recursion, since pages
 * may be nested to any depth.
 */
function* steps(
  page: Node,
  isSkipped: (element: Element) => boolean,
): Iterable<{ readonly node: Node; readonly leave: boolean }> {
  const open: { readonly node: Node; readonly leave: boolean }[] = [{ node: page, leave: false }]
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { node } = step
    if (!step.leave && isElement(node) && isSkipped(node)) continue
    yield step
    if (step.leave) continue
    if (isElement(node)) open.push({ node, leave: true })
    const children = 'childNodes' in node ? node.childNodes : []
    for (let at = children.length - 1; at >= 0; at--) open.push({ node: children[at] as Node, leave: false })
  }
}

function enter(element: Element, writer: TextWriter): void {
  const tag = element.tagName
  if (BLOCKS.has(tag)) writer.breakLines(2)
  else if (LINES.has(tag)) writer.breakLines(1)
  if (BROKEN_AT_LINES.has(tag)) writer.beginBlock(tag === 'table' ? tag : tag === 'pre' ? 'verbatim' : 'prose')
  if (tag === 'pre') writer.verbatim++
  if (tag === 'br') writer.newLine()
  if (tag === 'hr') writer.breakLines(2)
  if (tag === 'li') writer.bullet()
  if (headingLevel(tag) > 0) writer.beginHeading()
}

function leave(element: Element, writer: TextWriter): void {
  const tag = element.tagName
  if (tag === 'pre') writer.verbatim--
  if (tag === 'td' || tag === 'th') writer.blank()
  if (headingLevel(tag) > 0) writer.endHeading(headingLevel(tag))
  if (tag === 'thead') writer.endHeader(true)
  if (tag === 'tr' && element.parentNode?.nodeName !== 'thead') writer.endHeader(isRowOfNames(element))
  if (BROKEN_AT_LINES.has(tag)) writer.endBlock()
  if (BLOCKS.has(tag)) writer.breakLines(2)
  else if (LINES.has(tag)) writer.breakLines(1)
}

/** Elements that a chunk contains whole where they fit, and otherwise cuts only at line ends. */
const BROKEN_AT_LINES = new Set('table pre li blockquote'.split(' '))

function isRowOfNames(row: Element): boolean {
  const cells = row.childNodes.filter(isElement)
  return cells.length > 0 && cells.every(({ tagName }) => tagName === 'th')
}

function headingLevel(tag: string): number {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0
}

function isElement(node: Node): node is Element {
  return 'tagName' in node
}

function isUnseen(element: Element): boolean {
  if (UNSEEN.has(element.tagName)) return true
  return element.attrs.some(
    ({ name, value }) =>
      name === 'hidden' ||
      (name === 'style' && value.length < 1000 && /(display:\s*none|visibility:\s*hidden)/i.test(value)),
  )
}

function headOf(page: Node): Pick<HtmlText, 'title' | 'meta' | 'language'> {
  const html = elementIn(page, 'html')
  const head = html === undefined ? undefined : elementIn(html, 'head')
  const meta: [string, string][] = []
  for (const node of head?.childNodes ?? []) {
    if (isElement(node) && node.tagName === 'meta')
      meta.push([attribute(node, 'name').toLowerCase(), attribute(node, 'content')])
  }
  const title = head === undefined ? undefined : elementIn(head, 'title')
  const text = title?.childNodes.map(node => ('value' in node ? node.value : '')).join('') ?? ''
  return { title: text, meta: Object.fromEntries(meta), language: html === undefined ? '' : attribute(html, 'lang') }
}

function elementIn(node: Node, tag: string): Element | undefined {
  const children = 'childNodes' in node ? node.childNodes : []
  return children.filter(isElement).find(child => child.tagName === tag)
}

function attribute(element: Element, name: string): string {
  return element.attrs.find(attr => attr.name === name)?.value ?? ''
}
