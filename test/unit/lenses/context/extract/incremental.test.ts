/** A file changed at a time, or all at once: the same links (CX-066, CX-067). */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Extraction } from '../../../../../src/lenses/context/extract/concept.ts'
import type { Grammars } from '../../../../../src/lenses/context/extract/grammars.ts'
import { CodeGraph } from '../../../../../src/lenses/context/extract/resolve/code-graph.ts'
import { extractOrThrow, grammarsFor, linksOf } from '../../../../support/extracted.ts'

/** Path -> texts that the file may have; null: it is not there. Chosen so that almost every change moves links of others. */
const CHOICES: Readonly<Record<string, readonly (string | null)[]>> = {
  'a.ts': [
    null,
    'export class A { go(): B { return new B() } }\nimport { B } from "./b"',
    'export class A {}\nexport * from "./b"',
    '// only words',
  ],
  'b.ts': [
    null,
    'export class B { run() {} }',
    'export { A as B } from "./a"\nexport default 1',
    'export interface B {}',
  ],
  'b/index.ts': [null, 'export class B { other() {} }'],
  'c.ts': [
    null,
    'import { A } from "./a"\nimport { B } from "./b"\nclass C extends B { m(a: A) { a.go().run(); this.run() } }',
    'import { B } from "@/b"\nimport kit from "kit"\nnew B(); kit()',
  ],
  'tsconfig.json': [null, '{"compilerOptions":{"paths":{"@/*":["./*"]}}}', '{"compilerOptions":{"baseUrl":"./b"}}'],
  'kit/package.json': [null, '{"name":"kit","main":"./go.js"}', '{"name":"other","main":"./go.js"}'],
  'kit/go.js': [null, 'module.exports = function go() {}', 'exports.x = 1'],
  'p/__init__.py': [null, 'from .m import f', ''],
  'p/m.py': [null, 'def f(): pass', 'from . import n as f'],
  'p/n.py': [null, 'from p import f\nf()', 'class f: pass'],
  'go.mod': [null, 'module m\n', 'module other\n'],
  'g/a.go': [
    null,
    'package g\nimport "m/h"\ntype T struct { U }\nfunc A(t *T) { F(); t.M(); h.F(); t.N() }',
    'package g\nfunc F() {}\ntype U struct{}',
    'package other\nfunc A() { F() }',
  ],
  'g/b.go': [null, 'package g\nfunc F() {}\nfunc (t *T) M() {}', 'package g\ntype U struct{}\nfunc (u U) N() {}'],
  'h/a.go': [null, 'package h\nfunc F() {}', 'package h\nfunc G() {}'],
  'j/A.java': [
    null,
    'package j;\nclass A extends B { void a() { b(); C.c(); } }',
    'package j;\nclass B { void b() {} }',
  ],
  'j/B.java': [
    null,
    'package j;\nimport k.C;\nclass B extends C { void b() { c(); } }',
    'package j;\nclass C { static void c() {} }',
  ],
  'k/C.java': [null, 'package k;\npublic class C { public static void c() {} }', 'package k;\nclass D {}'],
  'r/lib.rs': [null, 'mod a;\nmod b;\npub use a::f;', 'mod a;\npub fn f() { a::f(); }', 'pub mod b { pub fn f() {} }'],
  'r/a.rs': [null, 'use crate::b::S;\npub fn f() { S::new().go(); super::b::f(); }', 'pub fn f() {}'],
  'r/b.rs': [null, 'pub struct S;\nimpl S { pub fn new() -> Self { S }\npub fn go(&self) {} }', 'pub use crate::f;'],
  'guide.md': [null, '# B\n`A` `B.run` [x](b.ts) [y](more.md#b)', '`f`'],
  'more.md': [null, '# B', '# C'],
}
const paths = Object.keys(CHOICES)

describe('the links of a workspace', () => {
  let grammars: Grammars
  const known = new Map<string, Extraction>()

  beforeAll(async () => {
    grammars = await grammarsFor(paths)
  })

  function extraction(path: string, text: string): Extraction {
    const id = `${path}\n${text}`
    const found = known.get(id) ?? extractOrThrow(grammars, path, text)
    known.set(id, found)
    return found
  }

  function change(path: string, choice: number): { put?: Extraction[]; remove?: string[] } {
    const texts = CHOICES[path] as readonly (string | null)[]
    const text = texts[choice % texts.length] as string | null
    return text === null ? { remove: [path] } : { put: [extraction(path, text)] }
  }

  it('are those of a full rebuild after any sequence of changes (CX-067)', () => {
    const step = fc.record({ path: fc.constantFrom(...paths), choice: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), steps => {
        const graph = new CodeGraph()
        const before = new Map<string, string>()
        for (const { path, choice } of steps) {
          const touched = new Set(graph.update(change(path, choice)))
          // Whatever was not named as touched has kept its links.
          for (const one of paths) {
            const links = JSON.stringify(graph.links(one))
            if (!touched.has(one)) expect(links).toBe(before.get(one) ?? '[]')
            before.set(one, links)
          }
        }
        const fresh = new CodeGraph()
        fresh.update({
          put: graph
            .paths()
            .map(path => graph.extraction(path) as Extraction)
            .reverse(),
        })
        expect(linksOf(graph)).toEqual(linksOf(fresh))
      }),
      { numRuns: process.env['QUERENT_LONG'] === '1' ? 5_000 : 400 },
    )
  })

  it('reach every kind of link in that property', () => {
    const graph = new CodeGraph()
    for (const path of paths) graph.update(change(path, 1))
    const relations = new Set(linksOf(graph).map(link => link.split(' ')[1]))
    expect([...relations].sort()).toEqual(
      ['CALLS', 'CONTAINS', 'DEFINED_IN', 'DEPENDS_ON', 'EXTENDS', 'LINKS_TO', 'MENTIONS', 'USES'].sort(),
    )
  })

  it('are not looked at when a file comes again unchanged, or is removed twice (CX-066)', () => {
    const graph = new CodeGraph()
    expect(graph.update(change('a.ts', 1))).toEqual(['a.ts'])
    expect(graph.update(change('a.ts', 1))).toEqual([])
    expect(graph.update({ remove: ['a.ts'] })).toEqual(['a.ts'])
    expect(graph.update({ remove: ['a.ts'] })).toEqual([])
    expect(graph.links('a.ts')).toEqual([])
  })

  it('change with the body of a file in that file alone, with its surface in those that import it', () => {
    const graph = new CodeGraph()
    graph.update({
      put: [
        extraction('a.ts', 'export function f() { return 1 }'),
        extraction('b.ts', 'import { f } from "./a"\nf()'),
        extraction('c.ts', 'export const c = 1'),
      ],
    })
    expect(graph.update({ put: [extraction('a.ts', 'export function f() { return g() }')] })).toEqual(['a.ts'])
    expect(graph.update({ put: [extraction('a.ts', 'export function h() {}')] })).toEqual(['a.ts', 'b.ts'])
    expect(linksOf(graph, 'CALLS')).toEqual([])
  })

  it('come back from JSON as they were', () => {
    const graph = new CodeGraph()
    const all = paths.flatMap(path => change(path, 1).put ?? [])
    graph.update({ put: JSON.parse(JSON.stringify(all)) as Extraction[] })
    const fresh = new CodeGraph()
    fresh.update({ put: all })
    expect(linksOf(graph)).toEqual(linksOf(fresh))
  })
})
