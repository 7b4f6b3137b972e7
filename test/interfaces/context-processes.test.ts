/** Calls by path as they are used from a shell: each a process of its own, several at once on one store (CX-056). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { querent } from '../support/command.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const FILES = 60

interface Reported {
  readonly status: string
  readonly result: Readonly<Record<string, unknown>> | null
  readonly errors: unknown
}

function folderWith(files: Readonly<Record<string, string>>): TempFolder {
  const folder = tempFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  return folder
}

async function call(folder: TempFolder, path: string, params: unknown = {}): Promise<Reported> {
  const run = await querent(['call', path, JSON.stringify(params)], { cwd: folder.path })
  const reported = JSON.parse(run.stdout) as Reported
  expect([path, run.stderr, run.status]).toEqual([path, '', reported.status === 'success' ? 0 : 1])
  return reported
}

describe('the parts of the store, asked by processes', () => {
  it('are there or not each by itself (CX-012, CX-047, CX-056)', async () => {
    using folder = folderWith({ 'a.ts': 'export function authenticate() {}\n' })
    const missing = (part: string) => ({ status: 'error', errors: { [part]: [{ code: 'not_initialized' }] } })
    expect(await call(folder, '/mind/init')).toMatchObject({ result: { created: true } })
    expect(await call(folder, '/mind/concepts/create', { name: 'Auth', type: 'Entity' })).toMatchObject({
      result: { id: 1 },
    })
    for (const [path, params] of [
      ['/context/query', { query: 'auth' }],
      ['/body/scan', {}],
      ['/body/fts/search', { query: 'auth' }],
      ['/context/extract', {}],
    ] as const) {
      expect(await call(folder, path, params)).toMatchObject(missing('body'))
    }
    using other = folderWith({ 'a.ts': 'export function authenticate() {}\n' })
    expect(await call(other, '/body/init')).toMatchObject({ result: { created: true } })
    expect(await call(other, '/body/scan')).toMatchObject({ result: { summary: { added: 1 } } })
    expect(await call(other, '/body/fts/index')).toMatchObject({ result: { indexed: 1 } })
    expect(await call(other, '/body/fts/search', { query: 'authenticate' })).toMatchObject({ result: { total: 1 } })
    for (const path of ['/context/query', '/graph/summary', '/mind/concepts/list', '/mind/edges/list']) {
      expect(await call(other, path, { query: 'auth' })).toMatchObject(missing('mind'))
    }
  })

  it('are read by several while one writes: each sees what had been written when it asked', async () => {
    using folder = folderWith(
      Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`src/f${i}.ts`, codeOf(i)] as const)),
    )
    for (const path of ['/body/init', '/mind/init']) await call(folder, path)
    let isWriting = true
    const writing = call(folder, '/context/index').finally(() => {
      isWriting = false
    })
    const seen: number[] = []
    const reading = Array.from({ length: 2 }, async () => {
      do {
        const { status, result } = await call(folder, '/mind/concepts/list')
        expect(status).toBe('success')
        seen.push(result?.['total'] as number)
        expect(await call(folder, '/context/query', { query: 'go', mode: 'hybrid' })).toMatchObject({
          status: 'success',
        })
      } while (isWriting)
    })
    expect(await writing).toMatchObject({ result: { indexed: FILES } })
    await Promise.all(reading)
    const { result } = await call(folder, '/mind/concepts/list')
    // A module and two functions each; files are written as wholes.
    expect(result?.['total']).toBe(3 * FILES)
    expect(seen.every(total => total % 3 === 0)).toBe(true)
  })
})

function codeOf(at: number): string {
  return `export function go${at}() { return stop${at}() }\nfunction stop${at}() { return ${at} }\n`
}
