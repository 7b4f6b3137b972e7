/** What is kept of files that the grammar reads with errors (CX-077). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Extraction } from '../../../../../src/lenses/context/extract/concept.ts'
import { soundText } from '../../../../../src/lenses/context/extract/repair.ts'
import { extractOrThrow, grammarsFor, graphOf, linksOf } from '../../../../support/extracted.ts'
import { declarationsIn } from '../../../../support/script-oracle.ts'

async function read(path: string, text: string): Promise<Extraction> {
  return extractOrThrow(await grammarsFor([path]), path, text)
}

async function kept(path: string, text: string): Promise<string> {
  const { concepts, hasErrors } = await read(path, text)
  expect(hasErrors).toBe(true)
  return concepts
    .slice(1)
    .map(({ qualifiedName, startLine, endLine }) => `${qualifiedName} ${startLine}-${endLine}`)
    .join(', ')
}

const BEHIND = '\nexport function behind() {}\nclass Last { go() {} }\n'

/** Accepted by the TypeScript compiler. */
const ACCEPTED = [
  'export interface F {\n  <T extends A | null>(fn: T): T\n  <T extends A | null>(name: string, fn: T): T\n}',
  'export interface F {\n  (a: string): A // why\n  <T>(fn: T): T\n}',
  'export interface F {\n  (a: string): A /* why */\n<T>(fn: T): T\n}',
  'type F = {\n  new <T>(a: T): T\n  <U>(b: U): U\n}',
  'export const f: {\n  <A>(a: A): (b: A) => A\n  /** more */\n  <A>(a: A, b: A): A\n} = dual(2)',
  'class A { accessor x = 1; static accessor y = 2; private accessor z: number; @dec accessor w = 3; m() {} }',
  'class A {\n  x = 1\n  accessor y = 2\n  accessor [k] = 1\n  accessor #p = 1\n  m() {}\n}',
  'class A { accessor = 1; get() {} set() {} static() {} async() {} type() {} }\nclass B { accessor() {} }',
  'interface B<in out A, out B> { a: A }\nclass K<out T, in U extends string = "a"> { m() {} }\ntype P<out> = out',
  'export type * from "./a"\nexport type * as ns from "./b"\nimport defer * as late from "./c"',
  'type A = import("x").Foo[]\ntype B = import("x").Foo<string>\nlet c: typeof import("x")',
  'function f(a: import("x").A): import("x").B<import("y", { with: { "resolution-mode": "import" } }).C>[] { return a }',
  'interface A { abstract?: boolean; declare?: boolean; type: 1; in: 2; accessor: 3; global: 4 }',
  'type M = { [type in keyof A]: 1 }\ntype K = keyof readonly string[]',
  'async function f() { await using y = bar(); for await (using z of q) {} }\nfunction g() {}',
  'using x = open()\nlet\n  a = 1,\n  b: number',
  'export default function (): { a: 1 };',
  'export default function ();\n',
  'export default function <T>(a: T): T {\n  return a\n}\nfoo();',
  'declare module "b" { global { interface X { a: 1 } function f(): void } }',
  '// @ts-ignore\n@inline @lazy const A = 1\n// @ts-ignore\n@inline\nexport function f() {}\n@keep class B {}',
]

describe('TypeScript that the compiler accepts', () => {
  it.each(ACCEPTED)('loses no declaration and is read without an error: %j (CX-077)', async text => {
    const declared = declarationsIn('a.ts', text + BEHIND)
    const { concepts, hasErrors } = await read('a.ts', text + BEHIND)
    const names = new Set(concepts.map(({ type, name }) => `${type} ${name}`))
    expect([...(declared ?? ['the compiler refuses it'])].filter(one => !names.has(one))).toEqual([])
    expect(hasErrors).toBe(false)
  })

  it('is read with the names, lines and signatures of the original', async () => {
    const text =
      'export type * from "./b"\n\n/** One box. */\nexport class Box<in out T> {\n  accessor size = 1\n  open(): T {}\n}\n'
    const { concepts } = await read('a.ts', text)
    expect(concepts.slice(1)).toMatchObject([
      { name: 'Box', startLine: 4, endLine: 7, signature: 'export class Box<in out T>', doc: 'One box.' },
      { name: 'Box.open', startLine: 6, endLine: 6, signature: 'open(): T' },
    ])
  })

  it('still depends on what it imports as a type', async () => {
    const graph = await graphOf({
      'a.ts': 'export class A { go() {} }',
      'b.ts': 'export type * from "./a"\nexport function f(x: import("./a").A[], y: import("./a").A) { y.go() }',
    })
    expect(linksOf(graph, 'DEPENDS_ON')).toEqual(['b.ts#b.ts DEPENDS_ON a.ts#a.ts 1'])
    expect(linksOf(graph, 'CALLS')).toEqual(['b.ts#f CALLS a.ts#A.go 0.5'])
  })
})

