/**
 * Documents that other programs made, each asked three questions. A fixture is named after its program: pandoc, LibreOffice (from what
 * pandoc or a Python package made), python-docx, python-pptx, openpyxl, ReportLab, fpdf2, EbookLib, nbformat, and Python's own `email` and
 * `json`. The subtitles were written by hand.
 */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { INTERFACES, type Interface } from './interfaces.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/documents/', import.meta.url))

/** Question, what the excerpt holds, and the section it is in. */
type Asked = readonly [question: string, answer: string, section: readonly string[]]

const GARDEN: readonly Asked[] = [
  ['broadfork in March', 'each March', ['Soil']],
  ['rain gauge on the shed roof', 'Measured with a rain gauge', ['Watering']],
  ['litres for lettuce in the west bed', 'West | Lettuce | 7', ['Watering', 'Schedule']],
]

/** Of a page of HTML or PDF, where cells have no line between them. */
const PRINTED_GARDEN: readonly Asked[] = [
  ['broadfork in March', 'each March', ['Garden handbook', 'Soil', 'page 1']],
  ['milk against mildew on courgettes', 'nine of water', ['Garden handbook', 'Pests', 'page 2']],
  ['litres for lettuce in the west bed', 'West Lettuce 7', ['Garden handbook', 'Watering', 'Schedule', 'page 2']],
]

const LOCKS: readonly Asked[] = [
  ['leak at the heel post', 'upper gate leaks', ['Upper gate', 'slide 2']],
  ['regreased paddle gear', 'October', ['Lower gate', 'slide 3']],
  ['cost of the balance beam', 'Balance beam | 1450', ['Lower gate', 'slide 3']],
]

const INVENTORY: readonly Asked[] = [
  ['copper elbow joint', 'Copper elbow joint | S1 | 129 | 2025-02-13', ['Inventory', 'rows 31-45']],
  ['Part 007', 'Part 007 | S0 | 21 | 2025-01-08', ['Inventory', 'rows 1-15']],
  ['discount of Norrland Pumps', 'Norrland Pumps | Luleå | 0.15', ['Suppliers', 'rows 1-3']],
]

