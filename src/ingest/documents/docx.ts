/**
 * Reads Word documents (docx): headings by the outline level of their style, lists, tables, notes. Text that was deleted with tracked
 * changes is left out.
 */
import type { DocumentReader } from './document.ts'
import { FlowWriter } from './flow-writer.ts'
import { propertiesOf, readZip, requireText } from './office-zip.ts'
import { type Attributes, attributeOf, readXml } from './xml.ts'

const WHAT = 'a Word document'

export const readDocx: DocumentReader = bytes =>
  readZip(bytes, WHAT, async zip => {
    const styles = stylesOf(await zip.text('word/styles.xml'))
    const notes = new Map([
      ...notesOf('footnote', await zip.text('word/footnotes.xml')),
      ...notesOf('endnote', await zip.text('word/endnotes.xml')),
    ])
    const writer = new FlowWriter()
    const body = new BodyReader(writer, styles, notes)
    readXml(await requireText(zip, 'word/document.xml', WHAT), body)
    const properties = propertiesOf(await zip.text('docProps/core.xml'))
    return { ...properties, title: body.title || properties.title, ...writer.finish() }
  })

interface Style {
  /** Outline level of headings in this style, from 1; null: paragraphs of this style are not headings. */
  readonly level: number | null
  readonly isTitle: boolean
  readonly isList: boolean
}

const PLAIN: Style = { level: null, isTitle: false, isList: false }

/** Word XML elements that are left out: they repeat text found elsewhere in the document, or contain deleted text or field codes. */
const LEFT_OUT = new Set(['Fallback', 'del', 'moveFrom', 'instrText', 'delText'])

class BodyReader {
  /** Text of the first paragraph whose style is "Title"; empty if there is none. */
  title = ''
  readonly #writer: FlowWriter
  readonly #styles: ReadonlyMap<string, Style>
  readonly #notes: ReadonlyMap<string, string>
  #style = PLAIN
  #level: number | null = null
  #isItem = false
  #isText = false
  #leftOut = 0

  constructor(writer: FlowWriter, styles: ReadonlyMap<string, Style>, notes: ReadonlyMap<string, string>) {
    this.#writer = writer
    this.#styles = styles
    this.#notes = notes
  }

  open(name: string, attributes: Attributes): void {
    if (this.#leftOut > 0 || LEFT_OUT.has(name)) {
      this.#leftOut++
      return
    }
    const value = attributeOf(attributes, 'val')
    switch (name) {
      case 'p':
        // A paragraph within a paragraph is the text of a text box; the text before it ends as a paragraph of its own.
        this.#endParagraph()
        break
      case 'pStyle':
        this.#style = this.#styles.get(value) ?? PLAIN
        break
      case 'outlineLvl':
        this.#level = levelOf(value)
        break
      case 'numId':
        this.#isItem = value !== '0'
        break
      case 't':
        this.#isText = true
        break
      case 'tab':
      case 'ptab':
        this.#writer.text(' ')
        break
      case 'br':
      case 'cr':
        this.#writer.text('\n')
        break
      case 'noBreakHyphen':
        this.#writer.text('-')
        break
      case 'footnoteReference':
      case 'endnoteReference': {
        const note = this.#notes.get(`${name} ${attributeOf(attributes, 'id')}`)
        if (note !== undefined) this.#writer.text(` [${note}]`)
        break
      }
      case 'tbl':
        this.#writer.beginTable()
        break
    }
  }

  text(text: string): void {
    if (this.#isText && this.#leftOut === 0) this.#writer.text(text)
  }

  close(name: string): void {
    if (this.#leftOut > 0) {
      this.#leftOut--
      return
    }
    if (name === 't') this.#isText = false
    if (name === 'p') this.#endParagraph()
    if (name === 'tc') this.#writer.endCell()
    if (name === 'tr') this.#writer.endRow()
    if (name === 'tbl') this.#writer.endTable()
  }

  #endParagraph(): void {
    const { isTitle, isList, level } = this.#style
    const heading = this.#level ?? level ?? undefined
    const text = this.#writer.endParagraph({
      level: heading,
      isItem: heading === undefined && (this.#isItem || isList),
    })
    if (isTitle && this.title === '') this.title = text.trim()
    this.#style = PLAIN
    this.#level = null
    this.#isItem = false
  }
}

/** Text of each footnote or endnote, by a key of kind and id, such as `footnoteReference 2`. */
function notesOf(kind: 'footnote' | 'endnote', xml: string | null): ReadonlyMap<string, string> {
  const notes = new Map<string, string>()
  if (xml === null) return notes
  let id = ''
  let isText = false
  let text = ''
  readXml(xml, {
    open(name, attributes) {
      if (name === kind) {
        id = attributeOf(attributes, 'id')
        text = ''
      }
      isText = name === 't'
      if (name === 'p' || name === 'tab' || name === 'br') text += ' '
    },
    text(part) {
      if (isText) text += part
    },
    close(name) {
      isText = false
      const note = text.replace(/\s+/g, ' ').trim()
      if (name === kind && note !== '') notes.set(`${kind}Reference ${id}`, note)
    },
  })
  return notes
}

interface DraftStyle {
  name: string
  basedOn: string
  level: number | null
  isList: boolean
}

/** Properties of the paragraph styles by style id. A property that a style does not define is taken from the style on which it is based. */
function stylesOf(xml: string | null): ReadonlyMap<string, Style> {
  const drafts = new Map<string, DraftStyle>()
  if (xml === null) return new Map()
  let draft: DraftStyle | null = null
  readXml(xml, {
    open(name, attributes) {
      if (name === 'style') {
        draft = { name: '', basedOn: '', level: null, isList: false }
        drafts.set(attributeOf(attributes, 'styleId'), draft)
      }
      if (draft === null) return
      const value = attributeOf(attributes, 'val')
      if (name === 'name') draft.name = value.toLowerCase()
      if (name === 'basedOn') draft.basedOn = value
      if (name === 'outlineLvl') draft.level = levelOf(value)
      if (name === 'numId') draft.isList = value !== '0'
    },
    close(name) {
      if (name === 'style') draft = null
    },
  })
  const styles = new Map<string, Style>()
  for (const [id, one] of drafts) {
    const chain: DraftStyle[] = []
    for (let at: DraftStyle | undefined = one; at !== undefined && chain.length < 16; at = drafts.get(at.basedOn))
      chain.push(at)
    const named = /^heading ([1-9])$/.exec(one.name)?.[1]
    styles.set(id, {
      level: named === undefined ? (chain.find(({ level }) => level !== null)?.level ?? null) : Number(named),
      isTitle: one.name === 'title',
      isList: chain.some(({ isList }) => isList) || one.name.startsWith('list '),
    })
  }
  return styles
}

/** Word's outline levels 0 to 8 mean headings of level 1 to 9; any other value, such as 9 for body text, gives null. */
function levelOf(value: string): number | null {
  return /^[0-8]$/.test(value) ? Number(value) + 1 : null
}