describe('a file with an error keeps what is outside of it (CX-077)', () => {
  it.each([
    [
      'a.ts',
      'export function a() {\n  return g(a\n}\nexport function b() {\n  return 2\n}\nexport class Z { m() {} }\n',
      'a 1-3, b 4-6, Z 7-7, Z.m 7-7',
    ],
    [
      'b.ts',
      'export class Broken {\n  go( {\n\nexport function after() {}\nexport class Y {\n  m() {}\n}\n',
      'Broken 1-2, after 4-4, Y 5-7, Y.m 6-6',
    ],
    [
      'c.ts',
      'export class Half {\n  one() {\n    if (a {\n      x()\n    }\n  }\n  two() {\n    return 2\n  }\n}\nexport function c() {}\n',
      'Half 1-10, Half.one 2-6, Half.two 7-9, c 11-11',
    ],
    [
      'd.ts',
      'export function f() {}\n<<<<<<< HEAD\nexport function g() {}\n=======\nexport function h() {}\n>>>>>>> other\nexport function i() {}\n',
      'f 1-1, g 3-3, h 5-5, i 7-7',
    ],
    [
      'a.py',
      'def a():\n    return 1\n\ndef b(x:\n    return 2\n\n# c\ndef c():\n    return 3\n\nclass D:\n    def e(self):\n        return (1\n    def f(self):\n        return 2\n',
      'a 1-2, c 8-9, D 11-15, D.e 12-13, D.f 14-15',
    ],
    [
      'a.go',
      'package a\n\nfunc A() int {\n\treturn 1\n}\n\nfunc B() {\n\tif x := ( {\n\t}\n}\n\ntype T struct {\n\ta int\n}\n\nfunc (t *T) M() {\n}\n',
      'A 3-5, B 7-10, T 12-14, T.M 16-17',
    ],
    [
      'a.rs',
      'fn a() {}\n\nimpl T {\n    fn b(&self) {\n        let x = ( ;\n    }\n    fn c(&self) {}\n}\n\nstruct T {\n    a: u8,\n}\n',
      'a 1-1, T.b 4-6, T.c 7-7, T 10-12',
    ],
    [
      'A.java',
      'package p;\n\npublic class A {\n    void a() {\n        foo(;\n    }\n\n    @Override\n    public void b( {\n    }\n    void c() {}\n}\n\nclass B {\n    void d() {}\n}\n',
      'A 3-12, A.a 4-6, A.b 8-10, A.c 11-11, B 14-16, B.d 15-15',
    ],
    [
      'a.c',
      'int a(void) { return 1; }\n\nint b(void)\n{\n    if (x {\n    }\n}\n\nint c(void)\n{\n    return 1;\n}\n',
      'a 1-1, b 3-7, c 9-12',
    ],
    [
      'a.php',
      '<?php\nfunction a() {\n    foo(;\n}\n\nclass B {\n    function c() {}\n    function d( {\n    }\n    function e() {}\n}\n',
      'a 2-4, B 6-11, B.c 7-7, B.d 8-9, B.e 10-10',
    ],
    [
      'a.rb',
      'class A\n  def a\n    foo(\n  end\n  def b\n    1\n  end\nend\n\ndef c\n  2\nend\n',
      'A 1-8, A.a 2-4, A.b 5-7, c 10-12',
    ],
  ])('%s', async (path, text, expected) => {
    expect(await kept(path, text)).toBe(expected)
  })

  it('and a call that only lacks its semicolon', async () => {
    const text =
      'class Half {\n    void go() {\n        if (a {\n            b();\n    }\n}\n\nclass A {\n    void a() {\n        help()\n    }\n    void help() {}\n}\n'
    expect(linksOf(await graphOf({ 'A.java': text }), 'CALLS')).toEqual(['A.java#A.a CALLS A.java#A.help 0.5'])
  })

  it('wherever in a file of many functions a bracket is missing', async () => {
    const grammars = await grammarsFor(['a.ts'])
    const COUNT = 30
    const text = Array.from(
      { length: COUNT },
      (_, at) => `export function f${at}(a: number) {\n  if (a) {\n    g([a])\n  }\n}\n`,
    )
    fc.assert(
      fc.property(fc.nat(COUNT - 1), fc.nat(9), (broken, bracket) => {
        const places = [...(text[broken] as string).matchAll(/[()[\]{}]/g)].map(({ index }) => index)
        const at = places[bracket] as number
        const cut = text.map((one, place) => (place === broken ? one.slice(0, at) + one.slice(at + 1) : one))
        const { concepts, hasErrors } = extractOrThrow(grammars, 'a.ts', cut.join('\n'))
        const names = new Set(concepts.map(({ qualifiedName }) => qualifiedName))
        const others = Array.from({ length: COUNT }, (_, place) => `f${place}`).filter((_, place) => place !== broken)
        expect(others.filter(name => !names.has(name))).toEqual([])
        expect(hasErrors).toBe(true)
      }),
      { numRuns: process.env['QUERENT_LONG'] === '1' ? 1_000 : 40 },
    )
  })
})

describe('the cost of a file with errors', () => {
  it.each([
    ['many empty lines behind `let`', `let${'\n'.repeat(200_000)}a = = 1`],
    ['many signatures without an end', `${'a\n<a>(b'.repeat(10_000)}`],
    ['many defaults without a body', `${'export default function (a,'.repeat(5_000)}${'):'.repeat(5_000)}`],
  ])('ends where patterns look far ahead: %s (CX-077)', async (_, text) => {
    expect((await read('a.ts', text)).hasErrors).toBe(true)
  })

  it.each([
    ['errors on every line', 'const a = = 1;\n'.repeat(20_000)],
    ['a staircase', Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}f(`).join('\n')],
    ['one long line', 'f({'.repeat(50_000)],
    ['empty lines', `${'\n'.repeat(100_000)}<`],
    ['quotes', '"\\"\'`/'.repeat(20_000)],
  ])('is at most a few times its length: %s', (_, text) => {
    let parsed = 0
    let parses = 0
    soundText(text, 'typescript', part => {
      parsed += part.length
      parses++
      return false
    })
    expect(parsed).toBeLessThan(8 * text.length + 100_000)
    expect(parses).toBeLessThanOrEqual(400)
  })
})
