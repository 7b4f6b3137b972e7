import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { delimited } from '../../../src/ingest/delimited.ts'
import { extensionOf } from '../../../src/ingest/file-types.ts'
import { html } from '../../../src/ingest/html.ts'
import { json } from '../../../src/ingest/json.ts'
import { checkMap, jsonl } from '../../../src/ingest/jsonl.ts'
import { ingesterFor } from '../../../src/ingest/load-file.ts'
import { markdown } from '../../../src/ingest/markdown.ts'
import { notebook } from '../../../src/ingest/notebook.ts'
import { code, plainText } from '../../../src/ingest/plain-text.ts'
import { instantOf, tagsOf } from '../../../src/ingest/values.ts'
import type { ChunkDraft } from '../../../src/model/entry.ts'
import type { FileDocument, FileReading, Ingester } from '../../../src/model/ingester.ts'
import { sectionAt } from '../../../src/text/excerpt.ts'
import { type OutlineFormat, textOutline } from '../../../src/text/text-outline.ts'

function read(ingester: Ingester, path: string, text: string, map: Record<string, string> = {}): FileReading {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return atOnce(ingester.read({ path, name, extension: extensionOf(name), text, modifiedAt: 0 }, { now: 0, map }))
}

function only(reading: FileReading): FileDocument {
  expect(reading.documents).toHaveLength(1)
  return reading.documents[0] as FileDocument
}

describe('choice of an ingester', () => {
  it.each([
    ['guide.md', 'markdown'],
    ['README.MD', 'markdown'],
    ['page.htm', 'html'],
    ['docs.jsonl', 'jsonl'],
    ['src/a.ts', 'code'],
    ['package.json', 'json'],
    ['a.csv', 'delimited'],
    ['a.ipynb', 'notebook'],
    ['a.vtt', 'subtitles'],
    ['A.PDF', 'pdf'],
    ['a.docx', 'docx'],
    ['Makefile', 'code'],
    ['config.yaml', 'code'],
    ['notes.txt', 'plain-text'],
    ['LICENSE', 'plain-text'],
    ['.gitignore', 'plain-text'],
    ['constructor', 'plain-text'],
    ['a.constructor', 'plain-text'],
  ])('reads %s with %s', (path, name) => {
    const file = { path, name: path.slice(path.lastIndexOf('/') + 1), extension: extensionOf(path) }
    expect(ingesterFor(file, []).name).toBe(name)
  })

  it("asks a lens's ingesters first", () => {
    const own: Ingester = { ...plainText, name: 'own', accepts: file => file.extension === 'md' }
    expect(ingesterFor({ path: 'a.md', name: 'a.md', extension: 'md' }, [own]).name).toBe('own')
    expect(ingesterFor({ path: 'a.ts', name: 'a.ts', extension: 'ts' }, [own]).name).toBe('code')
  })
})

