/**
 * Documents that other programs made, each asked three questions: at least five of each kind. `README.md` beside them says where each is
 * from.
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

/** Of the documentation of nbconvert, by what Word processors make of it. */
const ARCHITECTURE: readonly Asked[] = [
  ['affordances available for customisation', 'direct contributions', ['Architecture of nbconvert']],
  ['preprocessors applied before conversion', 'transforms the content', ['Classes', 'Preprocessors']],
  ['jinja templates inherit', 'make use of jinja', ['Classes', 'Templates']],
]

const INSTALL: readonly Asked[] = [
  ['miniconda and miniforge', 'minimal conda installation', ['Installing nbconvert']],
  ['pandoc on linux', 'To install pandoc on Linux', ['Installing Pandoc']],
  ['playwright chromium', 'Chromium automation library', ['Installing Chromium']],
]

/** Of presentations that PowerPoint made, and LibreOffice wrote again. */
const TABLES: readonly Asked[] = [
  ['custom margins', 'having custom margins', ['slide 1']],
  ['unladen swallows', 'unladen swallows', ['slide 1']],
  ['merged cell', 'merged cell', ['slide 2']],
]
const SPACING: readonly Asked[] = [
  ['space before of 6 pt', 'space before of 6 pt', ['slide 1']],
  ['line spacing of 1.5 lines', '1.5 lines', ['slide 3']],
  ['line spacing of 20pt', 'line spacing of 20pt', ['slide 3']],
]

/** Of Debian's releases as a sheet. */
const RELEASES: readonly Asked[] = [
  ['potato', 'Potato | potato | 1999-03-09 | 2000-08-15', ['releases', 'rows 1-8']],
  ['squeeze', 'Squeeze | squeeze | 2009-02-14', ['releases', 'rows 9-14']],
  ['bookworm', 'Bookworm | bookworm | 2021-08-14', ['releases', 'rows 15-21']],
]

const zones = (woody: string): readonly Asked[] => [
  ['Kabul', 'AF | +3431+06912 | Asia/Kabul', ['Zones', 'rows 1-11']],
  ['Buenos Aires', 'America/Argentina/Buenos_Aires', ['Zones', 'rows 12-18']],
  ['Woody', woody, ['Releases', 'rows 1-13']],
]

