import { describe, expect, it } from 'vitest'
import { type CodeFolder, openCodeFolder } from '../../../support/code-folder.ts'
import { sampleFiles } from './indexing/sample.ts'

async function sample(): Promise<CodeFolder> {
  const code = await openCodeFolder(sampleFiles)
  await code.do('/context/index')
  return code
}

const names = (found: unknown) => (found as { name: string }[]).map(({ name }) => name)

describe('/context/definition', () => {
  it('shows the text of a name, also of the last part of one, in any case', async () => {
    await using code = await sample()
    for (const name of ['LoginService.login', 'login', 'LOGIN']) {
      const { definitions } = await code.do('/context/definition', { name })
      expect(definitions).toMatchObject([
        {
          name: 'LoginService.login',
          type: 'Method',
          start_line: 4,
          text: expect.stringContaining('check(new MemoryStore()'),
        },
      ])
    }
    expect((await code.do('/context/definition', { name: 'Store' }))['definitions']).toMatchObject([
      { type: 'Interface', doc: 'Keeps values by name.' },
    ])
  })

  it('counts lines that end with CR alone as the index does', async () => {
    await using code = await openCodeFolder({ 'a.ts': 'const a = 1;\r\rexport function f() {\r  return a;\r}\r' })
    await code.do('/context/index')
    expect((await code.do('/context/definition', { name: 'f' }))['definitions']).toMatchObject([
      { start_line: 3, end_line: 5, text: 'export function f() {\r  return a;\r}' },
    ])
  })

  it('refuses what is not there', async () => {
    await using code = await sample()
    expect((await code.context.call('/context/definition', { name: 'nobody' })).errors).toMatchObject({
      name: [{ code: 'not_found' }],
    })
    expect((await code.context.call('/context/definition', {})).errors).toMatchObject({ name: [{ code: 'required' }] })
  })
})

describe('/context/references and /context/callers', () => {
  it('tells who refers to a name, and how', async () => {
    await using code = await sample()
    const { references } = await code.do('/context/references', { name: 'MemoryStore' })
    expect(references).toContainEqual(expect.objectContaining({ name: 'check', relation: 'USES' }))
    expect(references).toContainEqual(expect.objectContaining({ name: 'LoginService.login', relation: 'CALLS' }))
    const mentions = await code.do('/context/references', { name: 'LoginService', relation: 'MENTIONS' })
    expect(mentions['references']).toMatchObject([{ url: expect.stringMatching(/README\.md$/) }])
  })

  it('follows calls as far as asked', async () => {
    await using code = await sample()
    expect(names((await code.do('/context/callers', { name: 'check' }))['callers'])).toEqual(['LoginService.login'])
    expect((await code.do('/context/callers', { name: 'check', depth: 3 }))['callers']).toMatchObject([
      { name: 'LoginService.login', hops: 1 },
      { name: 'main', hops: 2 },
    ])
  })
})

