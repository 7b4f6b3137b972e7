import { describe, expect, it } from 'vitest'
import type { Lens, LensHost } from '../../../src/lenses/lens.ts'
import { BUILT_IN_LENSES, defaultLens, LensRegistry } from '../../../src/lenses/registry.ts'
import { DEFAULT_LENS_STAGES, DEFAULT_STAGES } from '../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../src/pipeline/stage.ts'
import { toyLens } from '../../fixtures/toy-lens/toy-lens.ts'

const lens = (fields: Partial<Lens>): Lens => ({ name: 'one', summary: '', ...fields })
const table = (name: string, aspect?: string) => ({
  name,
  columns: [{ name: 'k', type: 'text' as const }],
  key: ['k'],
  aspect,
})

function noHost(): never {
  throw new Error('nobody needs a host here')
}

describe('a built-in lens', () => {
  it.each(BUILT_IN_LENSES.map(declared => [declared.name, declared] as const))(
    '%s has what is declared of it before it is loaded',
    async (_, declared) => {
      const loaded = await declared.load()
      const { name, tables = [], kinds = [], families = [], hooks = [] } = declared
      const { tables: own = [], kinds: ownKinds = [], families: ownFamilies = [] } = loaded
      expect([loaded.name, own, ownKinds, ownFamilies]).toEqual([name, tables, kinds, families])
      const has = (['install', 'importChat', 'beforeWrite'] as const).filter(hook => loaded[hook] !== undefined)
      expect(has).toEqual(hooks)
    },
  )
})

describe('a registry of lenses', () => {
  it('finds lenses by name, and names those there are when asked for another', () => {
    const registry = new LensRegistry([toyLens, defaultLens])
    expect(registry.must('stars')).toBe(toyLens)
    expect(registry.all).toEqual([toyLens, defaultLens])
    expect(() => registry.must('star')).toThrow(
      expect.objectContaining({ code: 'unknown_lens', details: { lens: 'star', known: ['default', 'stars'] } }),
    )
    expect(() => registry.stages('__proto__', noHost)).toThrow(expect.objectContaining({ code: 'unknown_lens' }))
    expect(() => registry.must('x'.repeat(9_000))).toThrow(
      /^lens: there is no lens "x{200}"; there are default, stars$/,
    )
  })

  it('completes stages by the default ones', () => {
    const registry = new LensRegistry([toyLens, defaultLens])
    expect(registry.stages('default', noHost)).toEqual(DEFAULT_LENS_STAGES)
    expect(registry.stages('stars', noHost)).toEqual({ ...DEFAULT_STAGES, ...toyLens.stages })
    const made = { ...toyLens, stages: (host: LensHost) => ({ score: host.settings as Stages['score'] }) }
    const host = { settings: () => null } as unknown as LensHost
    expect(new LensRegistry([made]).stages('stars', () => host).score).toBe(host.settings)
  })

  it('gathers tables and operations', () => {
    const registry = new LensRegistry([defaultLens, toyLens])
    expect(registry.tables.map(({ name }) => name)).toEqual(['stars_ratings'])
    expect(registry.operations.map(({ lens, operation }) => [lens, operation.name])).toEqual([['stars', 'stars.rate']])
  })

  it('lets a lens name its operations after further families', () => {
    const registry = new LensRegistry([lens({ families: ['stars'], operations: toyLens.operations })])
    expect(registry.operations.map(({ operation }) => operation.name)).toEqual(['stars.rate'])
  })

  it.each([
    { what: 'two of one name', lenses: [lens({}), lens({})] },
    { what: 'a name that is none', lenses: [lens({ name: 'One!' })] },
    { what: 'a table outside its name', lenses: [lens({ tables: [table('two_x')] })] },
    { what: 'a table of the core', lenses: [lens({ name: 'agents', tables: [table('agents')] })] },
    { what: 'a table twice', lenses: [lens({ tables: [table('one_x'), table('one_x')] })] },
    {
      what: 'one aspect of two lenses',
      lenses: [lens({ tables: [table('one_x', 'mood')] }), lens({ name: 'two', tables: [table('two_x', 'mood')] })],
    },
    { what: 'an operation outside its name', lenses: [lens({ operations: toyLens.operations })] },
    { what: 'a family that is a lens', lenses: [lens({}), lens({ name: 'two', families: ['one'] })] },
    { what: 'a family that is no name', lenses: [lens({ families: ['One!'] })] },
  ])('refuses $what', ({ lenses }) => {
    expect(() => new LensRegistry(lenses)).toThrow(expect.objectContaining({ code: 'conflict' }))
  })
})
