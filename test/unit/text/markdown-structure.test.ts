import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { describe, expect, it } from 'vitest'
import { openEngine } from '../../../src/engine/open.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { markdownStructure, markdownStructureInSteps } from '../../../src/text/markdown-structure.ts'
import { draftOf } from '../../support/entries.ts'

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

describe('a long document, which is parsed in windows (QE-019)', () => {
  /** More than a window, and more than the longest one. */
  const [WINDOW, LONGEST] = [1 << 16, 1 << 17]
  const linesOf = (units: number, line: (at: number) => string) => {
    const lines: string[] = []
    for (let length = 0, at = 0; length < units; at++) length += lines[lines.push(line(at)) - 1]?.length ?? 0
    return lines
  }
  const stepsOf = (text: string) => {
    const steps = markdownStructureInSteps(text)
    for (let count = 1; ; count++) {
      const step = steps.next(false)
      if (step.done === true) return { count, ...step.value }
    }
  }

  it('has the headings and blocks of its parts, wherever the windows end', () => {
    const partOf = (at: number) =>
      [
        `# Part ${at}\n\nText of it\nin lines.\n\n- one\n- two\n  - inner\n\n  more of it\n- three\n`,
        `1. first\n\n   ~~~\n   # no heading\n   ~~~\n2. second\n\n> quoted\nlazily\n> - item\n>\n> more\n\n    code\n\n    more code\n`,
        `| a | b |\n| - | - |\n${`| ${at} | x |\n`.repeat(at % 9)}\n<div>\n# no heading\n</div>\n\nUnderlined\n---\n`,
        `\`\`\`js\n# no heading\n\n- no item\n${'code()\n'.repeat(at % 40)}\`\`\`\n${'\n'.repeat(at % 3)}`,
      ].join('\n')
    const parts = Array.from({ length: 2_000 }, (_, at) => partOf(at))
    const text = parts.join('')
    const [headings, blocks]: [unknown[], unknown[]] = [[], []]
    let start = 0
    for (const part of parts) {
      const moved = <T extends object>(one: T) =>
        Object.fromEntries(
          Object.entries(one).map(([name, value]) => [
            name,
            ['start', 'end', 'from', 'until'].includes(name) ? value + start : value,
          ]),
        )
      const structure = markdownStructure(part)
      headings.push(...structure.headings.map(moved))
      blocks.push(...structure.blocks.map(moved))
      start += part.length
    }
    const found = stepsOf(text)
    expect(found.headings).toEqual(headings)
    expect(found.blocks).toEqual(blocks)
    expect(found.count).toBeGreaterThan(text.length / WINDOW)
    // With the other line ends too.
    const crlf = markdownStructure(text.replaceAll('\n', '\r\n'))
    expect(crlf.headings.map(({ text: said }) => said)).toEqual(found.headings.map(({ text: said }) => said))
    expect(crlf.blocks).toHaveLength(found.blocks.length)
  })

  it.each([
    ['list', (at: number) => `- item ${at}\n  and more\n`, 1],
    ['numbered list', (at: number) => `${at + 1}. item ${at}\n\n`, 1],
  ])('a %s has a block for each item, from its mark to the next', (_, line) => {
    const lines = linesOf(3 * LONGEST, line)
    const { blocks, count } = stepsOf(`${lines.join('')}\n# behind\n`)
    const expected: { start: number; end: number }[] = []
    for (const item of lines) {
      const start = expected.at(-1)?.end ?? 0
      expected.push({ start, end: start + item.length })
    }
    // Blank lines behind an item are none of it.
    expect(blocks.map(({ start: from }) => from)).toEqual(expected.map(item => item.start))
    for (const [at, block] of blocks.entries()) expect(block.end).toBeLessThanOrEqual(expected[at]?.end ?? 0)
    expect(count).toBeGreaterThan(5)
  })

  it.each([
    ['fence', '```js\n', (at: number) => `# line ${at}\n`, '```\n', '```js'],
    ['fence in signs of another', '~~~\n', (at: number) => `\`\`\`\n- ${at}\n`, '~~~~\n', '~~~'],
    ['table', '| a | b |\n| - | - |\n', (at: number) => `| ${at} | x |\n`, '', '| a | b |\n| - | - |'],
  ])('a %s is one block, and what follows it is read', (_, opening, line, closing, lead) => {
    const block = `${opening}${linesOf(3 * LONGEST, line).join('')}${closing}`
    const text = `# before\n\n${block}\n## behind\n\n- item\n`
    const { headings, blocks, count } = stepsOf(text)
    expect(headings.map(heading => heading.text)).toEqual(['before', 'behind'])
    const start = text.indexOf(opening)
    expect(blocks).toMatchObject([{ start, end: start + block.length, lead }, { end: text.length }])
    expect(blocks[0]?.until).toBe(start + block.length - closing.length)
    expect(count).toBeGreaterThan(5)
  })

  it.each([
    ['fence that nothing closes', '```\n', (at: number) => `line ${at}\n`],
    ['block of code', '', (at: number) => `    line ${at}\n`],
    ['quotation', '', (at: number) => `> line ${at}\n`],
    ['quoted list', '', (at: number) => `> - item ${at}\n`],
    ['item', '- item\n', (at: number) => `  - inner ${at}\n`],
  ])('a %s lies in blocks without a gap, none longer than the longest window but a fence', (name, opening, line) => {
    const text = `${opening}${linesOf(3 * LONGEST, line).join('')}`
    const { blocks, count } = stepsOf(text)
    let end = 0
    for (const block of blocks.filter(({ end: to }) => to > end)) {
      expect(block.start).toBeLessThanOrEqual(end)
      if (!name.startsWith('fence')) expect(block.end - block.start).toBeLessThan(LONGEST + 99)
      end = Math.max(end, block.end)
      if (end === text.length) break
    }
    expect(end).toBe(text.length)
    expect(count).toBeGreaterThan(3)
  })
})