describe('JSON', () => {
  const headings = (text: string) =>
    only(read(json, 'a.json', text)).chunks.flatMap(({ headings, sections = [] }) => [
      headings,
      ...sections.map(section => section.headings),
    ])

  it('keeps its text, and has the names around a part as headings', () => {
    const text = '{\n  // a "remark" {\n  "a \\" {": {\n    "b": [1, 2]\n  },\n  "c": "{[" /* } */\n}\n'
    expect(only(read(json, 'a.json', text))).toMatchObject({
      content: text,
      kind: 'code',
      title: 'a.json',
      tags: ['json'],
    })
    expect(headings(text)).toEqual([[], ['a \\" {'], ['a \\" {', 'b'], []])
  })

  it.each([
    [
      'a list',
      '[\n  {\n    "names": [\n      "one"\n    ],\n    "zone": "two"\n  },\n  {\n    "zone": "three"\n  }\n]\n',
    ],
    ['one line', '[{"names": ["one"], "zone": "two"}, {"zone": "three"}]'],
  ])('has no name above what follows the named value: %s', (_, text) => {
    const chunk = only(read(json, 'a.json', text)).chunks.at(-1) as ChunkDraft
    const pathAt = (part: string) => sectionAt(chunk, text.indexOf(part))
    expect(['one', 'two', 'three'].map(pathAt)).toEqual([['names', 'items 1-2'], ['items 1-2'], ['items 1-2']])
  })

  it.each([200, 20_000])('in one long line is written in lines, so that its parts are parts: %i items', count => {
    const list = Array.from({ length: count }, (_, at) => ({ number: at, none: [], 'a "b\\': ' , ', deep: [[{}]] }))
    const text = JSON.stringify({ list, other: { exact: 0 } }).replace('"exact":0', '"exact" : 1.0')
    const { content, chunks } = only(read(json, 'a.json', text))
    expect(content).toBe(JSON.stringify({ list, other: { exact: 0 } }, null, 2).replace('"exact": 0', '"exact": 1.0'))
    const sections = chunks
      .slice(1, 20)
      .flatMap(({ headings, sections = [] }) => [headings, ...sections.map(one => one.headings)])
    expect(sections).toContainEqual(['list', expect.stringMatching(/^items \d+-\d+$/)])
  })

  it.each([']', '[', ']]', '// no', '{"a":/* no */'])('in one long line that is not sound stays as it is: %s', end => {
    const text = `[${'1,'.repeat(2_000)}1${end}`
    expect(only(read(json, 'a.json', text)).content).toBe(
      end === ']' ? JSON.stringify(JSON.parse(text), null, 2) : text,
    )
  })

  it.each(['{', ']', '"', '{"a":', '[[[[', '/*', '//', '\\"', '{"a" "b": {]}'])('reads %s as text', text => {
    expect(only(read(json, 'a.json', text)).content).toBe(text)
  })

  it('nested as deep as can be is read', () => {
    expect(only(read(json, 'a.json', '[{"a":'.repeat(50_000))).chunks.length).toBeGreaterThan(1)
  })
})

