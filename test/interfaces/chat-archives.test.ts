/** Exports of chats in ZIP archives, as services hand them out. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { type ZipPart, zipOf } from '../support/zip-writer.ts'
import { INTERFACES, type Interface } from './interfaces.ts'

const EXPORTS = fileURLToPath(new URL('../fixtures/conversations/', import.meta.url))

function filesOf(name: string): Readonly<Record<string, Uint8Array>> {
  const folder = join(EXPORTS, name)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = paths.filter(path => statSync(join(folder, path)).isFile())
  return Object.fromEntries(files.map(path => [path, readFileSync(join(folder, path))]))
}

interface Added {
  readonly result: { readonly added: number; readonly skipped: readonly object[]; readonly errors: readonly object[] }
}

describe('an export of chats in a ZIP archive', () => {
  let folder: TempFolder
  let library: Interface
  beforeEach(async () => {
    folder = tempFolder()
    mkdirSync(join(folder.path, 'home'))
    library = await (INTERFACES['library'] as (typeof INTERFACES)[string])({
      ...{ home: join(folder.path, 'home'), now: '2026-03-01T12:00:00Z', embedder: 'none' },
    })
  })
  afterEach(async () => {
    await library[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const add = async (path: string) => await library.call('add', { paths: [path], chat: {} })
  const addZip = async (parts: Readonly<Record<string, string | Uint8Array | ZipPart>>) => {
    writeFileSync(join(folder.path, 'export.zip'), zipOf(parts))
    const outcome = await add(join(folder.path, 'export.zip'))
    expect(readdirSync(folder.path).sort(), 'nothing is unpacked to disk').toEqual(['export.zip', 'home'])
    return outcome
  }

  it.each(['chatgpt', 'claude', 'slack'])('of %s brings the messages that its folder brings', async name => {
    const packed = (await addZip(filesOf(name))) as Added
    expect(packed.result.added).toBeGreaterThan(0)
    const folderOnDisk = (await add(join(EXPORTS, name))) as Added
    expect(folderOnDisk.result.errors).toHaveLength(packed.result.errors.length)
    expect(folderOnDisk.result).toMatchObject({ added: 0, updated: 0, unchanged: packed.result.added })
  })

  it('may have several files of conversations, and pictures, which are skipped', async () => {
    const all: readonly unknown[] = JSON.parse(readFileSync(join(EXPORTS, 'chatgpt/conversations.json'), 'utf8'))
    const { result } = (await addZip({
      'conversations-000.json': JSON.stringify(all.slice(0, -1)),
      'conversations-001.json': JSON.stringify(all.slice(-1)),
      'file-1.png': 'not read',
    })) as Added
    expect(result.skipped).toContainEqual({ path: join(folder.path, 'export.zip/file-1.png'), reason: 'media' })
    const whole = (await add(join(EXPORTS, 'chatgpt'))) as Added
    expect(whole.result).toMatchObject({ added: 0, updated: 0, unchanged: result.added })
  })

  it('is refused where it is damaged, and a file that is packed too well is named and left out', async () => {
    writeFileSync(join(folder.path, 'home/bad.zip'), 'PK\u0003\u0004 no archive')
    expect(await add(join(folder.path, 'home/bad.zip'))).toMatchObject({
      error: { code: 'invalid_argument', message: expect.stringContaining('a readable ZIP archive') },
    })
    const good = filesOf('chatgpt')
    const { result } = (await addZip({ ...good, 'bomb.json': ' '.repeat(20_000_000) })) as Added
    expect(result.errors).toContainEqual({
      ...{ path: join(folder.path, 'export.zip/bomb.json'), message: expect.stringContaining('1/250') },
    })
  })
})
