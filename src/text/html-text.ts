/** The visible text of an HTML page, with line breaks where a browser would break, and the headings in it. */
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import type { Heading } from './outline.ts'
import { TextWriter } from './text-writer.ts'

export interface HtmlText {
  readonly text: string
  readonly headings: readonly Heading[]
  /** Of the page (`<title>`), its `<meta>` by name, and `<html lang>`. */
  readonly title: string
  readonly meta: Readonly<Record<string, string>>
  readonly language: string
}

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

const UNSEEN = new Set(
  'script style noscript template svg math head iframe object audio video canvas select datalist textarea'.split(' '),
)
/** Elements with blank lines around them, and elements that merely begin a line. */
const BLOCKS = new Set(
  `address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header main nav ol p pre
   section table ul`.split(/\s+/),
)
const LINES = new Set('body caption dd div dt figcaption html legend li option summary tbody tfoot thead tr'.split(' '))

/** An element, for those who want to leave some of them out. */
export interface HtmlElement {
  readonly tag: string
  /** Empty where the element does not have it. */
  attribute(name: string): string
}

/** `isLeftOut`: elements that do not count, with all that is in them. */
export function htmlText(html: string, isLeftOut: (element: HtmlElement) => boolean = () => false): HtmlText {
  const page = parse(html)
  const writer = new TextWriter()
  const isSkipped = (element: Element): boolean =>
    isUnseen(element) || isLeftOut({ tag: element.tagName, attribute: name => attribute(element, name) })
  for (const step of steps(page, isSkipped)) {
    if (step.leave) leave(step.node as Element, writer)
    else if (isElement(step.node)) enter(step.node, writer)
    else if (step.node.nodeName === '#text') writer.text((step.node as DefaultTreeAdapterTypes.TextNode).value)
  }
  return { ...writer.finish(), ...headOf(page) }
}

/** The nodes in order, elements twice. A stack, not recursion: pages can be nested as deep as they like. */
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
  if (BLOCKS.has(tag)) writer.breakLines(2)
  else if (LINES.has(tag)) writer.breakLines(1)
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
