/** Chunks of texts with tables, fenced code, lists and quotations: nothing is torn, and what is cut says what it is part of. */
import fc from 'fast-check'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import { describe, expect, it } from 'vitest'
import type { ChunkDraft } from '../../../src/model/entry.ts'
import { closingOf, countTokens } from '../../../src/text/blocks.ts'
import { chunkContent } from '../../../src/text/chunk.ts'
import { lineEnds, lineStarts } from '../../../src/text/lines.ts'
import { markdownStructure } from '../../../src/text/markdown-structure.ts'

/** Tokens of a chunk, and of the last one, without its lead. */
const CHUNK = 200
const LAST = 230

const cut = (text: string): readonly ChunkDraft[] => chunkContent(text, { format: 'markdown' })
const rows = (count: number, prefix = ''): string =>
  Array.from({ length: count }, (_, at) => `${prefix}| ${at} | service number ${at} of the plant |\n`).join('')
const code = (count: number, prefix = ''): string =>
  Array.from({ length: count }, (_, at) => `${prefix}call(${at}) # step ${at}\n`).join('')

describe('the chunks of Markdown', () => {
  it('repeat the header of a table in every part (QE-009)', () => {
    const text = `# Ports\n\nAll of them.\n\n| Port | Use |\n| ---: | :-- |\n${rows(3000)}\nThe end.\n`
    const chunks = cut(text)
    expect(chunks.length).toBeGreaterThan(100)
    for (const { start, lead } of chunks.slice(1, -1)) {
      expect(lead).toBe('| Port | Use |\n| ---: | :-- |')
      expect(text.slice(start)).toMatch(/^\| \d+ \|/)
      expect(text.charAt(start - 1)).toBe('\n')
    }
    expect(chunks[0]).not.toHaveProperty('lead')
    expect(chunks.at(-1)?.endLine).toBe(text.split('\n').length - 1)
  })

  it.each([
    ['a fence', '```sh\n', code(80), '```\n', '```sh', '```'],
    ['one in a list item', '1. First\n\n   ~~~~js\n', code(80, '   '), '   ~~~~\n', '   ~~~~js', '   ~~~~'],
    ['one that begins with the item', '- ```sh\n', code(80, '  '), '  ```\n', '  ```sh', '  ```'],
    ['one in a quotation', '> ```\n', code(80, '> '), '> ```\n', '> ```', '> ```'],
    ['one in a quotation in a list', '- > ```py\n', code(80, '  > '), '  > ```\n', '  > ```py', '  > ```'],
    ['a fence around fences', '````md\n', '```sh\n# no heading\nrun\n```\n'.repeat(30), '````\n', '````md', '````'],
    ['a fence that is never closed', '```\n', code(80), '', '```', '```'],
  ])('cut %s at its lines, open it again and close it (QE-009)', (_, opening, body, closing, lead, close) => {
    const text = `Some words.\n\n${opening}${body}${closing}`
    const chunks = cut(text)
    expect(chunks.length).toBeGreaterThan(1)
    for (const { start, headings, ...chunk } of chunks.slice(1)) {
      expect(chunk.lead).toBe(lead)
      expect(closingOf(chunk.lead ?? '')).toBe(close)
      expect(text.charAt(start - 1)).toBe('\n')
      expect(headings).toEqual([])
    }
    // The last line of the code and the line that closes it are in one chunk.
    expect(text.slice(chunks.at(-1)?.start).split('\n').length).toBeGreaterThan(closing === '' ? 1 : 2)
  })

  it('keep a fence, a table, an item and a quotation whole that fit in a chunk (QE-009)', () => {
    const prose = 'The ships went out in the morning and came back in the evening. '.repeat(9)
    for (const block of [
      `\`\`\`sh\n${code(18)}\`\`\`\n`,
      `| Port | Use |\n|--|--|\n${rows(14)}`,
      `- ${'one long item that goes on, and on. '.repeat(16)}\n`,
      `${'> a line that is quoted here. And more.\n'.repeat(14)}`,
    ]) {
      const text = `${prose}\n\n${block}\n${prose}`
      expect(countTokens(block)).toBeLessThanOrEqual(CHUNK)
      const from = text.indexOf(block)
      const holders = cut(text).filter(({ start, end }) => start <= from && end >= from + block.trimEnd().length)
      expect(holders.length, block).toBeGreaterThan(0)
    }
  })

  it('take no line of a fence for a heading, whatever holds the fence (QE-009)', () => {
    const inside = [
      '```\n# no\n```',
      '- ```\n  # no\n  ```',
      '> ```\n> # no\n> ```',
      '1. a\n\n   ```\n   # no\n   ```',
      '    # no',
    ]
    const text = `${inside.join('\n\ntext\n\n')}\n\n# yes\n`
    expect(markdownStructure(text).headings.map(heading => heading.text)).toEqual(['yes'])
  })

  it('cut a line of code that is longer than a chunk, and no other', () => {
    const text = `\`\`\`json\n{\n${'"key": "value of it", '.repeat(200)}\n}\n\`\`\`\n`
    const chunks = cut(text)
    expect(chunks.length).toBeGreaterThan(3)
    for (const { start, end } of chunks) expect(countTokens(text.slice(start, end))).toBeLessThanOrEqual(LAST)
    expect(chunks.slice(1).map(({ lead }) => lead)).toEqual(chunks.slice(1).map(() => '```json'))
  })

  it('leave room for the header of a wide table', () => {
    const names = Array.from({ length: 30 }, (_, at) => `name${at}`).join(' | ')
    const text = `| ${names} |\n|${'---|'.repeat(30)}\n${`| ${'x | '.repeat(30)}\n`.repeat(60)}`
    for (const { start, lead = '' } of cut(text).slice(1)) {
      expect(lead.startsWith('| name0 |')).toBe(true)
      expect(text.charAt(start - 1)).toBe('\n')
    }
  })
})