const colours = (section: string): readonly Asked[] => [
  ['musique douce', 'Musique douce', [section]],
  ['normal coloured text', 'Some italic and normal coloured text. By the way, 2 < 3 !', [section]],
  ['chêne', 'Euh, là-bas, au chêne', [section]],
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
  'reportlab-cjk.pdf': [
    ['窯の温度', '千二百度まで上げる', ['page 1']],
    ['渡轮', '末班时间为晚上七点半', ['page 2']],
    ['晚上七点半', '渡轮末班', ['page 2']],
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
    ['mesh of the nets', 'sixteen millimetres', ['equipment', 'nets']],
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
  'word-hyperlinks.docx': [
    ['awesome hyperlink', 'One awesome hyperlink.', []],
    ['three hyperlinks', 'the first one here, the second one, and the third', []],
    ['no hyperlinks', 'No hyperlinks', []],
  ],
  'libreoffice-architecture.docx': ARCHITECTURE,
  'pandoc-install.odt': INSTALL,
  'openoffice-images.odt': [
    ['malesuada dictum', 'nibh dapibus erat malesuada dictum', []],
    ['etiam sodales felis', 'Etiam sodales, felis', []],
    ['right justified picture', 'Right justified picture', []],
  ],
  'openoffice-lists.odt': [
    ['subitem bold', '- Subitem B.2 (bold)', []],
    ['item C', '- Item C', []],
    ['line 4', 'Line 4', []],
  ],
  'pandoc-install.epub': INSTALL,
  'sphinx-nbconvert.epub': [
    ['miniconda and miniforge', 'minimal conda', ['Installation', 'Installing nbconvert']],
    ['jinja templates inherit', 'make use of jinja', ['Architecture of nbconvert', 'Classes', 'Templates']],
    ['affordances available for customisation', 'direct contributions', ['Architecture of nbconvert']],
  ],
  'epub-gen.epub': [
    ['affordances available for customisation', 'direct contributions', ['Architecture of nbconvert']],
    ['jinja templates inherit', 'make use of jinja', ['Templates']],
    ['postprocessor after the writing', 'reveal.js HTML slideshows', ['Postprocessors']],
  ],
  'chromium-architecture.pdf': [
    ['affordances available for customisation', 'direct contributions', ['Architecture of nbconvert', 'page 1']],
    ['preprocessors applied before conversion', 'transforms the content', ['Classes', 'Preprocessors', 'page 3']],
    ['jinja templates inherit', 'make use of jinja', ['Classes', 'Templates', 'page 4']],
  ],
  'debian-fontconfig.pdf': [
    ['FcConfig libexpat', 'FcConfig datatype, libexpat', ['fonts-conf', 'Functional Overview', 'page 1']],
    ['languages with two-letter codes', '122 of the 139 languages', ['fonts-conf', 'Lang Tags', 'page 4']],
    ['debugging FC_DEBUG environment', 'internal debugging', ['fonts-conf', 'Debugging Applications', 'page 3']],
  ],
  'powerpoint-tables.pptx': TABLES,
  'powerpoint-spacing.pptx': SPACING,
  'powerpoint-shapes.pptx': [
    ['group test text', 'Group test text', ['slide 1']],
    ['cell text 1', 'Cell text 1 | Cell text 2', ['slide 1']],
    ['box 2', 'Box 2', ['slide 1']],
  ],
  'libreoffice-tables.odp': TABLES,
  'libreoffice-spacing.odp': SPACING,
  'openoffice-columns.odp': [
    ['nisl lectus dictum', 'Sed nisl lectus, dictum', ['slide 1']],
    ['porttitor mauris', 'ullamcorper porttitor mauris', ['slide 1']],
    ['suspendisse tempor', 'Suspendisse tempor urna', ['slide 1']],
  ],
  'powerpoint-list.odp': [
    ['zibn', '- Zibn', ['OL', 'slide 1']],
    ['elf', '- Elf', ['OL', 'slide 1']],
    ['draytsn', '- Draytsn', ['OL', 'slide 1']],
  ],
  'libreoffice-releases.xlsx': RELEASES,
  'xlsxwriter-zones.xlsx': zones('Woody | 2002-07-19 | 30%'),
  'excel-chart.xlsx': [
    ['series 2 size', 'X-Values | Series 2 | Size 2', ['Sheet1', 'rows 1-9']],
    ['8.1', '8.1 | 2.3 | 10', ['Sheet1', 'rows 1-9']],
    ['series 1', 'X-Values | Series 1 | Size 1', ['Sheet1', 'rows 1-9']],
  ],
  'libreoffice-releases.ods': RELEASES,
  'libreoffice-zones.ods': zones('Woody | 19/07/2002 | 30.0%'),
  'kspread-numbers.ods': [
    ['4', '3 4 5 7', ['Sheet1', 'rows 1-4']],
    ['7', '3 4 5 7', ['Sheet1', 'rows 1-4']],
    ['sheet2', 'Sheet2', ['Sheet2', 'rows 1-4']],
  ],
  'openoffice-chinese.ods': [
    ['test', 'test | test | test', ['工作表1', 'row 1']],
    ['工作表1', 'test | test | test', ['工作表1', 'row 1']],
    ['test test', 'test | test | test', ['工作表1', 'row 1']],
  ],
  'debian-releases.csv': [
    ['potato', '2.2,Potato,potato,1999-03-09', ['rows 1-10']],
    ['squeeze', '6.0,Squeeze,squeeze', ['rows 11-17']],
    ['bookworm', '12,Bookworm,bookworm', ['rows 18-23']],
  ],
  'tzdata-zones.tab': [
    ['Kabul', 'AF +3431+06912 Asia/Kabul', ['rows 1-12']],
    ['Buenos Aires', 'Buenos Aires (BA, CF)', ['rows 13-19']],
    ['Troll', 'Antarctica/Troll', ['rows 1-12']],
  ],
  'sqlite-series.csv': [
    ['potato', 'potato,2.2,Potato,2000-08-15', ['rows 1-12']],
    ['squeeze', 'squeeze,6.0,Squeeze', ['rows 1-12']],
    ['bookworm', 'bookworm,12,Bookworm', ['rows 13-14']],
  ],
  'python-csv-zones.csv': [
    ['Kabul', '"AF","+3431+06912","Asia/Kabul",""', ['rows 1-11']],
    ['Buenos Aires', '"Buenos Aires (BA, CF)"', ['rows 12-18']],
    ['Troll', '"Antarctica/Troll"', ['rows 12-18']],
  ],
  'sqlite-releases.json': [
    ['potato', '"Potato","version":"2.2"', ['items 1-7']],
    ['squeeze', '"Squeeze","version":"6.0"', ['items 8-14']],
    ['bookworm', '"Bookworm","version":"12"', ['items 15-21']],
  ],
  'jq-zones.json': [
    ['Kabul', 'Asia/Kabul', ['items 1-4']],
    ['Crozet', '"comments": "Crozet"', ['items 1-4']],
    ['Troll', 'Antarctica/Troll', ['items 9-12']],
  ],
  'pandoc-references.json': [
    ['Okapi at TREC-3', 'Okapi at TREC-3', ['items 1-2']],
    ['suffix stripping', 'An algorithm for suffix stripping', ['items 4-5']],
    ['Ebbinghaus', 'Ebbinghaus', ['author', 'items 8-9']],
  ],
  'typescript-config.json': [
    ['noImplicitOverride', 'noImplicitOverride', ['compilerOptions']],
    ['dom.iterable', 'dom.iterable', ['compilerOptions', 'lib']],
    ['moduleResolution', 'moduleResolution', ['compilerOptions']],
  ],
  'pandoc-install.rtf': INSTALL,
  'libreoffice-architecture.rtf': ARCHITECTURE,
  'pyrtf.rtf': [
    ['brambles', 'free of brambles', ['Rules of the allotment']],
    ['pump locked frost', 'locked from November', ['Rules of the allotment', 'Water']],
    ['cockerels', 'cockerels may not', ['Rules of the allotment', 'Animals']],
  ],
  'jupyter-library.ipynb': [
    [
      'extract figures preprocessor',
      'To extract the figures',
      [
        'Using nbconvert as a library',
        'Extracting Figures using the HTML Exporter',
        'Using different preprocessors',
        'cell 25',
      ],
    ],
    [
      'leaves the figures embedded',
      'leaves the figures as embedded base64',
      ['Using nbconvert as a library', 'Quick overview', 'cell 12'],
    ],
    [
      'c.HTMLExporter.preprocessors',
      'ExtractOutputPreprocessor',
      [
        'Using nbconvert as a library',
        'Extracting Figures using the HTML Exporter',
        'Using different preprocessors',
        'cell 26',
      ],
    ],
  ],
  'jupyter-numpy.ipynb': [
    ['random uniform size', 'np.random.uniform', ['NumPy and Matplotlib examples', 'cell 6']],
    ['import numpy as np', 'import numpy as np', ['NumPy and Matplotlib examples', 'cell 4']],
    ['welcome to pylab', 'Welcome to pylab, a matplotlib-based', ['NumPy and Matplotlib examples', 'cell 3']],
  ],
  'jupyter-tags.ipynb': [
    ['python cell should have tags', 'this cell should have tags', ['cell 1']],
    ['markdown cell', 'This markdown cell', ['cell 3']],
    ['what is printed', 'print("this cell should have tags', ['cell 1']],
  ],
  'git-patch.eml': [
    ['celadon matt', 'The celadon stayed matt', ['[PATCH] Raise the top temperature of the glaze firing']],
    ['soak twenty minutes', 'lasts twenty minutes longer', ['[PATCH] Raise the top temperature of the glaze firing']],
    ['who raised the glaze firing', 'Ines Kiln', ['[PATCH] Raise the top temperature of the glaze firing']],
  ],
  'nodemailer.eml': [
    ['Boskoop apples', 'forty kilos an hour', ['Apfelmost: Pressen am 3. Oktober – bitte lesen']],
    ['pasteurise', 'Pasteurise at 78 °C', ['Apfelmost: Pressen am 3. Oktober – bitte lesen']],
    ['Håkan', 'Plan für den Tag.txt', ['Apfelmost: Pressen am 3. Oktober – bitte lesen']],
  ],
  'mime-tools.eml': [
    ['water meter', 'replaced by Whitsun', ['Minutes of the allotment board']],
    ['third beehive', 'the path is too narrow', ['Minutes of the allotment board']],
    ['réserve', '412.50 euro', ['Minutes of the allotment board']],
  ],
  'python-emails.eml': [
    ['ramp at Skarv', 'is being repaired', ['Cancelled: night ferry in January']],
    ['refunded at the kiosk', 'until noon', ['Cancelled: night ferry in January']],
    ['who runs the ferries', 'Skarv Ferries', ['Cancelled: night ferry in January']],
  ],
  'webvtt-youtube-dl.vtt': [
    ['what will happen', 'this will happen is I', ['00:04:46-00:05:05']],
    ['yeah', 'yeah what this will happen', ['00:04:46-00:05:05']],
    ['telling', "I'm telling", ['00:04:46-00:05:05']],
  ],
  'webvtt-regions.vtt': [
    ['Fred', 'Fred: Hi, my name is Fred', ['00:00:00-00:00:22']],
    ['Bill', 'Bill: Hi, I’m Bill', ['00:00:00-00:00:22']],
    ['my name', 'my name is Fred', ['00:00:00-00:00:22']],
  ],
  'webvtt-identifiers.vtt': [
    ['caption 1', 'Caption text #1', ['00:00:00-00:00:27']],
    ['caption 4', 'Caption text #4', ['00:00:00-00:00:27']],
    ['caption 6', 'Caption text #6', ['00:00:00-00:00:27']],
  ],
  'webvtt-colours.srt': colours('00:00:07-00:02:29'),
  'pysubs2-colours.srt': colours('00:00:07-00:02:29'),
}

interface Item {
  readonly origin: string
  readonly excerpt: { readonly text: string; readonly section: readonly string[] }
}

it.each([
  'docx',
  'odt',
  'pdf',
  'epub',
  'pptx',
  'odp',
  'xlsx',
  'ods',
  'rtf',
  'ipynb',
  'eml',
  'csv or tab',
  'srt or vtt',
])('at least five files of other programs are asked of the kind %s', kind => {
  const endings = kind.split(' or ')
  const files = Object.keys(ASKED).filter(name => endings.some(ending => name.endsWith(`.${ending}`)))
  expect(files.length).toBeGreaterThanOrEqual(5)
})

describe('documents that other programs made', () => {
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
