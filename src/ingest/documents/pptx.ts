/** Reads PowerPoint presentations (pptx): slides in order, their titles as headings, tables, and speaker notes. */
import type { DocumentReader } from './document.ts'
import { FlowWriter } from './flow-writer.ts'
import { propertiesOf, readZip, relationsOf, requireText } from './office-zip.ts'
import { type Attributes, attributeOf, readXml } from './xml.ts'

const WHAT = 'a PowerPoint presentation'
const MAIN = 'ppt/presentation.xml'
const MAX_SLIDES = 5_000

export const readPptx: DocumentReader = bytes =>
  readZip(bytes, WHAT, async zip => {
    const ids: string[] = []
    readXml(await requireText(zip, MAIN, WHAT), {
      open(name, attributes) {
        if (name === 'sldId') ids.push(attributes['r:id'] ?? '')
      },
    })
    const relations = await relationsOf(zip, MAIN)
    const slides = ids.flatMap(id => relations.get(id)?.path ?? []).slice(0, MAX_SLIDES)
    const writer = new FlowWriter()
    for (const [at, slide] of slides.entries()) {
      const xml = await zip.text(slide)
      if (xml === null) continue
      writer.place(`slide ${at + 1}`)
      readXml(xml, new SlideReader(writer, true))
      const notes = [...(await relationsOf(zip, slide)).values()].find(({ type }) => type === 'notesSlide')
      const notesXml = notes === undefined ? null : await zip.text(notes.path)
      if (notesXml !== null) readXml(notesXml, new SlideReader(writer, false))
    }
    const properties = propertiesOf(await zip.text('docProps/core.xml'))
    const title = /^powerpoint presentation$/i.test(properties.title) ? '' : properties.title
    return { ...properties, title, ...writer.finish() }
  })

/** Types of placeholders whose text is left out because it repeats on every slide, such as dates and slide numbers. */
const FURNITURE = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])

class SlideReader {
  readonly #writer: FlowWriter
  readonly #isSlide: boolean
  #placeholder = ''
  #isText = false
  #isShape = false

  constructor(writer: FlowWriter, isSlide: boolean) {
    this.#writer = writer
    this.#isSlide = isSlide
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'sp') {
      this.#placeholder = ''
      this.#isShape = true
    }
    if (name === 'ph') this.#placeholder = attributeOf(attributes, 'type') || 'body'
    if (name === 't') this.#isText = true
    if (name === 'br') this.#writer.text('\n')
    if (name === 'tbl') this.#writer.beginTable()
  }

  text(text: string): void {
    if (this.#isText && !FURNITURE.has(this.#placeholder)) this.#writer.text(text)
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    if (name === 'sp') this.#isShape = false
    if (name === 'p') {
      const isTitle = this.#isSlide && this.#isShape && /^(title|ctrTitle)$/.test(this.#placeholder)
      this.#writer.endParagraph(isTitle ? { level: 1 } : {})
    }
    if (name === 'tc') this.#writer.endCell()
    if (name === 'tr') this.#writer.endRow()
    if (name === 'tbl') this.#writer.endTable()
  }
}
