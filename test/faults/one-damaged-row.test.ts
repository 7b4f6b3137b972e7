/** One damaged cell costs one entry, by every interface: it is `store_corrupt` with the id, and the rest goes on (QE-018). */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ask, mcpClient } from '../interfaces/mcp-client.ts'
import { idsOf, noteCodes, openTestEngine } from '../support/engines.ts'
import { querentHere } from '../support/in-process.ts'
import { startServer } from '../support/serving.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { onFile } from './care/damaged-store.ts'

let home: string
let outside: string
beforeEach(async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  home = folder.file('home')
  outside = folder.path
  await using engine = await openTestEngine({ home })
  await engine.put({
    entries: Array.from({ length: 40 }, (_, at) => ({
      ...{ id: `e${at}`, content: `text of the fox number ${at}`, tags: [`tag${at}`] },
      metadata: { n: at, s: `val${at}` },
    })),
  })
})

/** Turns the first byte of what is written somewhere in the file into another. */
function damage(text: string): void {
  const file = join(home, 'store.db')
  onFile(file, db => db.exec('pragma wal_checkpoint(truncate)'))
  const bytes = readFileSync(file)
  bytes[bytes.indexOf(text)] = 0x7a
  writeFileSync(file, bytes)
}

describe.each([
  ['metadata', '"s":"val33"'],
  ['tags', '["tag33"]'],
  ['the text', 'text of the fox number 33'],
])('damage in %s', (_, text) => {
  it('is store_corrupt with the id where the entry is read, and the others are read', async () => {
    damage(text)
    await using engine = await openTestEngine({ home })
    await expect(engine.get({ id: 'e33' })).rejects.toMatchObject({ code: 'store_corrupt', details: { id: 'e33' } })
    await expect(engine.list({ limit: 1000 })).rejects.toMatchObject({ code: 'store_corrupt', details: { id: 'e33' } })
    expect((await engine.get({ id: 'e32' })).content).toBe('text of the fox number 32')
    // The index is built without it.
    expect(idsOf(await engine.query({ text: 'fox', limit: 100 }))).toHaveLength(39)
    const { ok, findings } = await engine.doctor()
    expect(ok).toBe(false)
    expect(findings.filter(one => !one.ok).map(({ check }) => check)).toContain('rows')
  })

  it('keeps nobody from deleting the entry, or from writing it again', async () => {
    damage(text)
    await using engine = await openTestEngine({ home })
    await engine.put({ entries: [{ id: 'e33', content: 'another fox' }] })
    expect((await engine.get({ id: 'e33' })).content).toBe('another fox')
    expect((await engine.list({ limit: 1000 })).items).toHaveLength(40)
    expect((await engine.doctor()).findings.filter(one => !one.ok)).toEqual([])
  })
})

it('a damaged entry can be deleted', async () => {
  damage('"s":"val33"')
  await using engine = await openTestEngine({ home })
  await engine.delete({ ids: ['e33'] })
  expect((await engine.list({ limit: 1000 })).items).toHaveLength(39)
})

it('an answer that would show a damaged entry shows the others and says so', async () => {
  await using engine = await openTestEngine({ home })
  expect((await engine.query({ text: 'fox', limit: 100 })).items).toHaveLength(40)
  damage('"s":"val33"')
  const page = await engine.query({ text: 'fox', limit: 50 })
  expect([page.items.length, noteCodes(page)]).toEqual([39, expect.arrayContaining(['store_corrupt'])])
})

it('get and query over MCP say store_corrupt: as the error, and as a note on the others', async () => {
  const client = await mcpClient(outside, ['--home', home])
  onTestFinished(() => client.close())
  expect(JSON.stringify(await ask(client, 'query', { text: 'fox', limit: 50 }))).not.toContain('store_corrupt')
  damage('"s":"val33"')
  expect(await ask(client, 'get', { id: 'e33' })).toMatchObject({
    error: { code: 'store_corrupt', details: { id: 'e33' } },
  })
  expect(await ask(client, 'get', { id: 'e32' })).toMatchObject({ id: 'e32' })
  const page = await ask(client, 'query', { text: 'fox', limit: 50 })
  expect(page['items']).toHaveLength(39)
  expect(JSON.stringify(page['notes'])).toContain('store_corrupt')
})

it('is reported by the command and over HTTP by its code, and --skip-damaged saves the rest', async () => {
  damage('"s":"val33"')
  const env = { QUERENT_HOME: home, QUERENT_EMBEDDER: 'none' }
  const run = (...args: string[]) => querentHere(args, { cwd: '/', env })
  expect(await run('get', 'e33')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('"e33": what is stored is damaged'),
  })
  const doctor = await run('doctor')
  expect([doctor.status, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(/FAIL rows: 1 row of bodies not as written/),
  ])
  const exported = await run('export', '--skip-damaged')
  const entries = exported.stdout.split('\n').filter(line => line.includes('"type":"entry"'))
  expect([exported.status, entries.length, exported.stderr]).toEqual([1, 39, expect.stringContaining('owner/e33')])
  const backup = await run('backup', '--skip-damaged', join(outside, 'copy.db'))
  expect([backup.status, backup.stdout]).toEqual([1, expect.stringContaining('39 entries')])
  const server = await startServer(['serve'], '/', env)
  const answer = await fetch(`${server.url}/v1/ops/get`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"e33"}' },
  })
  const reported = await answer.json()
  await server.end()
  expect([answer.status, reported]).toMatchObject([500, { error: { code: 'store_corrupt' } }])
})