const word = fc.constantFrom(
  'alpha',
  'beta',
  'gamma.',
  'delta',
  'Epsilon',
  'zeta,',
  'x'.repeat(40),
  '漢字',
  '`code`',
  '**b**',
)
const words = (max: number) => fc.array(word, { minLength: 1, maxLength: max }).map(list => list.join(' '))
const table = fc
  .tuple(words(3), fc.array(words(4), { minLength: 1, maxLength: 80 }))
  .map(([name, cells]) =>
    [`| ${name} | b |`, '| --- | --- |', ...cells.map((cell, at) => `| ${cell} | ${at} |`)].join('\n'),
  )
const fence = fc
  .tuple(
    fc.constantFrom('```', '~~~', '````'),
    fc.constantFrom('', 'sh', 'ts'),
    fc.array(fc.oneof(words(6), fc.constantFrom('', '# no', '  in', '``')), { maxLength: 80 }),
    fc.boolean(),
  )
  .map(([mark, info, lines, isClosed]) => [mark + info, ...lines, ...(isClosed ? [mark] : [])].join('\n'))
const prose = fc.array(words(30), { minLength: 1, maxLength: 6 }).map(lines => lines.join('\n'))
const heading = fc
  .tuple(fc.integer({ min: 1, max: 4 }), words(4))
  .map(([level, text]) => `${'#'.repeat(level)} ${text}`)
const setext = words(4).map(text => `${text}\n---`)
const leaf = fc.oneof(
  table,
  fence,
  prose,
  heading,
  setext,
  fc.constantFrom('<div>\n# in\n</div>', '***', '    indented\n    code', '[a]: b'),
)
const indented = (text: string, first: string, rest: string) => first + text.replaceAll('\n', `\n${rest}`)
const nested = fc.oneof(
  { weight: 5, arbitrary: leaf },
  { weight: 1, arbitrary: leaf.map(text => indented(text, '> ', '> ')) },
  { weight: 1, arbitrary: leaf.map(text => indented(text, '- ', '  ')) },
  {
    weight: 1,
    arbitrary: fc.tuple(leaf, leaf).map(([a, b]) => `${indented(a, '1. ', '   ')}\n\n   ${indented(b, '', '   ')}`),
  },
  { weight: 1, arbitrary: leaf.map(text => indented(indented(text, '> ', '> '), '- ', '  ')) },
)
const markdown = fc
  .tuple(fc.array(nested, { maxLength: 12 }), fc.constantFrom('\n\n', '\n'), fc.constantFrom('\n', '\r\n'))
  .map(([parts, between, end]) => parts.join(between).replaceAll('\n', end))