describe('tables as text', () => {
  it('repeat the header, keep a row with line ends in quotes whole, and say which rows they hold', () => {
    const rows = Array.from({ length: 60 }, (_, at) => `${at},"first line\nsecond line of ${at}"`)
    const { content, chunks } = only(read(delimited, 'a.csv', `Number,Text\n${rows.join('\n')}\n`))
    expect(chunks.length).toBeGreaterThan(2)
    for (const { start, lead, sections = [] } of chunks.slice(1)) {
      expect(lead).toBe('Number,Text')
      expect(content.slice(start)).toMatch(/^\d+,"first/)
      const row = Number(/^\d+/.exec(content.slice(start))?.[0]) + 2
      expect(sections[0]?.headings).toEqual([expect.stringMatching(`^rows? ${row}`)])
    }
  })

  it('whose first row holds numbers repeat nothing', () => {
    const { chunks } = only(read(delimited, 'a.csv', '1,2\n'.repeat(500)))
    expect(chunks.every(({ lead }) => lead === undefined)).toBe(true)
  })
})

describe('notebooks', () => {
  it('of version 3 are read, and a fence that a cell leaves open ends with it', () => {
    const cells = [
      { cell_type: 'markdown', source: ['# One\n', '```\n', 'open'] },
      { cell_type: 'code', input: 'x = 1', outputs: [{ ename: 'NameError', evalue: 'y' }] },
      { cell_type: 'markdown', source: '## Two' },
    ]
    const text = JSON.stringify({ worksheets: [{ cells }] })
    const { title, content, chunks } = only(read(notebook, 'a.ipynb', text))
    expect(title).toBe('One')
    expect(content).toContain('```output\nNameError: y\n```')
    expect(chunks.map(({ sections }) => sections?.at(-1)?.headings)).toEqual([
      ['One', 'cell 1'],
      ['One', 'cell 2'],
      ['One', 'Two', 'cell 3'],
    ])
  })
})

describe('Markdown', () => {
  it('takes title, tags, times and metadata from front matter, and keeps the lines of the file', () => {
    const text = [
      '---',
      'title: "Cache lines"',
      'tags: [hardware, "#speed"]',
      'keywords: memory, cpu',
      'date: 2026-03-01',
      'updated: 2026-03-02T10:00:00Z',
      'author: { name: Ann, age: 40 }',
      'draft: false',
      '---',
      '',
      '# Not the title',
      'Words.',
      '## Inner',
      'More words.',
    ].join('\n')
    const document = only(read(markdown, 'a/cache.md', text))
    expect(document).toMatchObject({
      id: null,
      title: 'Cache lines',
      tags: ['hardware', 'speed', 'memory', 'cpu'],
      kind: 'document',
      content: text,
      createdAt: Date.parse('2026-03-01'),
      updatedAt: Date.parse('2026-03-02T10:00:00Z'),
      metadata: { author: { name: 'Ann', age: 40 }, draft: false, date: '2026-03-01', path: 'a/cache.md' },
    })
    expect(document.chunks).toEqual([
      {
        ...{
          start: text.indexOf('\n# Not'),
          end: text.length,
          startLine: 10,
          endLine: 14,
          headings: ['Not the title'],
        },
        sections: [{ at: '\n# Not the title\nWords.\n'.length, headings: ['Not the title', 'Inner'] }],
      },
    ])
  })

  it.each([
    ['front matter', '---\ntitle: Front\n---\n# Head\n', 'Front'],
    ['the first heading of level 1', '## Two\n\n# One\n# Other', 'One'],
    ['an underlined heading', 'One\n===\ntext', 'One'],
    ['the first heading where none is of level 1', 'Text.\n\n## Two\n\n# \n## Three', 'Two'],
    ['the name of the file', 'just text', 'a-note'],
  ])('takes the title from %s (QE-010)', (_, text, title) => {
    expect(only(read(markdown, 'x/a-note.md', text)).title).toBe(title)
  })

  it.each([
    ['a tab', '---\n\tx: y\n---\ntext'],
    ['an open bracket', '---\ntags: [a\n---\ntext'],
    ['no fields', '---\njust text\n---\ntext'],
    ['a bomb of aliases', `---\na: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}---\ntext`],
    ['depth', `---\nx: ${'['.repeat(20_000)}\n---\ntext`],
  ])('reads on after broken front matter: %s', (_, text) => {
    const reading = read(markdown, 'a.md', text)
    expect(only(reading).content).toBe(text)
    expect(text.slice(only(reading).chunks[0]?.start)).toBe('text')
    expect(reading.warnings).toEqual([{ line: 1, message: expect.stringMatching(/^front matter: /) }])
    expect(reading.problems).toEqual([])
  })

  it('reads front matter that YAML refuses line by line, and warns of it (QE-010)', () => {
    const text =
      '---\ntitle: My Title is this: with a colon\nauthor: @ann\ntags:\n  - red\n  - "two words"\nkeywords: [a, b\ndate: 2026-03-01\n---\ntext'
    const reading = read(markdown, 'a.md', text)
    expect(only(reading)).toMatchObject({
      title: 'My Title is this: with a colon',
      tags: ['red', 'two words', 'a', 'b'],
      createdAt: Date.parse('2026-03-01'),
      metadata: { author: '@ann', date: '2026-03-01', path: 'a.md' },
    })
    expect(reading.problems).toEqual([])
    expect(reading.warnings?.[0]?.message).toMatch(/^front matter: read line by line: /)
  })

  it('takes dashes without an end for text', () => {
    const text = '---\nnot closed\n\nwords'
    expect(only(read(markdown, 'a.md', text)).chunks[0]?.start).toBe(0)
  })

  it('keeps what YAML can say and JSON cannot', () => {
    const text = '---\na: .nan\nb: 2001-01-01\n__proto__: { x: 1 }\n? [k, l]\n: v\n---\ntext'
    const { metadata } = only(read(markdown, 'a.md', text))
    expect(metadata).toMatchObject({ a: 'NaN', b: '2001-01-01', path: 'a.md' })
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('gives nothing for a file without text and title', () => {
    expect(read(markdown, 'a.md', ' \n').documents).toEqual([])
    expect(only(read(markdown, 'a.md', '---\ntitle: Alone\n---\n')).title).toBe('Alone')
  })

  function bomb(): string {
    const names = 'abcdefghij'
    return [...names.slice(1)].map((name, at) => `${name}: &${name} [${`*${names[at]},`.repeat(9)}]\n`).join('')
  }
})

const FORMAT_OF: Readonly<Record<string, OutlineFormat>> = { rst: 'rst', adoc: 'asciidoc', org: 'org' }

describe('plain text and code', () => {
  it('names a text after its file', () => {
    const document = only(read(plainText, 'a/notes.txt', 'One.\n\nTwo.'))
    expect(document).toMatchObject({ title: 'notes', kind: 'document', tags: [], content: 'One.\n\nTwo.' })
    expect(document.metadata).toEqual({ path: 'a/notes.txt' })
    expect(read(plainText, 'a.txt', '\n \t').documents).toEqual([])
  })

  it.each([
    ['a.rst', 'Backups\n=======\n\nEach night.\n\nWhere\n-----\n\nIn the cellar.', 'Backups', ['Backups', 'Where']],
    ['a.rst', '=====\n Top\n=====\n\nOne.\n\nLower\n=====\n\nTwo.', 'Top', ['Top', 'Lower']],
    ['a.rst', '====  ====\na     b\n====  ====\n', 'a', []],
    [
      'a.adoc',
      '= Backups\n:toc:\n\n----\n== no heading\n----\n\n== Where\n\nIn the cellar.',
      'Backups',
      ['Backups', 'Where'],
    ],
    [
      'a.org',
      '#+TITLE: Backups\n\n* TODO [#A] Where :home:\nIn the cellar.\n#+BEGIN_SRC\n* no\n#+END_SRC',
      'Backups',
      ['Where'],
    ],
    ['a.org', '* Where\nIn the cellar.', 'Where', ['Where']],
    ['a.txt', 'Backups\n=======\n\nEach night.', 'Backups', ['Backups']],
    ['a.txt', '\nNotes on backups\n\nEach night.', 'Notes on backups', []],
    ['a.txt', 'Each night a backup is made.\n\nIn the cellar.', 'a', []],
    ['a.txt', 'id,name\n1,ann\n', 'a', []],
  ])('titles %s by its first heading, and has its sections: %j (QE-010)', (path, text, title, headings) => {
    const document = only(read(plainText, path, text.replaceAll('\n', '\r\n')))
    expect(document.title).toBe(title)
    expect(only(read(plainText, path, text)).title).toBe(title)
    expect(textOutline(text, FORMAT_OF[path.slice(2)] ?? 'text').headings.map(heading => heading.text)).toEqual(
      headings,
    )
  })

  it('tags code with its language', () => {
    expect(only(read(code, 'src/a.ts', 'export const a = 1\n'))).toMatchObject({
      title: 'src/a.ts',
      kind: 'code',
      tags: ['typescript'],
      metadata: { path: 'src/a.ts', language: 'typescript' },
    })
  })
})

describe('HTML', () => {
  const page = `<!doctype html><html lang="es"><head><title> The  page </title>
    <meta name="keywords" content="one, two"><meta name="Description" content="What it is">
    <style>p { color: red }</style></head>
    <body><nav><a href="/">Home</a> <a>Up</a></nav>
    <h1>Main <em>head</em></h1><p>First<b>ly</b>, a   paragraph
    over lines.<p>Second<br>broken.
    <script>alert('no')</script><div hidden>no</div><div style="display: none">no</div>
    <h2>List</h2><ul><li>one<li><p>two</p></ul>
    <pre>  keep
      this</pre><table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>
    &lt;tag&gt; &amp; &ntilde;<template>no</template><noscript>no</noscript></body></html>`

  it('gives the text one would read, without navigation', () => {
    const document = only(read(html, 'a.html', page))
    expect(document.content.split('\n')).toEqual([
      'Main head',
      '',
      'Firstly, a paragraph over lines.',
      '',
      'Second',
      'broken.',
      '',
      'List',
      '',
      '- one',
      '',
      '- two',
      '',
      '  keep',
      '      this',
      '',
      'a b',
      'c',
      '',
      '<tag> & ñ',
    ])
    expect(document).toMatchObject({
      title: 'The page',
      tags: ['one', 'two'],
      metadata: { path: 'a.html', description: 'What it is', lang: 'es' },
    })
  })

  it.each([
    [
      'main',
      '<nav>Home</nav><main><p>Own</p><aside>x</aside><nav>x</nav></main><aside>x</aside><footer>x</footer>',
      'Own',
    ],
    ['a role', '<div role="banner">x</div><div role="main">Own<div role="search">x</div></div>', 'Own'],
    [
      'articles',
      '<p>x</p><article>One<footer>x</footer></article><article>Two<article>In</article></article>',
      'One\n\nTwo\n\nIn',
    ],
    ['neither', '<nav>x</nav><p>Own</p><footer>Foot</footer>', 'Own\n\nFoot'],
    ['nothing else', '<nav>Only this</nav>', 'Only this'],
    ['an empty main', '<main></main><p>Own</p>', 'Own'],
  ])('takes the main part of a page: %s', (_, body, text) => {
    expect(only(read(html, 'a.html', `<title>T</title><body>${body}</body>`)).content).toBe(text)
  })

  it('repeats the header of a table in every part of it (QE-009)', () => {
    const rows = Array.from({ length: 90 }, (_, at) => `<tr><td>${at}<td>service ${at} of the plant`).join('')
    const { content, chunks } = only(
      read(html, 'a.html', `<h1>P</h1><table><tr><th>Port<th>Service</tr>${rows}</table><pre>a\n  b</pre>`),
    )
    expect(chunks.length).toBeGreaterThan(2)
    for (const { start, lead } of chunks.slice(1)) {
      expect(lead).toBe('Port Service')
      expect(content.charAt(start - 1)).toBe('\n')
    }
  })

  it('knows headings by their place in the text', () => {
    const text = `<h1>Top</h1><p>${'word '.repeat(80)}</p><h2> Sub  <i>head</i></h2><p>${'term '.repeat(80)}</p>`
    const document = only(read(html, 'a.html', text))
    expect(document.title).toBe('Top')
    expect(
      document.chunks.map(chunk => [document.content.slice(chunk.start, chunk.start + 8), chunk.headings]),
    ).toEqual([
      ['Top\n\nwor', ['Top']],
      ['Sub head', ['Top', 'Sub head']],
    ])
  })

  it.each([
    ['nothing', ''],
    ['a frame', '<html><body><script>x</script></body></html>'],
  ])('gives nothing for %s', (_, text) => {
    expect(read(html, 'a.html', text).documents).toEqual([])
  })

  it('survives deep and broken pages', () => {
    expect(only(read(html, 'a.html', `${'<div>'.repeat(50_000)}deep`)).content).toBe('deep')
    expect(only(read(html, 'a.html', '<p>a<![CDATA[b]]></q></p><h1>c')).content).toContain('a')
  })

  it('takes any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.constantFrom('<p>', '</b>', '<h1>', '</h2>', '<pre>', 'x', ' ', '\n', '<')),
        (a, b) => {
          for (const { content, chunks } of read(html, 'a.html', (a + b.join('')).toWellFormed()).documents) {
            expect(chunks.at(-1)?.end).toBe(content.length)
            expect(content.isWellFormed()).toBe(true)
          }
        },
      ),
    )
  })
})

