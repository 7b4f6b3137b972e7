import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { atOnce, Turns } from '../../../src/base/turns.ts'
import { decodeInSteps, readText as readInTurns } from '../../../src/ingest/read-file.ts'
import { tempFolder } from './temp-folder.ts'

const LIMIT = 20_000

const decode = (bytes: Uint8Array) => atOnce(decodeInSteps(bytes))
const readText = (path: string, maxBytes: number) => readInTurns(new Turns(), path, maxBytes)

describe('readText', () => {
  it.each([
    ['UTF-8', Buffer.from('añb 漢 😀'), 'añb 漢 😀'],
    ['UTF-8 with a mark', Buffer.from('\ufeffaé'), 'aé'],
    ['UTF-16 little-endian', Buffer.from('\ufeffaé😀', 'utf16le'), 'aé😀'],
    ['UTF-16 big-endian', Buffer.from('\ufeffaé😀', 'utf16le').swap16(), 'aé😀'],
    ['nothing', Buffer.alloc(0), ''],
  ])('reads %s', async (_, bytes, text) => {
    const root = tempFolder({ 'a.txt': bytes })
    expect(await readText(join(root, 'a.txt'), LIMIT)).toMatchObject({ kind: 'text', text })
  })

  it.each([
    ['a zero byte near the start', Buffer.from('abc\0def')],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xe9, 0x62])],
    ['half a character at the end', Buffer.from('añ').subarray(0, 2)],
    ['half a pair in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
    ['an odd number of bytes in UTF-16', Buffer.from([0xff, 0xfe, 0x61])],
  ])('takes %s for binary', async (_, bytes) => {
    const root = tempFolder({ 'a.txt': bytes })
    expect(await readText(join(root, 'a.txt'), LIMIT)).toEqual({ kind: 'skipped', reason: 'binary' })
  })

  it('takes a zero byte anywhere for the sign of a binary file', () => {
    expect(decode(Buffer.from(`${'x'.repeat(8192)}\0`))).toBeNull()
    expect(decode(Buffer.from('\ufeffa\0', 'utf16le'))).toBeNull()
    expect(decode(Buffer.from(`${'x'.repeat(8191)}\0`))).toBeNull()
  })

  it('keeps to the limit', async () => {
    const root = tempFolder({ 'fits.txt': 'x'.repeat(LIMIT), 'big.txt': 'x'.repeat(LIMIT + 1) })
    expect(await readText(join(root, 'fits.txt'), LIMIT)).toMatchObject({ kind: 'text' })
    expect(await readText(join(root, 'big.txt'), LIMIT)).toEqual({ kind: 'skipped', reason: 'too_large' })
  })

  it('follows no link, reads no folder, waits on no pipe, tells what is gone', async () => {
    const root = tempFolder({ 'a.txt': 'a' })
    symlinkSync('a.txt', join(root, 'link.txt'))
    execFileSync('mkfifo', [join(root, 'pipe.txt')])
    expect(await readText(join(root, 'link.txt'), LIMIT)).toEqual({ kind: 'skipped', reason: 'symlink' })
    expect(await readText(join(root, 'pipe.txt'), LIMIT)).toEqual({ kind: 'skipped', reason: 'special' })
    expect(await readText(root, LIMIT)).toEqual({ kind: 'skipped', reason: 'special' })
    expect(await readText(join(root, 'gone.txt'), LIMIT)).toMatchObject({ kind: 'failed', error: { code: 'ENOENT' } })
  })

  it('reads files that say they are empty and are not', async () => {
    const result = await readText('/proc/self/status', LIMIT)
    expect(result.kind === 'text' ? result.text : '').toContain('Name:')
  })
})