const ASKED: Readonly<Record<string, readonly Asked[]>> = {
  'pandoc.docx': GARDEN,
  'libreoffice.docx': GARDEN,
  'python-docx.docx': [
    ['hold the green button', 'eight seconds', ['Starting']],
    ['low water pressure', 'one and a half bar', ['Faults', 'Code E4']],
    ['expansion vessel number', 'HX-3120', ['Faults', 'Code E7']],
  ],
  'pandoc.odt': GARDEN,
  'libreoffice.odt': GARDEN,
  'pandoc.epub': [
    ['broadfork in March', 'each March', ['Soil']],
    ['milk against mildew on courgettes', 'nine of water', ['Pests']],
    ['litres for lettuce in the west bed', 'West Lettuce 7', ['Watering', 'Schedule']],
  ],
  'ebooklib.epub': [
    ['spare wick and last match', 'Elias', ['The storm']],
    ['letter from his sister', 'paraffin, flour', ['The supply boat']],
    ['salt in the lens bearings', 'mercury', ['The inspection']],
  ],
  'libreoffice-writer.pdf': PRINTED_GARDEN,
  'libreoffice-impress.pdf': [
    ['harbour office', 'Harbour office', ['Ferry timetable review', 'page 1']],
    ['last boat', 'half past seven', ['Winter service', 'page 2']],
    ['price of an adult single', 'Adult single 4.20', ['Fares', 'page 3']],
  ],
  'reportlab.pdf': [
    ['when the willow blooms', 'first inspection', ['Spring', 'page 1']],
    ['formic acid against varroa', 'August', ['Autumn', 'page 3']],
    ['oxalic acid', 'solstice', ['Winter', 'page 4']],
  ],
  'fpdf2.pdf': [
    ['chuck key', 'before the spindle', ['Before use', 'page 1']],
    ['chips with a hook', 'never by hand', ['Clearing chips', 'page 2']],
    ['how often is the coolant changed', 'three months', ['Coolant', 'page 3']],
  ],
  'pandoc.pptx': LOCKS,
  'libreoffice.odp': LOCKS,
  'python-pptx.pptx': [
    ['last boat', 'half past seven', ['Winter service', 'slide 2']],
    ['dredging of the channel', 'northern channel in February', ['Winter service', 'slide 2']],
    ['price for island residents', 'Island resident | 1.10', ['Fares', 'slide 3']],
  ],
  'openpyxl.xlsx': INVENTORY,
  'libreoffice.xlsx': INVENTORY,
  'libreoffice.ods': INVENTORY,
  'libreoffice.csv': [
    ['copper elbow joint', 'Copper elbow joint,S1,129', ['rows 39-56']],
    ['Part 007', 'Part 007,S0,21', ['rows 1-19']],
    ['Part 059', 'Part 059,S3,177', ['rows 57-61']],
  ],
  'python-json.json': [
    ['bearded reedling ring', 'R0041', ['catches', 'items 36-42']],
    ['mesh of the nets', 'sixteen millimetres', ['equipment']],
    ['ring R0052', 'Bird 52', ['catches', 'items 50-56']],
  ],
  'pandoc.rtf': GARDEN,
  'libreoffice.rtf': GARDEN,
  'nbformat.ipynb': [
    ['harbour gauge readings', 'harbour gauge', ['Tide gauge analysis', 'cell 1']],
    ['median level of clean rows', '3.417', ['Tide gauge analysis', 'Outliers', 'cell 4']],
    ['highest spring tide', '7.2 metres', ['Tide gauge analysis', 'Conclusion', 'cell 5']],
  ],
  'pandoc.ipynb': [
    ['broadfork in March', 'each March', ['Soil', 'cell 1']],
    ['milk against mildew on courgettes', 'nine of water', ['Pests', 'cell 1']],
    ['litres for lettuce in the west bed', 'West', ['Watering', 'Schedule', 'cell 1']],
  ],
  'python-email.eml': [
    ['copper gutter', '840 euro', ['Roof gutter quote']],
    ['scaffolding', 'two days in May', ['Roof gutter quote']],
    ['who is the tinsmith', 'Zoë Tinsmith', ['Roof gutter quote']],
  ],
  'kiln.srt': [
    ['bisque firing', 'Bisque firing ends at nine hundred and eighty degrees', ['00:00:01-00:07:08']],
    ['step 12 vent', 'Step 12', ['00:08:00-00:13:08']],
    ['cone six', 'twelve hundred and twenty-two', ['00:26:00-00:41:15']],
  ],
  'otters.vtt': [
    ['otter holt', 'Rosa: The otter holt lies under the alder', ['00:01-00:07:06']],
    ['reading 12', 'Reading 12', ['00:08:00-00:13:06']],
    ['two cubs', 'gravel bank', ['00:20:00-01:02:09']],
  ],
}

interface Item {
  readonly origin: string
  readonly excerpt: { readonly text: string; readonly section: readonly string[] }
}

describe('documents that other programs made', { timeout: 120_000 }, () => {
  let folder: TempFolder
  let library: Interface

  beforeAll(async () => {
    folder = tempFolder()
    mkdirSync(join(folder.path, 'home'))
    library = await (INTERFACES['library'] as (typeof INTERFACES)[string])({
      ...{ home: join(folder.path, 'home'), now: '2026-03-01T12:00:00Z', embedder: 'none' },
    })
  })
  afterAll(async () => {
    await library[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  it.each(Object.entries(ASKED))('%s answers with the section, page or cell', async (name, questions) => {
    const path = join(folder.path, name)
    cpSync(join(FIXTURES, name), path)
    const added = (await library.call('add', { paths: [path], collection: name })) as { result: object }
    expect(added.result).toMatchObject({ skipped: [], errors: [], warnings: [], added: 1 })
    for (const [text, answer, section] of questions) {
      const input = { text, filter: { collections: [name] } }
      const { result } = (await library.call('query', input)) as { result: { items: readonly Item[] } }
      const [item] = result.items
      expect(item?.excerpt.text.replace(/\s+/g, ' '), text).toContain(answer)
      expect(item?.excerpt.section, text).toEqual(section)
    }
  })
})
