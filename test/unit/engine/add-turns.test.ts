/** QE-019: each file that is added is decoded, parsed, cut and written in pauses for others, who never see a part of it. */
import { writeFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { openTestEngine } from '../../support/engines.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

const PARTS = 4_000
const RECORDS = 1_000
const partsOf = (part: (at: number) => string) => Array.from({ length: PARTS }, (_, at) => part(at)).join('')
const prose = (at: number) => `Rain falls on the field number ${at} and on all others. `

/** Turns of parsing, by the units of a step: of Markdown, HTML (and its nodes), lines of text, records. */
const FILES: Readonly<Record<string, readonly [text: string, parsing: (text: string) => number]>> = {
  'a.md': [partsOf(at => `## Section ${at}\n\n${prose(at)}\n\n- one\n- two\n`), text => text.length / (1 << 16)],
  'a.html': [
    `<main>${partsOf(at => `<h2>Section ${at}</h2><p>${prose(at)}</p>`)}</main>`,
    text => text.length / (1 << 15) + (4 * PARTS) / (1 << 12),
  ],
  'a.rst': [partsOf(at => `Section ${at}\n----------------\n\n${prose(at)}\n\n`), () => (3 * 5 * PARTS) / (1 << 13)],
  'a.org': [partsOf(at => `* Section ${at}\n\n${prose(at)}\n`), () => (2 * 3 * PARTS) / (1 << 13)],
  'a.adoc': [partsOf(at => `== Section ${at}\n\n${prose(at)}\n`), () => (2 * 3 * PARTS) / (1 << 13)],
  'a.txt': [partsOf(at => `${prose(at)}\n`), () => (2 * PARTS) / (1 << 13)],
  'a.ts': [partsOf(at => `export const field${at} = 'Rain falls on it.'\n`), text => text.length / (1 << 16)],
  // A turn a record: fewer do.
  'a.jsonl': [partsOf(at => (at < RECORDS ? `{"id":"r${at}","text":"${prose(at)}"}\n` : '')), () => RECORDS],
}

it.each(Object.entries(FILES))(
  'QE-019: %s is read in many turns and written in many',
  async (name, [text, parsing]) => {
    using folder = tempFolder()
    const path = folder.file(name)
    writeFileSync(path, text)
    await using engine = await openTestEngine({ home: folder.file('home') })
    const totals = new Set<number>()
    const { turns, result } = await turnsOf(
      () => engine.add({ paths: [path] }),
      async () => totals.add((await engine.list({})).total),
    )
    const { added, chunks } = result
    expect(added).toBe(name === 'a.jsonl' ? RECORDS : 1)
    // All of it or nothing.
    expect([...totals].filter(total => total !== 0 && total !== added)).toEqual([])
    const cutting = name === 'a.jsonl' ? 0 : text.length / 2 / (1 << 16)
    expect(turns).toBeGreaterThan(parsing(text) + cutting + chunks / 512)
  },
  PATIENCE_MS,
)
