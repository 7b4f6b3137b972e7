/** Files that are not what they seem: each is named in the report with the reason, and leaves the store as it was. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inDocumentThread } from '../../src/ingest/documents/documents.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { zipOf } from '../support/zip-writer.ts'
import { INTERFACES, type Interface } from './interfaces.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/documents/', import.meta.url))
const fixture = (name: string) => readFileSync(join(FIXTURES, name))

const CONTENT = '<w:document xmlns:w="urn:w"><w:body>'
const docx = (document: string) => zipOf({ 'word/document.xml': document })
const MEGABYTE = 1024 * 1024

/** Pages without text, as a scanner makes them; `pages` of them share one. */
function pdf(pages: number, extra = ''): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => `${at + 4} 0 R`).join(' ')
  const objects = [
    `<</Type/Catalog/Pages 2 0 R${extra}>>`,
    `<</Type/Pages/Count ${pages}/Kids[${kids}]>>`,
    '<</Length 0>>stream\n\nendstream',
    ...Array.from({ length: pages }, () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R>>'),
  ]
  let body = '%PDF-1.4\n'
  const places = objects.map((object, at) => {
    const place = body.length
    body += `${at + 1} 0 obj${object}endobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`
  return Buffer.from(`${body}${table}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF`)
}

const SECRET = '<</Filter/Standard/V 1/R 2/Length 40/P -4/O<' // the rest is made up: no password opens it
const ENCRYPTION = `${SECRET}${'41'.repeat(32)}>/U<${'42'.repeat(32)}>>>`

type Hostile = readonly [name: string, bytes: () => string | Uint8Array, reason: RegExp]

const FAILED: readonly Hostile[] = [
  ['truncated.docx', () => fixture('pandoc.docx').subarray(0, 6_000), /^the archive is damaged: /],
  ['truncated.pdf', () => fixture('reportlab.pdf').subarray(0, 200), /^damaged: /],
  ['text.pdf', () => 'Just text, whatever the name says.', /^not a PDF: /],
  ['html.docx', () => '<html>Saved by a web page</html>', /^not a Word document: it is not a ZIP archive$/],
  ['workbook.docx', () => fixture('openpyxl.xlsx'), /has no word\/document[.]xml$/],
  ['old.xlsx', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), /binary format of older programs/],
  ['ratio.docx', () => docx(CONTENT + ' '.repeat(30 * MEGABYTE)), /packed to less than 1\/250 of its size$/],
  [
    'size.docx',
    () => zipOf({ 'word/document.xml': { content: CONTENT, saysSize: 600 * MEGABYTE } }),
    /packed to less than 1\/250|unpacks to more than/,
  ],
  [
    'more-than-it-says.docx',
    () => zipOf({ 'word/document.xml': { content: ' '.repeat(2 * MEGABYTE), saysSize: 100 } }),
    /^the archive is damaged: /,
  ],
  ['deep.docx', () => docx(CONTENT + '<w:p>'.repeat(5_000)), /nested more than 1000 deep$/],
  ['broken.docx', () => docx(`${CONTENT}<w:p></w:body>`), /not well-formed/],
  [
    'entities.docx',
    () => docx(`<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>${CONTENT}<w:p>&b;</w:p>`),
    /not well-formed/,
  ],
  ['pages.pdf', () => pdf(10_001), /^it has 10001 pages; at most 10000 are read$/],
  ['deep.rtf', () => `{\\rtf1 ${'{'.repeat(100_000)}`, /nested more than 1000 deep$/],
  ['not.eml', () => 'Nothing like a mail', /^not a mail: /],
  ['broken.ipynb', () => '{"cells": [', /^not a notebook: /],
  ['other.ipynb', () => '{"a": 1}', /^not a notebook: it has no list of cells$/],
  ['lyrics.srt', () => 'La la la', /^not subtitles: /],
]

const SKIPPED: readonly (readonly [name: string, bytes: () => string | Uint8Array, reason: string])[] = [
  [
    'encrypted.pdf',
    () => pdf(1).toString('latin1').replace('/Root', `/ID[<00><00>]/Encrypt ${ENCRYPTION}/Root`),
    'encrypted',
  ],
  ['encrypted.docx', () => zipOf({ 'word/document.xml': { content: CONTENT, isEncrypted: true } }), 'encrypted'],
  [
    'password.docx',
    () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    'encrypted',
  ],
  ['scanned.pdf', () => pdf(3), 'no_text'],
  ['scripts.pdf', () => pdf(1, '/OpenAction<</S/JavaScript/JS(while\\(true\\){})>>'), 'no_text'],
  ['empty.pdf', () => '', 'empty'],
  ['empty.docx', () => '', 'empty'],
]

interface Report {
  readonly result: {
    readonly errors: readonly { readonly path: string; readonly message: string }[]
    readonly skipped: readonly object[]
  }
}

describe('documents that cannot be read', () => {
  let folder: TempFolder
  let library: Interface
  beforeAll(async () => {
    folder = tempFolder()
    mkdirSync(join(folder.path, 'home'))
    mkdirSync(join(folder.path, 'files'))
    library = await (INTERFACES['library'] as (typeof INTERFACES)[string])({
      ...{ home: join(folder.path, 'home'), now: '2026-03-01T12:00:00Z', embedder: 'none' },
    })
  })
  afterAll(async () => {
    await library[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const add = async (name: string, bytes: string | Uint8Array) => {
    const path = join(folder.path, 'files', name)
    writeFileSync(path, bytes)
    const outcome = (await library.call('add', { paths: [path] })) as Report
    return { path, ...outcome }
  }
  const list = () => library.call('list', {})

  it.each(FAILED)('%s is an error with its reason', async (name, bytes, reason) => {
    const before = await list()
    const { path, result } = await add(name, bytes())
    expect(result).toMatchObject({ added: 0, updated: 0, deleted: 0, skipped: [] })
    expect(result.errors).toEqual([{ path, message: expect.stringMatching(reason) }])
    expect(await list()).toEqual(before)
  })

  it.each(SKIPPED)('%s is skipped with its reason', async (name, bytes, reason) => {
    const before = await list()
    const { path, result } = await add(name, bytes())
    expect(result).toMatchObject({ added: 0, updated: 0, deleted: 0, errors: [] })
    expect(result.skipped).toEqual([{ path, reason }])
    expect(await list()).toEqual(before)
  })

  it('keeps the entry of a document that can no longer be read, and stops no other file', async () => {
    await add('kept.docx', fixture('pandoc.docx'))
    const before = await list()
    writeFileSync(join(folder.path, 'files/kept.docx'), fixture('pandoc.docx').subarray(0, 6_000))
    const one = join(folder.path, 'files/kept.docx')
    const { result } = (await library.call('add', { paths: [one] })) as Report
    expect(result.errors).toHaveLength(1)
    expect(await list()).toEqual(before)
    expect(await add('next.docx', fixture('python-docx.docx'))).toMatchObject({ result: { added: 1, errors: [] } })
  })

  it('ends the thread of a document that takes too long, and reads the next one', async () => {
    const request = (name: string) => {
      const bytes = new Uint8Array(fixture(name))
      const file = { path: name, name, extension: 'pdf' }
      return { format: 'pdf', bytes, file } as const
    }
    const { signal } = new AbortController()
    expect(await inDocumentThread(request('reportlab.pdf'), signal, 0)).toEqual({
      ...{ kind: 'failed', message: 'reading it took more than 0 seconds' },
    })
    expect(await inDocumentThread(request('reportlab.pdf'), signal)).toMatchObject({ kind: 'text' })
  })
})
