/**
 * How awkward documents are cut, to be read by people: beside each document a file with its title and its chunks as they are shown, what
 * a part repeats marked with `+`. After a change that is meant: `npm test -- test/goldens -u`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../src/base/turns.ts'
import { ingesterFor, named } from '../../src/ingest/load-file.ts'
import type { FileDocument, Ingester } from '../../src/model/ingester.ts'
import { closingOf } from '../../src/text/blocks.ts'
import { openBlockAt } from '../../src/text/excerpt.ts'

const FOLDER = fileURLToPath(new URL('chunks/', import.meta.url))
const ENDING = '.chunks.txt'
/** Chunks of a long document that are shown from its beginning and from its end. */
const SHOWN = 2

const documents = readdirSync(FOLDER).filter(name => !name.endsWith(ENDING))

/** Too long to be kept. */
const TABLE = `# Ports\n\n| Port | Service |\n| ---- | ------- |\n${Array.from({ length: 3_000 }, (_, at) => `| ${at} | service ${at} of the plant |\n`).join('')}`

function textOf(name: string): string {
  return name === 'table-of-3000-lines.md' ? TABLE : readFileSync(join(FOLDER, name), 'utf8')
}

function shown({ title, content, chunks }: FileDocument): string {
  const parts = chunks.map((chunk, at) => {
    const { start, end, startLine, endLine, headings, lead = '', sections = [] } = chunk
    const text = content.slice(start, end)
    const closing = closingOf(openBlockAt(text, text.length + 1, lead))
    const repeated = (lines: string) => (lines === '' ? [] : lines.split('\n').map(line => `+ ${line}`))
    const within = sections.map(section => `    from ${section.at}: ${section.headings.join(' > ') || '(none)'}`)
    return [
      `--- ${at + 1}: lines ${startLine} to ${endLine}; ${headings.join(' > ') || '(no section)'}`,
      ...within,
      ...repeated(lead),
      ...text
        .trimEnd()
        .split(/\r?\n/)
        .map(line => `  ${line}`.trimEnd()),
      ...(end < content.trimEnd().length ? repeated(closing) : []),
    ].join('\n')
  })
  const left = parts.length - 2 * SHOWN
  const some = left > 20 ? [...parts.slice(0, SHOWN), `... ${left} more`, ...parts.slice(-SHOWN)] : parts
  return `title: ${title}\n\n${some.join('\n\n')}\n`
}

describe('an awkward document', () => {
  it.each([...documents, 'table-of-3000-lines.md'])('%s is cut as its golden says (QE-009)', async name => {
    const text = textOf(name)
    const file = { ...named(name), text, modifiedAt: 0 }
    const { documents, problems } = atOnce((ingesterFor(file, []) as Ingester).read(file, { now: 0, map: {} }))
    expect(problems).toEqual([])
    await expect(documents.map(shown).join('\n')).toMatchFileSnapshot(join(FOLDER, `${name}${ENDING}`))
  })

  it('has a golden, and there are twenty of them at least', () => {
    expect(documents.length).toBeGreaterThanOrEqual(20)
  })
})