/** Fences and tables as another parser of CommonMark sees them: first and last line, from 1. */
function judged(text: string): readonly { readonly kind: string; readonly first: number; readonly last: number }[] {
  const found: { kind: string; first: number; last: number }[] = []
  type Node = ReturnType<typeof fromMarkdown>['children'][number]
  const visit = (node: Node): void => {
    const isFence = node.type === 'code' && /^[`~]/.test(text.slice(node.position?.start.offset))
    const { start, end } = node.position ?? {}
    // One that is never closed ends at the first column behind the list or quotation that it is in.
    const last = (end?.line ?? 0) - (end?.column === 1 ? 1 : 0)
    if (isFence || node.type === 'table') found.push({ kind: node.type, first: start?.line ?? 0, last })
    if ('children' in node) for (const child of node.children) visit(child as Node)
  }
  const tree = fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] })
  for (const node of tree.children) visit(node)
  return found
}

/** Whether the lines in front, back to the nearest blank one, hold a table: what follows are rows of it. */
function followsTable(lines: readonly string[], at: number): boolean {
  const blank = lines.slice(0, at).findLastIndex(line => line.trim() === '')
  return lines.slice(blank + 1, at).some(line => /^[>\s]*\|[\s|:-]+$/.test(line))
}

describe('any Markdown', () => {
  it('is covered by its chunks, with the lines of the author (QE-009)', () => {
    fc.assert(
      fc.property(markdown, text => {
        const chunks = cut(text)
        let covered = 0
        let before = -1
        for (const { start, end, startLine, endLine } of chunks) {
          expect(start).toBeLessThanOrEqual(covered)
          expect(start).toBeGreaterThan(before)
          expect(end).toBeGreaterThanOrEqual(covered)
          expect(startLine).toBe(1 + lineEnds(text, 0, start))
          expect(endLine).toBe(1 + lineEnds(text, 0, Math.max(start, end - 1)))
          covered = end
          before = start
        }
        expect(covered).toBe(text.length)
      }),
      { numRuns: 400 },
    )
  })

  it('has no fence and no table that is torn, and every part of a table has its header (QE-009)', () => {
    fc.assert(
      fc.property(markdown, text => {
        const lines = text.split(/(?<=\n)/)
        const starts = lineStarts(text)
        for (const { kind, first, last } of judged(text)) {
          // The judge may begin another table in the rows of one that follows a list or quotation without a blank line; GFM does not.
          if (kind === 'table' && followsTable(lines, first - 1)) continue
          const [from, to] = [starts[first - 1] as number, starts[last] as number]
          const inside = cut(text).filter(({ start }) => start > from && start < to)
          const isShort = countTokens(text.slice(from, to)) <= CHUNK
          expect(isShort ? inside : [], `${kind} at line ${first}`).toEqual([])
          for (const { start, lead = '' } of inside) {
            const line = lines[starts.indexOf(start)]
            const isLongLine = starts.indexOf(start) < 0
            if (isLongLine)
              expect(countTokens(lines.find((_, at) => (starts[at + 1] as number) > start) ?? '')).toBeGreaterThan(
                CHUNK,
              )
            else expect(line).toBeDefined()
            const own = (lines[first - 1] as string).trimEnd().replace(/^[-\d.>\s]*(?=[|`~])/, '')
            expect(
              lead
                .split('\n')[0]
                ?.trimStart()
                .replace(/^[>\s]*/, ''),
            ).toBe(own)
            if (kind === 'code') expect(closingOf(lead)).not.toBe('')
          }
        }
      }),
      { numRuns: 400 },
    )
  })
})
