/** A file that is added as a document and as code is one entry with two faces (QE-013). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import type { Page } from '../../src/model/page.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { MCP_ENV } from './mcp-client.ts'

const NOTE =
  '---\ntitle: Backup policy\n---\n# Backup policy\n\nCopies each night.\n\n## When a disk dies\n\nRestore the copies.\n'
const CODE = '/** Restores copies. */\nexport function restoreCopies(): number {\n  return 1\n}\n'

async function folderWith(order: readonly (readonly string[])[]): Promise<TempFolder> {
  const home = tempFolder()
  mkdirSync(join(home.path, 'notes'))
  writeFileSync(join(home.path, 'notes', 'backup policy.md'), NOTE)
  writeFileSync(join(home.path, 'restore.ts'), CODE)
  expect(await querentHere(['init'], { cwd: home.path, env: MCP_ENV })).toMatchObject({ status: 0 })
  for (const args of order)
    expect(await querentHere(args, { cwd: home.path, env: MCP_ENV })).toMatchObject({ status: 0 })
  return home
}

function shown({ items }: Page) {
  return items.map(({ title, excerpt }) => [
    title,
    excerpt?.text.includes('\nDocument\n') || excerpt?.text.includes('\nSection\n'),
  ])
}

const ORDERS = {
  'first as document': [
    ['add', 'notes', '--collection', 'notes'],
    ['add', '--code', '.'],
  ],
  'first as code': [
    ['add', '--code', '.'],
    ['add', 'notes', '--collection', 'notes'],
  ],
}

describe.each(Object.entries(ORDERS))('A file that is added as document and as code, %s (QE-013):', (_, order) => {
  it('is in an answer once, as its author wrote it', async () => {
    using home = await folderWith(order)
    await using engine = await openEngine({ home: join(home.path, '.querent'), embedder: 'none', background: false })
    const page = await engine.query({ text: 'backup copies disk' })
    const ofNote = page.items.filter(({ origin }) => origin?.endsWith('.md'))
    expect(shown({ ...page, items: ofNote })).toEqual([['Backup policy', false]])
    expect(ofNote[0]?.collection).toBe('notes')
    // What is code alone keeps its file, its module and its function.
    expect(page.items.filter(({ origin }) => origin?.endsWith('.ts')).length).toBe(3)
  })
})

describe('A result that is code', () => {
  const at = ({ items }: Page) => items.find(({ title }) => title === 'restoreCopies')?.excerpt

  it('shows what its author wrote, at the lines of the file, also after it has moved', async () => {
    using home = tempFolder()
    const code = (blanks: number) => `${'\n'.repeat(blanks)}${CODE}`
    writeFileSync(join(home.path, 'restore.ts'), code(300))
    const run = (...args: readonly string[]) => querentHere(args, { cwd: home.path, env: MCP_ENV })
    const ask = async () => JSON.parse((await run('query', 'restore copies', '--json')).stdout) as Page
    expect(await run('add', '--code', '.')).toMatchObject({ status: 0 })
    const text = 'Restores copies.\nexport function restoreCopies(): number {\n  return 1\n}'
    expect(at(await ask())).toMatchObject({ text, start_line: 302, end_line: 304 })
    writeFileSync(join(home.path, 'restore.ts'), code(10))
    expect(await run('sync')).toMatchObject({ status: 0 })
    expect(at(await ask())).toMatchObject({ text, start_line: 12, end_line: 14 })
  })
})

describe('A file that is added as document and as code (QE-013)', () => {
  it('is in a list once, and answers as code where only that fulfils the conditions or that lens is asked', async () => {
    using home = await folderWith(ORDERS['first as document'])
    await using engine = await openEngine({ home: join(home.path, '.querent'), embedder: 'none', background: false })
    const ask = async (text: string, more: object = {}) => (await engine.query({ text, ...more })).items
    const origins = async (text: string, more: object = {}) => (await ask(text, more)).map(({ kind }) => kind).sort()
    expect(await origins('origin:policy.md')).toEqual(['document'])
    expect(await origins('origin:policy.md copies')).toEqual(['document'])
    expect(await origins('copies', { filter: { collections: ['code'] } })).toEqual(['code', 'code'])
    expect((await ask('disk', { lens: 'context' })).length).toBeGreaterThan(0)
    const concepts = (await engine.list({ filter: { collections: ['concepts'] }, limit: 50 })).items
    const id = concepts.find(({ origin }) => origin?.endsWith('policy.md'))?.id as string
    const { dropped } = await engine.explain({ query: { text: 'disk dies copies' }, id })
    expect(dropped?.reason).toBe('The document of the same file is shown in its place.')
  })

  it('answers as code to a viewer who may not see the document, and keeps what was written by hand about the file', async () => {
    using home = await folderWith(ORDERS['first as code'])
    await using engine = await openEngine({ home: join(home.path, '.querent'), embedder: 'none', background: false })
    const [file] = (await engine.query({ text: 'copies', filter: { collections: ['code'] } })).items
    const origin = file?.origin as string
    await engine.put({ entries: [{ id: 'mine', content: 'My remark on copies and disks.', origin }] })
    const ids = async (viewer?: { readonly id: string }) =>
      (await engine.query({ text: 'copies' }, viewer && { viewer })).items.map(({ id }) => id)
    expect(await ids()).toContain('mine')
    const code = { id: 'code', content: 'copies', visibility: 'public' as const }
    await engine.put({ entries: [code] })
    expect(await ids({ id: 'ana' })).toEqual(['code'])
  })
})
