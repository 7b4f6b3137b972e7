/**
 * Reads EPUB books: the pages in reading order (the "spine" of the book), each with its own headings or, if it has none, with its name in
 * the table of contents as the heading.
 */
import { htmlText } from '../../text/html-text.ts'
import type { Heading } from '../../text/outline.ts'
import type { WrittenText } from '../../text/text-writer.ts'
import type { ZipArchive } from '../zip.ts'
import { checkLength, type DocumentReader, encrypted, unreadable } from './document.ts'
import { readZip, requireText, resolved, timeOf } from './office-zip.ts'
import { attributeOf, readXml, textsOf } from './xml.ts'

const WHAT = 'an EPUB book'

export const readEpub: DocumentReader = bytes =>
  readZip(bytes, WHAT, async zip => {
    let path = ''
    readXml(await requireText(zip, 'META-INF/container.xml', WHAT), {
      open(name, attributes) {
        if (name === 'rootfile' && path === '') path = attributeOf(attributes, 'full-path')
      },
    })
    const xml = await requireText(zip, path, WHAT)
    const { pages, contents } = partsOf(xml, path.slice(0, path.lastIndexOf('/') + 1))
    const isLocked = await encryptedIn(zip)
    if (pages.length > 0 && pages.every(page => isLocked.has(page))) throw encrypted()
    const names = contents === null ? new Map<string, string>() : namesIn(await zip.text(contents), contents)
    const book = new Book()
    for (const page of pages) {
      const html = page === contents ? null : await zip.text(page)
      if (html !== null) book.add(html, names.get(page) ?? '')
    }
    const texts = textsOf(xml, ['title', 'creator', 'language', 'date'])
    const text = (name: string) => texts.get(name)?.trim() ?? ''
    return {
      ...book.written(),
      title: text('title'),
      metadata: {
        ...(text('creator') !== '' && { author: text('creator') }),
        ...(text('language') !== '' && { lang: text('language') }),
      },
      createdAt: timeOf(text('date')),
    }
  })

interface Parts {
  /** Paths of the book's pages in the archive, in reading order. */
  readonly pages: readonly string[]
  /** Path of the book's table of contents in the archive, in the form of EPUB 3 (`nav`) or EPUB 2 (NCX); null if it has none. */
  readonly contents: string | null
}

function partsOf(xml: string, folder: string): Parts {
  const items = new Map<string, { readonly path: string; readonly type: string }>()
  const spine: string[] = []
  let nav: string | null = null
  let ncx: string | null = null
  readXml(xml, {
    open(name, attributes) {
      const attribute = (of: string) => attributeOf(attributes, of)
      if (name === 'item') {
        const path = decoded(resolved(folder, attribute('href')))
        const type = attribute('media-type')
        items.set(attribute('id'), { path, type })
        if (/\bnav\b/.test(attribute('properties'))) nav = path
        if (type === 'application/x-dtbncx+xml') ncx = path
      }
      if (name === 'itemref') spine.push(attribute('idref'))
    },
  })
  const pages = spine.flatMap(id => items.get(id) ?? []).filter(({ type }) => /html/.test(type))
  if (pages.length === 0) throw unreadable(`not ${WHAT}: its spine names no page`)
  return { pages: [...new Set(pages.map(({ path }) => path))], contents: nav ?? ncx }
}

/** Paths of the encrypted files in the archive. A book with obfuscated fonts only is readable, because fonts are not read. */
async function encryptedIn(zip: ZipArchive): Promise<ReadonlySet<string>> {
  const xml = await zip.text('META-INF/encryption.xml')
  const paths = new Set<string>()
  if (xml === null) return paths
  readXml(xml, {
    open(name, attributes) {
      if (name === 'CipherReference') paths.add(decoded(attributeOf(attributes, 'URI')))
    },
  })
  return paths
}

/** For each page of the book, the first name that the table of contents gives it. */
function namesIn(xml: string | null, contents: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  if (xml === null) return names
  const folder = contents.slice(0, contents.lastIndexOf('/') + 1)
  let text = ''
  const name = (target: string): void => {
    const path = decoded(resolved(folder, target.replace(/#.*$/s, '')))
    if (!names.has(path) && text.trim() !== '') names.set(path, text.replace(/\s+/g, ' ').trim())
  }
  let link = ''
  try {
    readXml(xml, {
      open(tag, attributes) {
        if (tag === 'a') link = attributeOf(attributes, 'href')
        if (tag === 'a' || tag === 'navLabel') text = ''
        if (tag === 'content') name(attributeOf(attributes, 'src'))
      },
      text(part) {
        text += part
      },
      close(tag) {
        if (tag === 'a') name(link)
      },
    })
  } catch {
    // A damaged table of contents is ignored: a book can be read without the names of its pages.
  }
  return names
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Collects the text of a book from its pages, one after the other. */
class Book {
  readonly #texts: string[] = []
  readonly #headings: Heading[] = []
  readonly #blocks: WrittenText['blocks'][number][] = []
  /**
   * Place marks: offsets at which named parts of the text begin. Each page of the book begins with a mark without a name, so that no
   * passage (search result) extends over the end of a page.
   */
  readonly #places: WrittenText['places'][number][] = []
  #length = 0

  add(html: string, name: string): void {
    const page = htmlText(html)
    if (page.text === '') return
    if (this.#length > 0) this.#put('\n\n')
    const at = this.#length
    this.#places.push({ at, text: '' })
    if (page.headings.length === 0 && name !== '') this.#headings.push({ start: at, end: at, level: 1, text: name })
    for (const { start, end, ...heading } of page.headings)
      this.#headings.push({ ...heading, start: start + at, end: end + at })
    for (const { start, end, from, until, ...block } of page.blocks)
      this.#blocks.push({ ...block, start: start + at, end: end + at, from: from + at, until: until + at })
    this.#put(page.text)
  }

  written(): WrittenText {
    return { text: this.#texts.join(''), headings: this.#headings, blocks: this.#blocks, places: this.#places }
  }

  #put(text: string): void {
    this.#texts.push(text)
    this.#length += text.length
    checkLength(this.#length)
  }
}
