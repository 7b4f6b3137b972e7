import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { describe, expect, it } from 'vitest'
import { openEngine } from '../../../src/engine/open.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { draftOf } from '../../../src/testing/entries.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { markdownStructure } from '../../../src/text/markdown-structure.ts'

function found(text: string): readonly string[] {
  return markdownStructure(text).headings.map(({ level, text }) => `${level} ${text}`)
}

/** Of this process, and so of this file. */
const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some(file => /[\\/]markdown-it[\\/]/.test(file))

describe('the parser of Markdown', () => {
  it('is loaded by no query, and by no text without a sign of structure (QE-009)', async () => {
    const content = '# Pumps\n\n```sh\nrun it\n```\n\n## Valves\n\nOpen them.\n'
    const store = openMemoryStore()
    const chunk = { start: 0, end: content.length, startLine: 1, endLine: 9, headings: ['Pumps'] }
    store.write(1, writer => writer.put({ ...draftOf({ id: 'a' }), content }, [chunk]))
    await using engine = await openEngine({ store, embedder: 'none', background: false })
    expect((await engine.query({ text: 'open valves', touch: false })).items).toHaveLength(1)
    expect(markdownStructure('Nothing but prose, over\ntwo lines.')).toEqual({ headings: [], blocks: [] })
    expect(isLoaded()).toBe(false)
    expect(markdownStructure('# A heading').headings).toHaveLength(1)
    expect(isLoaded()).toBe(true)
  })
})

describe('headings of Markdown', () => {
  it.each([
    ['# One\n## Two ##\n####### seven', ['1 One', '2 Two']],
    ['One\n===\nTwo\nlines\n---\n', ['1 One', '2 Two lines']],
    ['#not\n\\# not\n    # not', []],
    ['- item\n---\n> quote\n---\n\n---\n***', []],
    ['```\n# in a fence\n```\n~~~ x\n```\n# still\n~~~\n# out', ['1 out']],
    ['````\n```\n# still in\n````\n# out', ['1 out']],
    ['<!--\n# hidden\n-->\n# shown', ['1 shown']],
    ['<pre>\n\n# hidden\n</pre>\n# shown', ['1 shown']],
    ['<div>\n# hidden\n\n# shown\n</div>', ['1 shown']],
    ['# `parse()` of **the** [guide](x.md) \\* <a id="x"></a>', ['1 parse() of the guide *']],
    ['#\n## \n', ['1 ', '2 ']],
    ['# a\r\n\r\nb\r\n===\r\n', ['1 a', '1 b']],
    [`# ${'x'.repeat(2000)}`, []],
  ])('reads %j', (text, headings) => {
    expect(found(text)).toEqual(headings)
  })

  it('gives the span of the whole heading', () => {
    const text = 'a\n\n  # One #\n\nTwo\nlines\n---\nb'
    expect(markdownStructure(text).headings.map(({ start, end }) => text.slice(start, end))).toEqual([
      '  # One #',
      'Two\nlines\n---',
    ])
  })

  it('finds what the CommonMark parser finds, in documents of this repository and of installed packages', () => {
    const files = globSync([
      'docs/**/*.md',
      '*.md',
      'node_modules/{fast-check,hono,zod,vitest,yaml,ignore,parse5}/**/*.md',
    ])
      .filter(file => !file.includes('CHANGELOG'))
      .sort()
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      // The parser indents by tabs, which moves nothing but columns.
      const text = readFileSync(file, 'utf8').replaceAll('\t', '    ').slice(0, 60_000)
      const ours = markdownStructure(text).headings.map(
        heading => `${lineEnds(text, 0, heading.start) + 1} ${heading.level}`,
      )
      const theirs = fromMarkdown(text).children.flatMap(node =>
        node.type === 'heading' ? [`${node.position?.start.line} ${node.depth}`] : [],
      )
      expect(ours, file).toEqual(theirs)
    }
  })
})
