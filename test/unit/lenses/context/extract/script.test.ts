/** TypeScript and JavaScript: what becomes a concept, and what refers to what (CX-058, CX-059, CX-065). */
import { describe, expect, it } from 'vitest'
import {
  conceptsOf,
  extractAll,
  extractOrThrow,
  grammarsFor,
  graphOf,
  linksOf,
  referencesOf,
} from '../../../../support/extracted.ts'

describe('concepts of a script', () => {
  it('reads the example of CX-058', async () => {
    const source = 'export class A extends B { go() { f(); } }'
    expect(await conceptsOf('a.ts', source)).toEqual(['Class A', 'Method A.go'])
    expect(await referencesOf('a.ts', source)).toEqual([
      'A DEFINED_IN a.ts',
      'A CONTAINS A.go',
      'A EXTENDS B',
      'A.go CALLS f',
    ])
  })

  it('has one for every kind of declaration (CX-058)', async () => {
    const source = `
      interface I { a(): void }
      type T = I | null
      const enum E { One }
      abstract class C { #own = 1; field = () => 1; static make() {} get size() { return 1 } set size(n) {} abstract m(): void; constructor() {} ['computed']() {} }
      function declared() { const inner = () => {} }
      const arrow = async () => {}, other = function named() {}
      const Made = class { run() {} }
      export const limit = 1, { one, two: [three] } = source
      const later = 2, hidden = 3
      let variable = 4
      namespace Space { export function within() {} }
      export { later as renamed }`
    expect(await conceptsOf('a.ts', source)).toEqual([
      ...['Interface I', 'TypeAlias T', 'Enum E', 'Class C', 'Method C.field', 'Method C.make', 'Method C.size'],
      ...['Method C.m', 'Function declared', 'Function inner', 'Function arrow', 'Function other', 'Class Made'],
      ...['Method Made.run', 'Constant limit', 'Constant one', 'Constant three', 'Constant later', 'Function within'],
    ])
  })

  it('has none for what is in comments, strings, templates and patterns (CX-058)', async () => {
    const source = [
      '// class A {}',
      '/* function b() {} */',
      "const text = 'class C { d() {} }'",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that is read has the template
      'const template = `function e() {} ${"interface F {}"}`',
      'const pattern = /class G {}/',
    ].join('\n')
    expect(await conceptsOf('a.ts', source)).toEqual([])
    expect(await referencesOf('a.ts', source)).toEqual([])
  })

  it('reads what templates run', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that is read has the template
    expect(await referencesOf('a.js', 'const a = `${f(`${g()}`)}`')).toEqual(['a.js CALLS f', 'a.js CALLS g'])
  })

  it('joins overloads and parts of an interface, and tells same names apart', async () => {
    const source =
      'function f(a: string): void\nfunction f(a: any) {}\ninterface I {}\ninterface I {}\nfunction g() { function f() {} }\nfunction h() { function f() {} }'
    const grammars = await grammarsFor(['a.ts'])
    expect(extractOrThrow(grammars, 'a.ts', source).concepts.map(({ key }) => key)).toEqual([
      ...['Module a.ts', 'Function f', 'Interface I', 'Function g', 'Function g.f', 'Function h', 'Function h.f'],
    ])
    const same = 'if (a) { function f() {} } else { function f() {} }'
    const keys = extractOrThrow(grammars, 'a.js', same).concepts.map(({ key }) => key)
    expect(keys).toEqual(['Module a.js', 'Function f', 'Function f~2'])
  })

  it('spans all parts that follow each other: overloads, accessors, a comment between (CX-058)', async () => {
    const lines = async (path: string, source: string) =>
      (await extractAll(new Map([[path, source]])))[0]?.concepts
        .slice(1)
        .map(({ name, startLine, endLine }) => `${name} ${startLine}-${endLine}`)
    const overloads = 'export function f(a: string): void\n// or\nexport function f(a: any) {\n  return a\n}\nf(1)\n'
    expect(await lines('a.ts', overloads)).toEqual(['f 1-5'])
    const apart = 'function f(): void\nlet x = 1\nfunction f(a?: any) {\n}\n'
    expect(await lines('a.ts', apart)).toEqual(['f 1-1'])
    const accessors = 'class A {\n  get a() { return 1 }\n  set a(v) {\n  }\n  b(): void;\n  b(a?: any) {\n  }\n}'
    expect(await lines('a.ts', accessors)).toEqual(['A 1-8', 'A.a 2-4', 'A.b 5-7'])
    const python =
      '@overload\ndef f(a: int): ...\n@typing.overload\ndef f(a: str): ...\ndef f(a):\n    return a\nclass A:\n    @property\n    def b(self): pass\n    @b.setter\n    def b(self, v):\n        pass\ndef g(): pass\ndef g(): pass\n'
    expect(await lines('a.py', python)).toEqual(['f 1-6', 'A 7-12', 'A.b 8-12', 'g 13-13', 'g 14-14'])
    expect(await lines('A.java', 'class A {\n  int f() { }\n  /* more */\n  int f(int a) {\n  }\n}')).toEqual([
      ...['A 1-6', 'A.f 2-5'],
    ])
  })

  it('knows default exports and functions given to exports', async () => {
    expect(await conceptsOf('a.ts', 'export default class { go() {} }')).toEqual(['Class default', 'Method default.go'])
    expect(await conceptsOf('a.ts', 'export default () => 1')).toEqual(['Function default'])
    const source = 'exports.f = () => 1\nmodule.exports = { g() {}, h: function () {} }'
    expect(await conceptsOf('a.js', source)).toEqual(['Function f', 'Function g', 'Function h'])
  })

  it('tells span, signature and documentation', async () => {
    const source =
      '\n/**\n * Opens it.\n * @param path where\n */\nexport async function open(\n  path: string,\n): Promise<void> {\n  return\n}\n\n// Far off.\n\nclass A {}\n'
    const [extraction] = await extractAll(new Map([['a.ts', source]]))
    expect(extraction?.concepts.slice(1)).toEqual([
      {
        key: 'Function open',
        type: 'Function',
        name: 'open',
        qualifiedName: 'open',
        startLine: 6,
        endLine: 10,
        signature: 'export async function open( path: string, ): Promise<void>',
        doc: 'Opens it.\n@param path where',
      },
      {
        key: 'Class A',
        type: 'Class',
        name: 'A',
        qualifiedName: 'A',
        startLine: 14,
        endLine: 14,
        signature: 'class A',
        doc: '',
      },
    ])
  })

  it('tells signatures without bodies, also of functions by assignment', async () => {
    const source =
      'export const f = (a: number): string => {\n  return 1\n}\nexports.g = function (a) {\n  return 2\n}\nclass A { n = async () => 1 }'
    const [extraction] = await extractAll(new Map([['a.ts', source]]))
    expect(extraction?.concepts.slice(1).map(({ signature }) => signature)).toEqual([
      ...['export const f = (a: number): string', 'exports.g = function (a)', 'class A', 'n = async ()'],
    ])
  })

  it('reads what is between two parts in one pass', async () => {
    const noise = `${'// // '.repeat(300)}\n${'/**/ '.repeat(300)}${'# '.repeat(300)}\n`
    const source = `function f(): void\n${noise}x\nfunction f() {}\n`
    const [extraction] = await extractAll(new Map([['a.ts', source]]))
    expect(extraction?.concepts.find(({ name }) => name === 'f')).toMatchObject({ startLine: 1, endLine: 1 })
  })

  it('attaches notes to what encloses them (CX-063)', async () => {
    const source =
      'function f() {\n  // TODO: close it\n  return 1 // FIXME later\n}\n/* HACK(ann): around */\n// a todo is none, nor is TODOS\nconst s = "WARNING: no"'
    const graph = await graphOf({ 'a.ts': source })
    expect(linksOf(graph, 'CONTAINS')).toEqual([
      'a.ts#f CONTAINS a.ts#FIXME: later 1',
      'a.ts#f CONTAINS a.ts#TODO: close it 1',
      'a.ts#a.ts CONTAINS a.ts#HACK(ann): around 1',
    ])
    const caveat = graph.extraction('a.ts')?.concepts.find(({ name }) => name === 'TODO: close it')
    expect([caveat?.type, caveat?.startLine]).toEqual(['Caveat', 2])
  })

  it.each([
    ['// TODO(bob, ann): one', 'TODO(bob, ann): one', 'one'],
    ['/* FIXME[#12] two */', 'FIXME[#12]: two', 'two'],
    ['// HACK (three) -->', 'HACK: (three)', '(three)'],
    ['// TODO(', 'TODO: (', '('],
    ['// WARNING(): four', 'WARNING(): four', 'four'],
  ])('names the note in %s with whom it is for: %s (CX-063)', async (source, name, doc) => {
    const [extraction] = await extractAll(new Map([['a.ts', source]]))
    expect(extraction?.concepts.find(({ type }) => type === 'Caveat')).toMatchObject({ name, doc })
  })
})

