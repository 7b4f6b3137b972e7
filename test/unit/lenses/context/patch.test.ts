import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/base/canonical.ts'
import { type CodeFolder, openCodeFolder } from '../../../support/code-folder.ts'
import { openToyEmbedder, TOY_KEY } from '../../../support/toy-embedder.ts'

const AUTH = "import { check } from './check.ts'\nexport class AuthService {\n  login() { return check() }\n}\n"
const CHECK = 'export function check(): boolean { return true }\n'

const patchOf = (url: string): JsonObject => ({
  file_url: url,
  concepts: [
    { name: 'Signing in', type: 'Entity' },
    { name: 'AuthService', type: 'Class' },
    { name: 'Passwords are never logged', type: 'Caveat' },
  ],
  edges: [
    { source_name: 'AuthService', target_name: 'Signing in', relation: 'IMPLEMENTS' },
    { source_name: 'Signing in', target_name: 'check', relation: 'DEPENDS_ON', weight: 0.5 },
  ],
})

async function openCode(): Promise<CodeFolder & { url(name: string): string }> {
  const code = await openCodeFolder({ 'auth.ts': AUTH, 'check.ts': CHECK }, { embedder: openToyEmbedder() })
  const root = code.engine.host('context').workspace?.url
  await code.do('/context/index')
  return { ...code, url: name => `${root}/${name}` }
}

describe('a patch of a model: /context/extract (CX-057)', () => {
  it('adds concepts, links and provenance to what the indexer read', async () => {
    await using code = await openCode()
    const before = code.concepts()
    const ids = code.ids()
    expect(await code.do('/context/extract', patchOf(code.url('auth.ts')))).toStrictEqual({
      file_url: code.url('auth.ts'),
      concepts_created: 2,
      concepts_reused: 1,
      edges_created: 2,
      provenance_created: 2,
    })
    const made = ['Caveat Passwords are never logged auth.ts', 'Entity Signing in auth.ts']
    expect(code.concepts()).toEqual([...before, ...made].sort())
    expect(code.relations()).toEqual(
      expect.arrayContaining([
        'Class AuthService auth.ts IMPLEMENTS Entity Signing in auth.ts 1',
        'Entity Signing in auth.ts DEPENDS_ON Function check check.ts 0.5',
        'Entity Signing in auth.ts IN auth.ts',
      ]),
    )
    expect(code.ids().get('Class AuthService auth.ts')).toBe(ids.get('Class AuthService auth.ts'))
    expect(code.engine.host('context').store.chunksWithoutVector(TOY_KEY, 10)).toEqual([])
    const { concepts } = await code.do('/context/query', { query: 'signing', depth: 1, mode: 'exact' })
    expect(concepts).toMatchObject([{ name: 'Signing in' }, { name: 'check' }, { name: 'AuthService' }])
  })

  it('writes nothing the second time', async () => {
    await using code = await openCode()
    await code.do('/context/extract', patchOf(code.url('auth.ts')))
    const { store } = code.engine.host('context')
    const [position, concepts, relations] = [store.lastSeq(), code.concepts(), code.relations()]
    expect(await code.do('/context/extract', patchOf(code.url('auth.ts')))).toStrictEqual({
      file_url: code.url('auth.ts'),
      ...{ concepts_created: 0, concepts_reused: 3, edges_created: 0, provenance_created: 0 },
    })
    expect([store.lastSeq(), code.concepts(), code.relations()]).toEqual([position, concepts, relations])
  })

  it('takes back what only the patch before said; notes stay, the indexer’s is left alone', async () => {
    await using code = await openCode()
    const indexed = code.concepts()
    await code.do('/context/extract', patchOf(code.url('auth.ts')))
    const next = { file_url: code.url('auth.ts'), concepts: [{ name: 'Sessions', type: 'Entity' }] }
    expect(await code.do('/context/extract', next)).toMatchObject({ concepts_created: 1, concepts_reused: 0 })
    const left = ['Caveat Passwords are never logged -', 'Entity Sessions auth.ts']
    expect(code.concepts()).toEqual([...indexed, ...left].sort())
    expect(code.relations().filter(line => /Signing|gone|Passwords/.test(line))).toEqual([])
  })

  it('changes the weight of its own links alone', async () => {
    await using code = await openCode()
    const patch = patchOf(code.url('auth.ts'))
    await code.do('/context/extract', patch)
    const edges = [
      { source_name: 'Signing in', target_name: 'check', relation: 'DEPENDS_ON', weight: 0.1 },
      { source_name: 'AuthService.login', target_name: 'check', relation: 'CALLS', weight: 9 },
    ]
    expect(await code.do('/context/extract', { ...patch, edges })).toMatchObject({ edges_created: 0 })
    expect(code.relations()).not.toContain('Class AuthService auth.ts IMPLEMENTS Entity Signing in auth.ts 1')
    expect(code.relations()).toContain('Entity Signing in auth.ts DEPENDS_ON Function check check.ts 0.1')
    expect(code.relations()).toContain('Method AuthService.login auth.ts CALLS Function check check.ts 0.5')
  })

  it('outlives a change of the file and ends with it, but for notes (CX-066)', async () => {
    await using code = await openCode()
    await code.do('/context/extract', patchOf(code.url('auth.ts')))
    code.write({ 'auth.ts': `// more\n${AUTH}` })
    await code.do('/context/index')
    expect(code.relations()).toContain('Class AuthService auth.ts IMPLEMENTS Entity Signing in auth.ts 1')
    code.remove('auth.ts')
    await code.do('/context/index')
    const left = code.concepts().filter(line => !line.includes('check'))
    expect(left).toHaveLength(1)
    expect(left[0]).toMatch(/^Caveat Passwords are never logged/)
  })
})