describe('calls of values and calls that could not be resolved (CX-076)', () => {
  const FILES = {
    'a.ts': `const wrap = <T>(f: T): T => f
export const f = wrap(() => 1)
export const alias = f
export function inside() { return f() }
interface EmptyError extends Error {}
export const EmptyError: new () => EmptyError = class extends Error {}
`,
    'b.ts': `import { alias, EmptyError, f } from './a'
import f2 from './c'
import * as A from './a'
export function named() { return f() }
export function member() { return A.f() }
export function renamed() { return alias() }
export function byDefault() { return f2() }
export function made() { return new EmptyError() }
`,
    'c.ts': `const only = [() => 2][0]!
export default only
`,
    'd.ts': `export class Sub {
  next(v: number): number
  next(v: number) { return v }
}
export class Other { next() {} }
// sub.next(0) is a comment
export function operate(init: (sub: any) => void) { init(new Sub()) }
export const resolved = (sub: Sub) => sub.next(1)
export const handedOn = operate(sub => { sub.next(2) })
export function guarded(other: unknown) { return (other as any).next(3) }
export function ofAnother(other: Other) { other.next() }
export function nobody() {}
export interface Later { next(v: number): void }
`,
    'notes.md': 'Call `next(1)` first.\n',
  }

  it('lists those who call a constant, under an alias, a namespace or a type of the same name, from any file', async () => {
    await using code = await openCodeFolder(FILES)
    await code.do('/context/index')
    const callers = async (name: string) => names((await code.do('/context/callers', { name }))['callers'])
    expect(await callers('f')).toEqual(expect.arrayContaining(['inside', 'named', 'member']))
    expect(await callers('alias')).toContain('renamed')
    expect(await callers('EmptyError')).toContain('made')
    expect(await callers('only')).toEqual(['byDefault'])
  })

  it('lists where else the name is written as a call, and counts it: nothing there, then nothing is written', async () => {
    await using code = await openCodeFolder(FILES)
    await code.do('/context/index')
    const found = await code.do('/context/callers', { name: 'Sub.next' })
    expect(names(found['callers'])).toEqual(['resolved'])
    expect(found['unresolved']).toEqual({
      places: [
        expect.objectContaining({ name: 'handedOn', line: 9, text: expect.stringContaining('sub.next(2)') }),
        expect.objectContaining({ name: 'guarded', line: 10 }),
      ],
      total: 2,
    })
    expect((await code.do('/context/callers', { name: 'Sub.next', limit: 1 }))['unresolved']).toMatchObject({
      total: 2,
    })
    expect((await code.do('/context/references', { name: 'Sub.next' }))['unresolved']).toEqual(found['unresolved'])
    const none = { places: [], total: 0 }
    expect(await code.do('/context/callers', { name: 'nobody' })).toMatchObject({
      callers: [],
      total: 0,
      unresolved: none,
    })
    expect((await code.do('/context/references', { name: 'Sub.next', relation: 'USES' }))['unresolved']).toEqual(none)
  })

  const OWN = 'export class Job {\n  run(): void {}\n}\n'
  it.each<[what: string, file: string, text: string, lines: readonly number[]]>([
    [
      'each of several on a line',
      'a.ts',
      'export const f = (a: any, b: any) => [a.run(1), b.run(a.run(2))]\n',
      [1, 1, 1],
    ],
    ['one behind a declaration on its line', 'a.ts', 'export function run(a: any) { return a.run(1) }\n', [1]],
    ['one behind a text with slashes', 'a.ts', "export const f = (a: any) => a.get('http://x', a.run(1))\n", [1]],
    ['one behind a comment', 'a.ts', 'export const f = (a: any) => /* a // b */ a.run(1)\n', [1]],
    ['one that begins with a star', 'a.ts', 'export const f = (a: any, n: number) => n\n  * a.run(1)\n', [2]],
    ['one within a template', 'a.ts', `export const f = (a: any) => \`1 \${a.run(1)}\`\n`, [1]],
    ['brackets on the next line', 'a.ts', 'export const f = (a: any) => a\n  .run\n  (1)\n', [2]],
    ['arguments of a type with brackets', 'a.ts', 'export const f = (a: any) => a.run<(x: 1) => 2>(1)\n', [1]],
    ['what may be absent', 'a.ts', 'export const f = (a: any) => a?.run?.(1) ?? a.run!(2)\n', [1, 1]],
    [
      'no text and no comment',
      'a.ts',
      "/* a.run(1)\n b.run(2) */ export const f = ['a.run(1)', `run(2)`] // run(3)\n",
      [],
    ],
    ['no declaration', 'a.ts', 'export class Other {\n  async run(x: 1) {}\n}\nexport type R = { run(x: 1): 2 }\n', []],
    ['Python', 'a.py', 'def f(a):\n    return f"{a.run(1)} run(2)" + a.run(3)  # run(4)\n', [2, 2]],
    ['Go', 'a.go', 'package a\n\nfunc f(a any) {\n\ta.(T).run(1); b.run[int](2)\n}\n', [4, 4]],
    [
      'Rust',
      'a.rs',
      'fn f(a: A) {\n    a.run::<u8>(1);\n    println!("run(2) {}", a.run(3));\n    run!(4);\n}\n',
      [2, 3, 4],
    ],
    ['Java', 'A.java', 'class A {\n  void f(B b) { b.run(1); new run(2); }\n}\n', [2, 2]],
    ['C++', 'a.cpp', 'void f(A* a) {\n  a->run(1); A::run<int>(2);\n}\n#define GO(a) a.run(3)\n', [2, 2, 4]],
    ['C#', 'a.cs', 'class A {\n  void F(B b) { b.run(1); b?.run<int>(2); new run(); }\n}\n', [2, 2, 2]],
    ['Ruby', 'a.rb', 'def f(a)\n  a.run 1\n  run(2) # run(3)\nend\n', [2, 3]],
    ['PHP', 'a.php', '<?php\nfunction f($a) { $a->run(1); A::run(2); $a?->run(3); return new run; }\n', [2, 2, 2, 2]],
    ['what the grammar cannot read', 'a.ts', 'export const f = (a: any) => {\n  a.run(1) ]] ((\n', [2]],
  ])('lists %s', async (_, file, text, lines) => {
    await using code = await openCodeFolder({ 'job.ts': OWN, [file]: text })
    await code.do('/context/index')
    const { unresolved } = await code.do('/context/callers', { name: 'Job.run' })
    const { places, total } = unresolved as { readonly places: readonly { line: number }[]; readonly total: number }
    expect({ lines: places.map(({ line }) => line), total }).toEqual({ lines, total: lines.length })
  })
})