it('HTML keeps a date among the metadata, beside the time of creation', () => {
  const page = only(read(html, 'a.html', '<meta name="date" content="2026-02-27"><p>Words</p>'))
  expect([page.createdAt, page.metadata['date']]).toEqual([Date.parse('2026-02-27'), '2026-02-27'])
})

describe('JSON Lines', () => {
  it('keep a date among the metadata, beside the time of creation', () => {
    const { createdAt, metadata } = only(
      read(jsonl, 'a.jsonl', '{"text":"x","date":"2026-02-27","created":"2026-01-01"}'),
    )
    expect([createdAt, metadata]).toEqual([Date.parse('2026-01-01'), { date: '2026-02-27' }])
    const alone = only(read(jsonl, 'a.jsonl', '{"text":"x","date":"2026-02-27"}'))
    expect([alone.createdAt, alone.metadata]).toEqual([Date.parse('2026-02-27'), { date: '2026-02-27' }])
  })

  it('takes one entry a line, by the usual names', () => {
    const text = [
      '{"_id": 7, "headline": "One", "body": "Text one", "labels": "a, b", "date": "2026-03-01", "year": 2020}',
      '',
      '{"id": "x", "title": "Two", "abstract": "Text two", "type": "paper", "published": "soon"}\r',
    ].join('\n')
    const { documents, problems } = read(jsonl, 'a.jsonl', text)
    expect(problems).toEqual([])
    expect(documents).toMatchObject([
      {
        id: '7',
        title: 'One',
        content: 'Text one',
        tags: ['a', 'b'],
        kind: 'document',
        createdAt: Date.parse('2026-03-01'),
        metadata: { year: 2020 },
        line: 1,
      },
      {
        id: 'x',
        title: 'Two',
        content: 'Text two',
        kind: 'paper',
        createdAt: null,
        metadata: { published: 'soon' },
        line: 3,
      },
    ])
  })

  it('takes fields as they are mapped, and those alone', () => {
    const text = '{"id": "x", "meta": {"head": "Mapped", "n": 1}, "title": "Not this", "text": ["One.", "Two."]}'
    const document = only(read(jsonl, 'a.jsonl', text, { title: 'meta.head', text: 'text', id: 'absent' }))
    expect(document).toMatchObject({
      id: null,
      part: expect.stringMatching(/^[0-9a-f]{16}$/),
      title: 'Mapped',
      content: 'One.\n\nTwo.',
    })
    expect(document.metadata).toMatchObject({ id: 'x', title: 'Not this' })
  })

  it('refuses a map that names a field we do not have', () => {
    expect(() => checkMap({ headline: 'title' })).toThrow(expect.objectContaining({ code: 'unknown_field' }))
    expect(() => checkMap({ text: 'body', created: 'when' })).not.toThrow()
  })

  it('lists bad lines with their numbers and reads the others', () => {
    const lines = [
      '{"id":"a","text":"x"}',
      '{"id":',
      '[1]',
      'null',
      '{"id":"a","text":"y"}',
      '{"text":{}}',
      '{"n":1}',
      '{"title":"t"}',
    ]
    const { documents, problems } = read(jsonl, 'a.jsonl', lines.join('\n'))
    expect(documents.map(document => document.line)).toEqual([1, 8])
    expect(problems).toEqual([
      { line: 2, message: expect.stringMatching(/^not JSON: /) },
      { line: 3, message: 'expected a JSON object' },
      { line: 4, message: 'expected a JSON object' },
      { line: 5, message: 'the id a occurred before' },
      { line: 6, message: 'the field text is not text' },
      { line: 7, message: 'it has neither a title nor a text; name the field that has it with a map' },
    ])
  })

  it('lists a hundred bad lines and counts the rest', () => {
    const { problems } = read(jsonl, 'a.jsonl', 'bad\n'.repeat(150))
    expect(problems).toHaveLength(101)
    expect(problems.at(-1)).toEqual({ line: null, message: '50 more lines could not be read' })
  })

  it('tells records without an id apart by what they hold, wherever they stand', () => {
    const first = read(jsonl, 'a.jsonl', '{"text":"a","n":1}\n{"text":"b"}').documents
    const moved = read(jsonl, 'a.jsonl', '{"text":"b"}\n{"n":1,"text":"a"}').documents
    expect(moved.map(document => document.part)).toEqual(first.map(document => document.part).reverse())
  })

  it('takes names of objects for names, and deep records for bad lines', () => {
    const text = `{"text":"a","__proto__":{"x":1},"constructor":"c"}\n{"text":"b","deep":${'['.repeat(100_000)}`
    const { documents, problems } = read(jsonl, 'a.jsonl', text)
    expect(documents[0]?.metadata).toMatchObject({ constructor: 'c' })
    expect(problems).toHaveLength(1)
  })
})