describe('a patch that is refused', () => {
  it.each<[string, JsonObject, object]>([
    ['without a file', { concepts: [] }, { file_url: [{ code: 'required' }] }],
    ['of a page', { file_url: 'http://a', concepts: [] }, { file_url: [{ code: 'invalid' }] }],
    ['of a file that is not known', { file_url: 'file:///a', concepts: [] }, { file_url: [{ code: 'not_found' }] }],
    ['without concepts', { file_url: 'file:///a' }, { concepts: [{ code: 'required' }] }],
    [
      'with fields missing',
      {
        file_url: 'file:///a',
        concepts: [{ name: 'A', type: 'T' }, { type: 'T' }],
        edges: [{ source_name: 'A', relation: ' ', weight: -1 }],
      },
      {
        concepts: { '1': { name: [{ code: 'required' }] } },
        edges: {
          '0': {
            target_name: [{ code: 'required' }],
            relation: [{ code: 'required' }],
            weight: [{ code: 'invalid' }],
          },
        },
      },
    ],
  ])('%s (CX-004)', async (_, patch, errors) => {
    await using code = await openCode()
    expect((await code.context.call('/context/extract', patch)).errors).toEqual(shaped(errors))
  })

  it('names what links nowhere, or to several, and writes nothing', async () => {
    await using code = await openCode()
    const names = [
      { name: 'Twin', type: 'A' },
      { name: 'Twin', type: 'B' },
    ] // prettier-ignore
    const edges = [
      { source_name: 'Twin', target_name: 'nobody', relation: 'R' },
      { source_name: 'check', target_name: 'check', relation: 'R' },
    ]
    const before = code.concepts()
    const { errors } = await code.context.call('/context/extract', {
      ...{ file_url: code.url('auth.ts'), concepts: names, edges },
    })
    expect(errors).toEqual({
      edges: {
        '0': {
          source_name: [{ code: 'ambiguous', message: expect.stringContaining('A, B') }],
          target_name: [{ code: 'not_found', message: 'concept not found' }],
        },
      },
    })
    expect(code.concepts()).toEqual(before)
  })

  it('needs both parts', async () => {
    await using code = await openCodeFolder({})
    expect(await code.context.call('/context/extract', {})).toMatchObject({
      errors: { body: [{ code: 'not_initialized' }] },
    })
    await code.do('/body/init')
    expect(await code.context.call('/context/extract', {})).toMatchObject({
      errors: { mind: [{ code: 'not_initialized' }] },
    })
  })
})

/** With any message. */
function shaped(errors: object): unknown {
  return Object.fromEntries(
    Object.entries(errors).map(([field, below]: [string, unknown]) => {
      if (!Array.isArray(below)) return [field, shaped(below as object)]
      return [field, below.map((detail: object) => ({ ...detail, message: expect.any(String) }))]
    }),
  )
}
