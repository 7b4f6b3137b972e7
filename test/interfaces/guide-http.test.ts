/** What the guide to HTTP shows is what happens: its commands and its program, against a server started as it says. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statusOf } from '../../src/interfaces/http/failure.ts'
import { ROUTES } from '../../src/interfaces/http/mount.ts'
import { ERROR_CODES, type ErrorCode, QuerentError } from '../../src/model/errors.ts'
import { blocks, guidePage, hasCurl, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { querentHere, serveInProcess } from '../support/in-process.ts'
import type { Serving } from '../support/serving.ts'

const page = guidePage('http.md')

let folder = ''
let server: Serving
let serverWithTokens: Serving
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-http-'))
  cpSync(fileURLToPath(new URL('../../examples/notes', import.meta.url)), join(folder, 'notes'), { recursive: true })
  const [, tokens = ''] = /`tokens.json`[^`]*`(\{.*?\})`/s.exec(page) ?? []
  writeFileSync(join(folder, 'tokens.json'), tokens, { mode: 0o600 })
  const [[add = '', serve = ''] = [], [withTokens = ''] = []] = blocks(page, 'sh').map(block =>
    block.trim().split('\n'),
  )
  const args = (line: string): string[] => line.split(' ').slice(1)
  expect(await querentHere(args(add), { cwd: folder })).toMatchObject({ status: 0 })
  server = await serveInProcess(args(serve), folder)
  serverWithTokens = await serveInProcess(args(withTokens), folder)
})
afterAll(async () => {
  expect(await server.end()).toBe(0)
  expect(await serverWithTokens.end()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

const served = (text: string): string =>
  text.replaceAll('http://127.0.0.1:7411', server.url).replaceAll('http://127.0.0.1:7412', serverWithTokens.url)

describe('the guide to HTTP', () => {
  it.skipIf(!hasCurl)('shows what its commands print (where curl is)', async () => {
    const steps = await runSession(served(page), folder)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(15)
  })

  it('signs a request as it says', async () => {
    const program = served(blocks(page, 'js')[0] ?? '')
    expect(await printedBy(program, folder, 'sign.mjs')).toBe(blocks(page, 'text')[0])
  })

  it('names routes as they are', () => {
    const table = page.split('\n## Operations and routes')[1]?.split('\n## ')[0] ?? ''
    const rows = table
      .split('\n')
      .filter(line => line.startsWith('|'))
      .join('\n')
    const shown = [...rows.matchAll(/\/v1\/[\w/<>]+/g)].map(([path]) => path.replace('<id>', ':id'))
    const known = [...ROUTES.map(({ path }) => path), '/v1/call', '/v1/ops', '/v1/ops/<name>']
    const isKnown = (path: string): boolean =>
      known.includes(path) || known.some(one => one.startsWith(path) && path.endsWith('/'))
    expect(shown.filter(path => !isKnown(path))).toEqual([])
  })

  it('gives each code the status it has', () => {
    const rows = [...page.matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)]
    expect(rows).toHaveLength(10)
    for (const [, statuses = '', codes = ''] of rows) {
      const named = [...codes.matchAll(/`([a-z_]+)`/g)].flatMap(([, name = '']) =>
        name in ERROR_CODES ? [name as ErrorCode] : [],
      )
      expect(named.length).toBeGreaterThan(0)
      for (const name of named)
        expect(statuses.split(', '), name).toContain(String(statusOf(new QuerentError(name, ''))))
    }
  })

  it('gives the bounds that there are', () => {
    const source = (name: string): string => readFileSync(new URL(`../../src/${name}`, import.meta.url), 'utf8')
    expect(source('interfaces/http/body.ts')).toContain('MAX_BODY_BYTES: number = 4 * 1024 * 1024')
    expect(source('identity/messages.ts')).toContain('CLOCK_TOLERANCE_MS = 300_000')
  })
})
