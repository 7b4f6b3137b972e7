/** Files longer than an entry may be are kept in parts (QE-019). */
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { inParts } from '../../../src/ingest/load-file.ts'
import { markdown } from '../../../src/ingest/markdown.ts'
import type { FileDocument } from '../../../src/model/ingester.ts'
import { MAX_CONTENT_LENGTH } from '../../../src/model/limits.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { tempFolder } from '../../support/temp-folder.ts'

function documentOf(text: string): FileDocument {
  const file = { path: 'a.md', name: 'a.md', extension: 'md', text, modifiedAt: 0 }
  return atOnce(markdown.read(file, { now: 0, map: {} })).documents[0] as FileDocument
}

const LINE = fc.oneof(
  fc.constantFrom('# One', '## Two', '', '| a | b |', '```', '- item'),
  fc.lorem({ maxCount: 30 }),
  fc.constant('word '.repeat(400)),
)

describe('a document in parts', () => {
  it('QE-019: loses nothing, and each part has its own chunks, offsets and lines', () => {
    fc.assert(
      fc.property(
        fc.array(LINE, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1500, max: 6000 }),
        (lines, most) => {
          const text = `start\n${lines.join('\n')}`
          const document = documentOf(text)
          const parts = inParts(document, most)
          expect(parts.map(({ content }) => content).join('')).toBe(text)
          if (text.length <= most) {
            expect(parts).toEqual([document])
            return
          }
          expect(parts.flatMap(({ chunks }) => chunks)).toHaveLength(document.chunks.length)
          expect(new Set(parts.map(({ part }) => part)).size).toBe(parts.length)
          for (const { content, chunks, metadata } of parts) {
            expect(content.length).toBeLessThanOrEqual(most)
            expect(chunks[0]?.start).toBe(0)
            expect(chunks.at(-1)?.end).toBe(content.length)
            const line = Number(metadata['first_line'])
            expect(lineEnds(text, 0, text.indexOf(content)) + 1).toBeLessThanOrEqual(line)
            for (const { start, end, startLine, endLine } of chunks) {
              expect(startLine).toBe(1 + lineEnds(content, 0, start))
              expect(endLine).toBe(startLine + lineEnds(content, start, Math.max(start, end - 1)))
            }
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  it('QE-019: is a file that is longer than an entry may be, found by its words and gone with it', async () => {
    using folder = tempFolder()
    const words = 'the quick brown fox jumps over the lazy dog and runs home\n'
    const filler = words.repeat(Math.ceil(MAX_CONTENT_LENGTH / words.length))
    const file = folder.file('log.txt')
    writeFileSync(file, `${filler}At last the aardvark came.\n`)
    await using engine = await openEngine({ home: folder.file('home'), create: true, embedder: 'none' })
    const { added, errors } = await engine.add({ paths: [file] })
    expect({ added, errors }).toEqual({ added: 2, errors: [] })
    const { items } = await engine.query({ text: 'aardvark' })
    expect(items[0]).toMatchObject({ title: 'log (part 2 of 2)', metadata: { part: 2, parts: 2 } })
    expect(items[0]?.excerpt.text).toContain('At last the aardvark came.')
    const line = filler.split('\n').length
    const { start_line: start = 0, end_line: end = 0 } = items[0]?.excerpt ?? {}
    const first = Number(items[0]?.metadata['first_line'])
    expect(line).toBeGreaterThanOrEqual(first + start - 1)
    expect(line).toBeLessThanOrEqual(first + end - 1)
    writeFileSync(file, 'short now\n')
    expect(await engine.add({ paths: [file] })).toMatchObject({ updated: 1, deleted: 1, errors: [] })
    expect((await engine.query({ text: 'aardvark' })).verdict).toBe('nothing_relevant')
  })

  it('QE-019: is needed for an entry that is put, too: the error says how long it may be', async () => {
    await using engine = await openEngine({ store: 'memory', embedder: 'none' })
    const content = 'x'.repeat(MAX_CONTENT_LENGTH + 1)
    await expect(engine.put({ entries: [{ id: 'a', content }] })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(`${MAX_CONTENT_LENGTH}`),
    })
  })
})
