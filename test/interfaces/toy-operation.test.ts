/** An operation that is added in one place (that of docs/guide/operations.md) is there on the command line, over HTTP and MCP, in OpenAPI and in the reference. */
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { referencePages } from '../../scripts/reference/pages.ts'
import { openEngine } from '../../src/engine/open.ts'
import { guidePage } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { serveHere } from '../support/serve-here.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { newClient, onConnection } from './mcp-in-process.ts'

vi.mock('../../src/lenses/chroma/operations.ts', async original => {
  const { CHROMA_OPERATIONS } = await original<typeof import('../../src/lenses/chroma/operations.ts')>()
  const { blocks, guidePage } = await import('../support/guide-page.ts')
  const [program = ''] = blocks(guidePage('operations.md'), 'ts')
  using folder = tempFolder()
  const file = folder.file('greet.ts')
  writeFileSync(file, program.replace("'zod'", `'${import.meta.resolve('zod')}'`))
  const { greet } = await import(file)
  return { CHROMA_OPERATIONS: [...CHROMA_OPERATIONS, greet] }
})

const TWICE = { greetings: ['Hello, Ann.', 'Hello, Ann.'] }
let folder: TempFolder

beforeAll(async () => {
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
  folder = tempFolder()
  vi.stubEnv('QUERENT_HOME', `${folder.path}/.querent`)
  expect(await run(['init'])).toMatchObject({ status: 0 })
})
afterAll(() => {
  vi.unstubAllEnvs()
  folder[Symbol.dispose]()
})

function run(args: readonly string[]): ReturnType<typeof runInProcess> {
  return runInProcess(args, { workingFolder: folder.path })
}

describe('an operation that is added to a lens', () => {
  it('is a command, whose flags and help are made from its schema', async () => {
    const greet = ['chroma', 'greet-node', '--name', 'Ann', '--times', '2']
    const { status, stdout } = await run(greet)
    expect({ status, answer: JSON.parse((await run([...greet, '--json'])).stdout) }).toEqual({
      status: 0,
      answer: TWICE,
    })
    expect(guidePage('operations.md')).toContain(`$ querent chroma greet-node --name Ann --times 2\n${stdout}`)
    expect((await run(['chroma', '--help'])).stdout).toMatch(/greet-node \[options\] +greet somebody/)
    const { stdout: help } = await run(['chroma', 'greet-node', '--help'])
    expect(help).toMatch(/--times <number> +how often, 1 to 5. Default: 1\n/)
    const { stderr, ...wrong } = await run(['chroma', 'greet-node', '--name', 'Ann', '--times', '9'])
    expect(wrong).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain('times')
  })

  it('is called over HTTP, and is in the OpenAPI document', async () => {
    await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
    await using server = await serveHere(engine)
    const { url } = server
    const body = JSON.stringify({ name: 'Ann', times: 2 })
    const answer = await fetch(`${url}/v1/ops/chroma.greet_node`, { method: 'POST', body })
    expect(await answer.json()).toEqual(TWICE)
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: object }
    expect(Object.keys(paths)).toContain('/v1/ops/chroma.greet_node')
  })

  it('is a tool over MCP, where it is chosen by name', async () => {
    await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
    const client = newClient('2025-11-25')
    await onConnection(engine, client, { viewer: 'owner', tools: ['chroma_greet_node'] })
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([{ name: 'chroma_greet_node', description: 'Greet somebody as often as is wanted.' }])
    const input = { name: 'Ann', times: 2, detail: 'detailed' }
    const { structuredContent } = await client.callTool({ name: 'chroma_greet_node', arguments: input })
    expect(structuredContent).toEqual(TWICE)
    const wrong = await client.callTool({ name: 'chroma_greet_node', arguments: { name: 'Ann', times: 9 } })
    expect(wrong).toMatchObject({ isError: true })
    await client.close()
  })

  it('is in the reference, with its command', async () => {
    const pages = await referencePages()
    expect(pages.get('docs/reference/operations.md')).toContain('chroma.greet_node')
    expect(pages.get('docs/reference/operations.md')).toContain('How often, 1 to 5. Default: 1.')
    expect(pages.get('docs/reference/settings.md')).toContain('greet-node')
  })
})
