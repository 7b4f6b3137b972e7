/** What reads files: Markdown with front matter, HTML, JSONL, code, plain text, and the chunks of the lens c64. */

import { atOnce } from '../../../src/base/turns.ts'
import { extensionOf } from '../../../src/ingest/file-types.ts'
import { ingesterFor } from '../../../src/ingest/load-file.ts'
import { chunkIngester } from '../../../src/lenses/c64/chunk-ingester.ts'
import type { Ingester } from '../../../src/model/ingester.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { filesNear, type NamedText, type Target } from '../inputs.ts'
import { assertEqual, must } from '../oracles.ts'

/** Below `c64/` as that lens reads. */
const NAMES = ['a.md', 'c64/a.md', 'c64/example_b.md', 'page.html', 'data.jsonl', 'notes.txt', 'code.py', 'a.csv']

const WORDS: readonly string[] = [
  ...'---\n¦\n---\n¦# ¦## ¦\n\n¦- ¦> ¦```¦~~~\n¦    ¦|¦| - |\n¦[a](b)¦![¦<!--¦-->¦title: '.split('¦'),
  ...'tags: [a, b]\n¦date: 2026-01-01\n¦valid_from: ¦valid_until: ¦&a ¦*a¦!!binary ¦<<: ¦? ¦<'.split('¦'),
  ...'>¦</¦<p>¦<table><td>¦<script>¦</script¦<title>¦<meta name="date" content="¦<pre>¦&amp;'.split('¦'),
  ...'&#x¦&#0;¦&nbsp;¦<![CDATA[¦<template>¦<svg>¦<math>¦<li>¦<br/>¦hidden¦<!doctype html>'.split('¦'),
  ...'{"id":"a","content":"b"}\n¦{"id":¦{"tags":["a"]}¦"text":¦"created_at":1e400¦[1,2]'.split('¦'),
  ...'{"__proto__":¦\\u0000'.split('¦'),
]

const SEEDS: readonly NamedText[] = [
  {
    name: 'a.md',
    text: '---\ntitle: "A"\ntags: [a, "#b"]\nkeywords: c, d\ndate: 2026-03-01\nvalid_until: 2027-01-01\nx: {y: [1, .nan]}\n---\n# Head\n\nWords.\n\n## Inner\n\n- one\n- two\n\n```ts\nconst a = 1\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nUnder\n=====\n\nEnd.',
  },
  {
    name: 'page.html',
    text: '<!doctype html><html lang="en"><head><title>T &amp; U</title><meta name="keywords" content="a, b"><meta property="article:published_time" content="2026-01-01"></head><body><nav>no</nav><main><h1>Head</h1><p>Words <b>bold</b><br>line</p><pre>code\n  more</pre><ul><li>one<li>two</ul><table><tr><td>1<td>2</table><h2>Inner</h2><p>End</main><script>no()</script></body></html>',
  },
  {
    name: 'data.jsonl',
    text: '{"id":"a","title":"T","content":"words","tags":["x"],"created_at":"2026-01-01","metadata":{"n":1}}\n\n{"text":"b","valid_from":1,"valid_until":2,"kind":"k"}\nnot json\n[1]\n{"content":7}\n',
  },
  { name: 'notes.txt', text: 'One.\n\nTwo, which is longer.\r\n\r\n  Three\fFour' },
  {
    name: 'code.py',
    text: 'import os\n\nclass A:\n    """Doc."""\n    def b(self):\n        return 1\n\n\ndef c():\n    pass\n',
  },
  {
    name: 'c64/a.md',
    text: '# POKE\n\nPOKE 53280,0 sets the border.\n\nTags: vic, #color\nReferences:\n- $D020: border colour\n- [SID](sid.md)\n\n---\ntags: [a]\n',
  },
]

export const readers: Target<NamedText> = {
  near: good => filesNear(good, NAMES, WORDS, 60_000),
  seeds: SEEDS,
  open: async () => ({ try: fitting }),
}

function fitting({ name: path, text }: NamedText): void {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const file = { path, name, extension: extensionOf(name), text, modifiedAt: 0 }
  const lensReaders: readonly Ingester[] = path.startsWith('c64/') ? [chunkIngester] : []
  const reader = ingesterFor(file, lensReaders)
  if ('readBytes' in reader) return
  const reading = atOnce(reader.read(file, { now: 0, map: {} }))
  assertEqual(atOnce(reader.read(file, { now: 0, map: {} })), reading, 'read again')
  const lines = 1 + lineEnds(text, 0, text.length)
  for (const { content, chunks, line, metadata, tags } of reading.documents) {
    must(line === null || (line >= 1 && line <= lines), `line ${line} of ${lines}`)
    must(
      tags.every(tag => tag !== ''),
      'an empty tag',
    )
    assertEqual(JSON.parse(JSON.stringify(metadata)), metadata, 'metadata that is no JSON')
    for (const { start, end } of chunks) {
      must(
        start >= 0 && (start < end || content === '') && end <= content.length,
        `a chunk from ${start} to ${end} of ${content.length}`,
      )
    }
    must(inOrder(chunks.map(chunk => chunk.start)), 'chunks out of order')
  }
  for (const { line, message } of reading.problems) {
    must(message !== '' && message.length < 2_000, `a problem of ${message.length} characters`)
    must(line === null || (line >= 1 && line <= lines), `a problem in line ${line} of ${lines}`)
  }
}

function inOrder(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] as number))
}