describe('relations of scripts', () => {
  it('lead through `import x = require()` to what the module exports by name (CX-059)', async () => {
    const graph = await graphOf({
      'a.cts': 'import ns = require("./ns")\nclass A extends ns.C { go() { super.m(); ns.f() } }\nexport = A\n',
      'b.cts': 'import A = require("./a.cjs")\nexport class B extends A { run() { new A().go() } }\n',
      'c.cjs': 'const ns = require("./ns")\nfunction c() { ns.f() }\n',
      'ns.ts': 'export class C { m() {} }\nexport function f() {}\n',
    })
    expect(linksOf(graph, 'EXTENDS')).toEqual(['a.cts#A EXTENDS ns.ts#C 1', 'b.cts#B EXTENDS a.cts#A 1'])
    expect(linksOf(graph, 'CALLS')).toEqual([
      ...['a.cts#A.go CALLS ns.ts#f 0.5', 'a.cts#A.go CALLS ns.ts#C.m 0.5', 'b.cts#B.run CALLS a.cts#A 0.5'],
      ...['b.cts#B.run CALLS a.cts#A.go 0.5', 'c.cjs#c CALLS ns.ts#f 0.5'],
    ])
  })

  it('weighs dependencies by their kind (CX-059, CX-064)', async () => {
    const graph = await graphOf({
      'b.ts': 'export class B {}',
      'src/index.ts': '',
      'a.ts': [
        "import { B } from './b'",
        "export * from './src'",
        "import type { T } from './types.js'",
        "import { type U } from './types2'",
        "const lazy = () => import('./lazy.mjs')",
        "const old = require('node:fs/promises')",
        "import '@scope/name/deep'",
        "import './missing'",
        "import './style.css'",
        "let t: import('./in-type').T",
      ].join('\n'),
      'types.ts': '',
      'types2.ts': '',
      'lazy.mts': '',
      'in-type.ts': '',
    })
    expect(linksOf(graph, 'DEPENDS_ON')).toEqual([
      ...['a.ts#a.ts DEPENDS_ON @scope/name 1', 'a.ts#a.ts DEPENDS_ON node:fs 1', 'a.ts#a.ts DEPENDS_ON b.ts#b.ts 1'],
      'a.ts#a.ts DEPENDS_ON in-type.ts#in-type.ts 0.5',
      'a.ts#a.ts DEPENDS_ON lazy.mts#lazy.mts 0.5',
      'a.ts#a.ts DEPENDS_ON src/index.ts#src/index.ts 1',
      'a.ts#a.ts DEPENDS_ON types.ts#types.ts 0.5',
      'a.ts#a.ts DEPENDS_ON types2.ts#types2.ts 0.5',
    ])
  })

  it('keeps the heavier of two ties', async () => {
    const graph = await graphOf({ 'a.ts': "import type { T } from './b'\nimport './b'", 'b.ts': '' })
    expect(linksOf(graph, 'DEPENDS_ON')).toEqual(['a.ts#a.ts DEPENDS_ON b.ts#b.ts 1'])
  })

  it('follows names through imports, re-exports, stars and namespaces (CX-059, CX-065)', async () => {
    const graph = await graphOf({
      'deep.ts': 'export class Deep { run() {} }\nexport default function start() {}\nexport interface Shape {}',
      'star.ts': "export * from './deep'\nexport { default as begin } from './deep'\nexport * as all from './deep'",
      'use.ts':
        "import { Deep as Renamed, begin, all } from './star'\nimport type { Shape } from './star'\nimport * as ns from './star'\nexport class Mine extends Renamed implements Shape { go(given: Shape) { begin(); new all.Deep(); ns.begin(); this.run(); super.run() } }",
    })
    expect(linksOf(graph).filter(link => link.startsWith('use.ts#M') || link.startsWith('use.ts#Mine'))).toEqual([
      'use.ts#Mine CONTAINS use.ts#Mine.go 1',
      'use.ts#Mine DEFINED_IN use.ts#use.ts 1',
      'use.ts#Mine EXTENDS deep.ts#Deep 1',
      'use.ts#Mine IMPLEMENTS deep.ts#Shape 1',
      'use.ts#Mine.go CALLS deep.ts#Deep 0.5',
      'use.ts#Mine.go CALLS deep.ts#start 0.5',
      'use.ts#Mine.go CALLS deep.ts#Deep.run 0.5',
      'use.ts#Mine.go USES deep.ts#Shape 0.5',
    ])
  })

  it('links no call to a name that is only the same (CX-065)', async () => {
    const graph = await graphOf({
      'a.ts': 'export function run() {}\nexport class Box { open() {} }',
      'b.ts':
        'export function run() {}\nexport class Box { open() {} }\nrun()\nfunction f(run: () => void, box) { run(); box.open() }',
      'c.ts': 'run()\nnew Box().open()',
    })
    expect(linksOf(graph, 'CALLS')).toEqual(['b.ts#b.ts CALLS b.ts#run 0.5'])
    expect(graph.conceptNamed('run')).toBeNull()
    expect(graph.extraction('a.ts')?.concepts[1]?.key).toBe(graph.extraction('b.ts')?.concepts[1]?.key)
  })

  it('keep names of blocks apart: those of loops, of try and of finally (CX-065)', async () => {
    const source = `class A { go() {} }\nclass B { go() {} }
function tried() { try { const x = new A(); x.go() } finally { const x = new B(); x.go() } }
function looped() { while (a()) { const x = new A() }\ndo { const x = new B(); x.go() } while (b()) }`
    const links = linksOf(await graphOf({ 'a.js': source }), 'CALLS')
    expect(links.filter(link => /go/.test(link)).map(link => link.replaceAll('a.js#', ''))).toEqual([
      ...['looped CALLS B.go 0.5', 'tried CALLS A.go 0.5', 'tried CALLS B.go 0.5'],
    ])
  })

  it('follows namespaces of the file, also those in parts (CX-065)', async () => {
    const source =
      'namespace N { export function f() {}\nexport namespace M { export class C { m() {} } } }\nnamespace N { export function g() { f() } }\nfunction go() { N.f(); N.g(); new N.M.C().m(); N.none(); M.f() }'
    const links = linksOf(await graphOf({ 'a.ts': source }), 'CALLS')
    expect(links.map(link => link.replaceAll('a.ts#', ''))).toEqual([
      ...['g CALLS f 0.5', 'go CALLS C 0.5', 'go CALLS f 0.5', 'go CALLS g 0.5', 'go CALLS C.m 0.5'],
    ])
  })

  it('follows values by annotation, construction, fields, lists and what a call gives', async () => {
    const graph = await graphOf({
      'box.ts':
        'export class Box { open(): Lid { return new Lid() } }\nexport class Lid { lift() {} }\nexport function find(): Promise<Box[]> { return [] }',
      'a.ts': [
        "import { Box, find, type Lid } from './box'",
        'class Holder {',
        '  private readonly box: Box | null = null',
        '  readonly boxes = new Map<string, Box>()',
        '  constructor(readonly lid: Lid) {}',
        '  field() { this.box?.open().lift() }',
        '  parameter() { this.lid.lift() }',
        "  map() { this.boxes.get('a')!.open() }",
        '  async list() { for (const box of await find()) box.open() }',
        '  callback() { find().then(all => all.forEach(box => box.open())) }',
        '  destructured({ lid }: Holder, [first]: Box[]) { lid.lift(); first.open() }',
        '}',
      ].join('\n'),
    })
    expect(linksOf(graph, 'CALLS').filter(link => link.startsWith('a.ts'))).toEqual([
      'a.ts#Holder.callback CALLS box.ts#find 0.5',
      'a.ts#Holder.callback CALLS box.ts#Box.open 0.5',
      'a.ts#Holder.destructured CALLS box.ts#Box.open 0.5',
      'a.ts#Holder.destructured CALLS box.ts#Lid.lift 0.5',
      'a.ts#Holder.field CALLS box.ts#Box.open 0.5',
      'a.ts#Holder.field CALLS box.ts#Lid.lift 0.5',
      'a.ts#Holder.list CALLS box.ts#find 0.5',
      'a.ts#Holder.list CALLS box.ts#Box.open 0.5',
      'a.ts#Holder.map CALLS box.ts#Box.open 0.5',
      'a.ts#Holder.parameter CALLS box.ts#Lid.lift 0.5',
    ])
  })

  it('reads names in every script, and names that objects have of their own', async () => {
    const source =
      'class Ключ { метод() { this.метод2() } метод2() {} }\nconst 変数 = () => 1\nfunction 𝒳() { 変数() }\nexport function constructor() {}\nexport class __proto__ { hasOwnProperty() {} }\nconstructor(); toString()'
    const graph = await graphOf({
      'a.ts': source,
      'b.ts': "import { constructor, valueOf, __proto__ } from './a'\nconstructor(); valueOf(); new __proto__()",
    })
    expect(linksOf(graph, 'CALLS')).toEqual([
      'a.ts#𝒳 CALLS a.ts#変数 0.5',
      'a.ts#Ключ.метод CALLS a.ts#Ключ.метод2 0.5',
      'a.ts#a.ts CALLS a.ts#constructor 0.5',
      'b.ts#b.ts CALLS a.ts#__proto__ 0.5',
      'b.ts#b.ts CALLS a.ts#constructor 0.5',
    ])
  })
})
