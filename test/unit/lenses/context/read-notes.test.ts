/** What answers say of how files were read: with errors (CX-077), or without links between files (CX-079). */
import { describe, expect, it } from 'vitest'
import { openCodeFolder } from '../../../support/code-folder.ts'

const FILES = {
  'a.ts': "import { b } from './b.ts'\nexport function a() { return b() }\n",
  'b.ts': 'export function b() { return 1 }\nexport function broken() {\n  return (1\n}\n',
  'c.ts': 'export function c() { return 1 }\n',
}
const NOTE = 'b.ts was read with errors: declarations in it may be missing'

describe('a file that was read with errors (CX-077)', () => {
  it('is counted and named by every run and by the doctor until it is sound', async () => {
    await using code = await openCodeFolder(FILES)
    const url = expect.stringMatching(/\/b\.ts$/)
    const faulty = { with_errors: { total: 1, files: [{ url }] } }
    expect(await code.do('/context/index')).toMatchObject({ indexed: 3, ...faulty })
    // Also where it is unchanged.
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: 3, ...faulty })
    const { findings } = await code.engine.doctor()
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'lens context',
        ok: true,
        message: expect.stringMatching(/^1 of the indexed files: \S+\/b\.ts was read with errors/),
      }),
    )
    code.write({ 'b.ts': 'export function b() { return 1 }\nexport function broken() {}\n' })
    expect(await code.do('/context/index')).toMatchObject({ with_errors: { total: 0, files: [] } })
    const { findings: after } = await code.engine.doctor()
    expect(after.filter(({ message }) => /with errors/.test(message))).toEqual([])
  })

  it('is forgotten when it is gone, and stays when it is moved', async () => {
    await using code = await openCodeFolder(FILES)
    await code.do('/context/index')
    code.rename('b.ts', 'd.ts')
    expect(await code.do('/context/index')).toMatchObject({
      with_errors: { total: 1, files: [{ url: expect.stringMatching(/\/d\.ts$/) }] },
    })
    code.remove('d.ts')
    expect(await code.do('/context/index')).toMatchObject({ with_errors: { total: 0 } })
  })

  it.each([
    ['/context/query', { query: 'broken' }, { query: 'c' }],
    ['/context/definition', { name: 'broken' }, { name: 'c' }],
    ['/context/references', { name: 'b' }, { name: 'c' }],
    ['/context/callers', { name: 'b' }, { name: 'c' }],
  ])('is noted in answers of %s that concern it, and in no other', async (path, concerned, other) => {
    await using code = await openCodeFolder(FILES)
    await code.do('/context/index')
    const noted = await code.context.call(path, concerned)
    expect(noted.meta.warnings).toEqual([NOTE])
    const { meta } = await code.context.call(path, other)
    expect(meta.warnings).toBeUndefined()
  })
})

describe('callers and references (CX-079)', () => {
  it.each([
    ['a.cpp', 'int f() { return 1; }\n', 'calls in C++ are not linked: calls of this name are listed as not resolved'],
    ['a.rb', 'def f\n  1\nend\n', 'calls in Ruby are not linked: calls of this name are listed as not resolved'],
    ['a.go', 'package a\n\nfunc f() int { return 1 }\n', undefined],
    ['a.ts', 'export function f() {}\n', undefined],
  ])('of %s say what the language does not get', async (name, text, expected) => {
    await using code = await openCodeFolder({ [name]: text })
    await code.do('/context/index')
    for (const path of ['/context/callers', '/context/references']) {
      const { meta } = await code.context.call(path, { name: 'f' })
      expect(meta.warnings).toEqual(expected === undefined ? undefined : [expected])
    }
  })
})
