/** An id that is not there: the error names visible ids like it, on every interface, and nothing of what is hidden. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { callOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { HASHTAGS } from '../support/chroma-nodes.ts'
import { querentHere } from '../support/in-process.ts'
import { serveHere } from '../support/serve-here.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { callHere } from './interfaces.ts'
import { connected, onConnection } from './mcp-in-process.ts'

const NOTE = 'notes/backup-policy.md'

let engine: Engine

beforeEach(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  await put('owner', NOTE, 'public')
  await put('owner', 'notes/login-flow.md', 'public')
})
afterEach(() => engine.close())

async function put(id: string, entry: string, visibility: 'private' | 'public'): Promise<void> {
  await engine.put({ entries: [{ id: entry, content: 'Copies each night.', visibility }] }, { viewer: { id } })
}

async function failureOf(operation: string, input: object, viewer = 'owner'): Promise<QuerentError> {
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  const failure = await callOperation(makeCatalog(engine), engine, operation, input, context).then(
    () => expect.fail('it was there'),
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(QuerentError)
  return failure as QuerentError
}

describe('an id that is not there', () => {
  it.each([
    ['get', { id: 'notes/backup-polcy.md' }],
    ['get', { id: 'backup-policy' }],
    ['get', { id: 'Backup-Policy.md' }],
    ['get', { id: 'documents/backup-polici.md' }],
    ['delete', { ids: ['notes/backup-polcy.md'] }],
    ['touch', { ids: ['notes/backup-polcy.md'] }],
    ['similar', { id: 'notes/backup-polcy.md' }],
    ['explain', { query: { text: 'copies' }, id: 'notes/backup-polcy.md' }],
    ['explain', { query: { text: 'copies' }, id: NOTE, over: 'backup-policy' }],
  ])('gets the ids like it from %s %j', async (operation, input) => {
    const { code, message, details } = await failureOf(operation, input)
    expect({ code, near: details['near'] }).toEqual({ code: 'not_found', near: [NOTE] })
    expect(message).toMatch(/^id: there is no entry ".*"; did you mean notes\/backup-policy\.md\?$/)
  })

  it('gets no advice where no id is like it', async () => {
    const { message, details } = await failureOf('get', { id: 'diary' })
    expect(message).toBe('id: there is no entry "diary"')
    expect(details).toEqual({ id: 'diary' })
  })

  it('gets the same answer whatever is hidden', async () => {
    const before = await failureOf('get', { id: 'notes/backup-plan.md' }, 'ben')
    await put('ana', 'notes/backup-plans.md', 'private')
    await put('ana', 'notes/backup-plan.md', 'private')
    const after = await failureOf('get', { id: 'notes/backup-plan.md' }, 'ben')
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    expect((await failureOf('get', { id: 'notes/backup-plan' }, 'ana')).details['near']).toContain(
      'notes/backup-plan.md',
    )
  })

  it('is refused in the same words at the command line, over HTTP and over MCP', async () => {
    const message = 'id: there is no entry "backup-policy"; did you mean notes/backup-policy.md?'
    await using server = await serveHere(engine)
    const answer = await fetch(`${server.url}/v1/entries/backup-policy`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found', message } })
    const client = await connected(engine, onConnection, '2026-07-28', { viewer: 'owner' })
    const { content } = await client.callTool({ name: 'get', arguments: { id: 'backup-policy' } })
    expect(JSON.stringify(content)).toContain('did you mean notes/backup-policy.md?')
    await client.close()
    using folder = tempFolder()
    const options = { cwd: folder.path, env: { QUERENT_EMBEDDER: 'none' } }
    const entry = JSON.stringify({ id: NOTE, content: 'Copies each night.' })
    expect(await querentHere(['put', '--entry', entry], options)).toMatchObject({ status: 0 })
    const run = await querentHere(['get', 'backup-policy'], options)
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining(`querent: ${message}\n`) })
  })

  it('gets visible beliefs, nodes and concepts like it, each from its lens', async () => {
    await callHere(engine, 'beliefs.put', { id: 'ocean-heat', content: 'The ocean takes up heat.' })
    await put('owner', 'ocean-heath', 'public')
    for (const operation of ['beliefs.get', 'beliefs.derivation', 'beliefs.similar', 'beliefs.delete']) {
      const { message, details } = await failureOf(operation, { belief_id: 'ocean-hea' })
      expect(message).toMatch(
        /^belief_id: expected the id of a belief that you (may see|hold); did you mean ocean-heat\?$/,
      )
      expect(details['near']).toEqual(['ocean-heat'])
    }
    await callHere(engine, 'chroma.assign', { starter: true })
    const node = { label: 'Fire', content: 'A fire in the barn.', hashtags: HASHTAGS.python }
    const { entry_id: id } = (await callHere(engine, 'chroma.store', node)) as { entry_id: string }
    expect((await failureOf('chroma.get', { entry_id: id.slice(0, -2) })).message).toContain(`did you mean ${id}?`)
  })
})

describe('a viewer at the command line', () => {
  it('that holds nothing is named on standard error, with holders like it; the answer is what it may see', async () => {
    using folder = tempFolder()
    const options = { cwd: folder.path, env: { QUERENT_EMBEDDER: 'none' } }
    const entry = (visibility: string) => JSON.stringify({ content: `A ${visibility} note.`, visibility })
    for (const [viewer, visibility] of [
      ['climate-desk', 'private'],
      ['news-wire', 'public'],
    ] as const) {
      const put = await querentHere(['put', '--entry', entry(visibility), '--viewer', viewer], options)
      expect(put).toMatchObject({ status: 0, stderr: '' })
      expect(await querentHere(['query', 'note', '--viewer', viewer], options)).toMatchObject({ stderr: '' })
    }
    const other = await querentHere(['query', 'note', '--viewer', 'climate-desc'], options)
    expect(other.stdout).toContain('A public note.')
    expect(other.stderr).toBe(
      'querent: climate-desc holds nothing here and sees only what others share; did you mean climate-desk?\n',
    )
    expect((await querentHere(['query', 'note', '--viewer', 'ana', '--json'], options)).stderr).toBe('')
  })
})