describe('values', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03', '2026-03-01T00:00:00.000Z'],
    [2026, '2026-01-01T00:00:00.000Z'],
    ['2026-03-01 10:20', '2026-03-01T10:20:00.000Z'],
    ['2026-03-01T10:20:30', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30.5Z', '2026-03-01T10:20:30.500Z'],
    ['2026-03-01 10:20:30 +0200', '2026-03-01T08:20:30.000Z'],
    [1_700_000_000, '2023-11-14T22:13:20.000Z'],
    [1_700_000_000_000, '2023-11-14T22:13:20.000Z'],
  ])('reads the time %j', (value, iso) => {
    expect(new Date(instantOf(value) ?? Number.NaN).toISOString()).toBe(iso)
  })

  it.each([['7d'], ['today'], ['soon'], ['2026-02-30'], [''], [null], [{}], [Number.NaN], [1e300]])(
    'reads no time in %j',
    value => {
      expect(instantOf(value)).toBeNull()
    },
  )

  it('reads tags of all sorts', () => {
    expect(tagsOf('#a b  #c')).toEqual(['a', 'b', 'c'])
    expect(tagsOf('two words, three')).toEqual(['two words', 'three'])
    expect(tagsOf(['x', 1, null, { y: 1 }, 'x', ''])).toEqual(['x', '1'])
    expect(tagsOf(undefined)).toEqual([])
  })
})
