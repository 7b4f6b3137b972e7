/** The page, slide, rows or cell of a result, however it is asked for. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { INTERFACES, type Interface } from './interfaces.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/documents/', import.meta.url))

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder()
  mkdirSync(join(folder.path, 'home'))
})
afterEach(() => folder[Symbol.dispose]())

const PLACES = [
  ['reportlab.pdf', 'formic acid', ['Autumn', 'page 3']],
  ['python-pptx.pptx', 'last boat', ['Winter service', 'slide 2']],
  ['openpyxl.xlsx', 'copper elbow', ['Inventory', 'rows 31-45']],
  ['nbformat.ipynb', 'spring tide', ['Tide gauge analysis', 'Conclusion', 'cell 5']],
] as const

describe.each(['library', 'cli', 'http', 'mcp'])('a result, through %s,', { timeout: 120_000 }, name => {
  let via: Interface
  beforeEach(async () => {
    const open = INTERFACES[name] as (typeof INTERFACES)[string]
    via = await open({ home: join(folder.path, 'home'), now: '2026-03-01T12:00:00Z', embedder: 'none' })
  })
  afterEach(() => via[Symbol.asyncDispose]())

  it('names its place in the document', async () => {
    expect(await via.call('add', { paths: PLACES.map(([file]) => join(FIXTURES, file)) })).toMatchObject({
      result: { added: PLACES.length, errors: [] },
    })
    for (const [, text, section] of PLACES) {
      expect(await via.call('query', { text, limit: 1 }), text).toMatchObject({
        result: { items: [{ excerpt: { section } }] },
      })
    }
  })
})
