/**
 * Calls across files of Go, Java and Rust (CX-079): every link of small packages written for it, with names that mean
 * something else where they stand: hidden by parameters and variables, of another package, of tests, of another type.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Extraction } from '../../../../../src/lenses/context/extract/concept.ts'
import { extractAll, filesBelow, graphOf, linksOf, readFiles } from '../../../../support/extracted.ts'

async function linksBelow(language: string, relation: string): Promise<string[]> {
  const root = fileURLToPath(new URL(`../../../../fixtures/code/${language}`, import.meta.url))
  const graph = await graphOf(readFiles(root, filesBelow(root, /\.(?:go|mod|java|rs)$/)))
  return linksOf(graph, relation).map(link =>
    link.replaceAll(/src\/(?:main|test)\/java\//g, '').replace(/ [\d.]+$/, ''),
  )
}

describe('calls across files', () => {
  it('of Go are those within a package, on receivers and typed values, and through imports of the module', async () => {
    expect(await linksBelow('go', 'CALLS')).toEqual([
      'cmd/main.go#main CALLS other/other.go#Map',
      'cmd/main.go#main CALLS other/other.go#New',
      'cmd/main.go#main CALLS other/other.go#Store.Get',
      'cmd/main.go#main CALLS store/item.go#Item.Use',
      'cmd/main.go#main CALLS store/store.go#New',
      'cmd/main.go#main CALLS store/store.go#Store.Get',
      'store/item.go#Item.Use CALLS store/item.go#check',
      'store/item.go#Store.reset CALLS store/item.go#Item.Use',
      'store/os_windows.go#start CALLS store/os_windows.go#platform',
      'store/outside_test.go#TestOutside CALLS store/outside_test.go#check',
      'store/outside_test.go#TestOutside CALLS store/store.go#New',
      'store/outside_test.go#TestOutside CALLS store/store.go#Store.Get',
      'store/store.go#New CALLS store/item.go#Store.reset',
      'store/store.go#again CALLS store/store.go#Store.Get',
      'store/store.go#Store.Each CALLS store/item.go#Item.Use',
      'store/store.go#Store.Get CALLS store/item.go#check',
      'store/store.go#Store.Get CALLS store/item.go#Item.Use',
      'store/store.go#Store.Get CALLS store/item.go#base.touch',
      'store/store.go#store/store.go CALLS store/store.go#New',
      'store/store_test.go#TestGet CALLS store/store.go#New',
      'store/store_test.go#TestGet CALLS store/store.go#Store.Get',
      'store/store_test.go#TestGet CALLS store/store_test.go#helper',
      'store/store_test.go#helper CALLS store/item.go#check',
    ])
  })

  it('of Java are those of classes of the package, imported ones, and members that are inherited', async () => {
    expect(await linksBelow('java', 'CALLS')).toEqual([
      'shop/app/App.java#App CALLS shop/store/Item.java#Item',
      'shop/app/App.java#App.main CALLS other/Tools.java#Tools.help',
      'shop/app/App.java#App.main CALLS shop/app/App.java#App.item',
      'shop/app/App.java#App.main CALLS shop/app/Lone.java#Lone.run',
      'shop/app/App.java#App.main CALLS shop/store/Item.java#Item',
      'shop/app/App.java#App.main CALLS shop/store/Item.java#Item.of',
      'shop/app/App.java#App.main CALLS shop/store/Item.java#Item.use',
      'shop/app/App.java#App.main CALLS shop/store/Store.java#Store',
      'shop/app/App.java#App.main CALLS shop/store/Store.java#Store.keep',
      'shop/app/App.java#App.more CALLS shop/store/Base.java#Base.touch',
      'shop/app/App.java#App.more CALLS shop/store/Item.java#Item.keep',
      'shop/store/Base.java#Base CALLS shop/store/Item.java#Item',
      'shop/store/Base.java#Base.touch CALLS shop/store/Base.java#Base.reset',
      'shop/store/Item.java#Item.of CALLS shop/store/Item.java#Item',
      'shop/store/Store.java#Store CALLS shop/store/Item.java#Item.of',
      'shop/store/Store.java#Inner.go CALLS shop/store/Base.java#Base.reset',
      'shop/store/Store.java#Inner.go CALLS shop/store/Store.java#Inner.own',
      'shop/store/Store.java#Store.keep CALLS shop/store/Base.java#Nested.ping',
      'shop/store/Store.java#Store.keep CALLS shop/store/Base.java#Base.first',
      'shop/store/Store.java#Store.keep CALLS shop/store/Base.java#Base.log',
      'shop/store/Store.java#Store.keep CALLS shop/store/Base.java#Base.reset',
      'shop/store/Store.java#Store.keep CALLS shop/store/Base.java#Base.touch',
      'shop/store/Store.java#Store.keep CALLS shop/store/Item.java#Item.keep',
      'shop/store/Store.java#Store.keep CALLS shop/store/Item.java#Item.use',
      'shop/store/Store.java#Store.keep CALLS shop/store/Store.java#Nested2',
      'shop/store/Store.java#Store.shadow CALLS shop/store/Item.java#Item',
      'shop/store/Store.java#Store.shadow CALLS shop/store/Item.java#Item.keep',
      'shop/store/Store.java#Store.shadow CALLS shop/store/Item.java#Item.use',
      'shop/store/Store.java#Store.shadow CALLS shop/store/Store.java#Hidden.hide',
      'shop/store/StoreTest.java#StoreTest.keeps CALLS shop/store/Base.java#Base.reset',
      'shop/store/StoreTest.java#StoreTest.keeps CALLS shop/store/Store.java#Store',
      'shop/store/StoreTest.java#StoreTest.keeps CALLS shop/store/Store.java#Store.keep',
    ])
    expect(await linksBelow('java', 'EXTENDS')).toEqual([
      'shop/app/App.java#App EXTENDS shop/store/Store.java#Store',
      'shop/store/Store.java#Store EXTENDS shop/store/Base.java#Base',
      'shop/store/Store.java#Nested2 EXTENDS shop/store/Base.java#Nested',
    ])
  })

  it('of Rust are those by path, by what use brings, and of members of types', async () => {
    expect(await linksBelow('rust', 'CALLS')).toEqual([
      'src/app.rs#run CALLS src/app.rs#make',
      'src/app.rs#run CALLS src/app.rs#Item.touch',
      'src/app.rs#run CALLS src/store/item.rs#check',
      'src/app.rs#run CALLS src/store/item.rs#Item.touch',
      'src/app.rs#run CALLS src/store/mod.rs#Store.get',
      'src/app.rs#run CALLS src/store/mod.rs#Store.new',
      'src/lib.rs#start CALLS src/lib.rs#top',
      'src/lib.rs#start CALLS src/store/mod.rs#open',
      'src/lib.rs#start CALLS src/tools.rs#help',
      'src/local.rs#go CALLS src/local.rs#again',
      'src/local.rs#go CALLS src/main.rs#main',
      'src/main.rs#main CALLS src/local.rs#go',
      'src/store/item.rs#Item.of CALLS src/lib.rs#top',
      'src/store/item.rs#Item.of CALLS src/store/item.rs#check',
      'src/store/item.rs#Item.of CALLS src/store/mod.rs#open',
      'src/store/mod.rs#open CALLS src/store/item.rs#Item.of',
      'src/store/mod.rs#open CALLS src/store/mod.rs#Store.new',
      'src/store/mod.rs#open_all CALLS src/store/mod.rs#all',
      'src/store/mod.rs#open_all CALLS src/store/mod.rs#open',
      'src/store/mod.rs#open_all CALLS src/store/mod.rs#helper',
      'src/store/mod.rs#open_all CALLS src/store/mod.rs#Store.new',
      'src/store/mod.rs#Keeper.keep_twice CALLS src/store/mod.rs#Keeper.keep',
      'src/store/mod.rs#Store.get CALLS src/store/item.rs#Item.touch',
      'src/store/mod.rs#Store.get CALLS src/store/mod.rs#all',
      'src/store/mod.rs#Store.get CALLS src/store/mod.rs#Keeper.keep_twice',
      'src/store/mod.rs#Store.get CALLS src/store/mod.rs#Store.keep',
      'src/store/mod.rs#Store.new CALLS src/store/item.rs#Item.of',
      'src/store/mod.rs#Store.new CALLS src/store/mod.rs#Store.prepare',
      'src/store/mod.rs#Store.prepare CALLS src/tools.rs#check',
      'src/store/mod.rs#Store.prepare CALLS src/tools.rs#help',
    ])
    expect(await linksBelow('rust', 'IMPLEMENTS')).toEqual([
      'src/store/mod.rs#Store IMPLEMENTS src/store/mod.rs#Keeper',
    ])
  })

  it('of Rust depend on the files of modules, and on other crates alone as packages', async () => {
    const depended = await linksBelow('rust', 'DEPENDS_ON')
    expect(depended.filter(link => link.startsWith('src/lib.rs') || link.startsWith('src/app.rs'))).toEqual([
      'src/app.rs#src/app.rs DEPENDS_ON std',
      'src/app.rs#src/app.rs DEPENDS_ON src/lib.rs#src/lib.rs',
      'src/app.rs#src/app.rs DEPENDS_ON src/store/item.rs#src/store/item.rs',
      'src/app.rs#src/app.rs DEPENDS_ON src/store/mod.rs#src/store/mod.rs',
      'src/lib.rs#src/lib.rs DEPENDS_ON src/app.rs#src/app.rs',
      'src/lib.rs#src/lib.rs DEPENDS_ON src/store/mod.rs#src/store/mod.rs',
      'src/lib.rs#src/lib.rs DEPENDS_ON src/tools.rs#src/tools.rs',
    ])
  })

  it('of Rust have modules for concepts', async () => {
    const graph = await graphOf({ 'src/lib.rs': 'mod a;\nmod b {\n    pub fn f() {}\n}\n', 'src/a.rs': '' })
    const concepts = graph
      .extraction('src/lib.rs')
      ?.concepts.map(({ type, qualifiedName }) => `${type} ${qualifiedName}`)
    expect(concepts).toEqual(['Module src/lib.rs', 'Module a', 'Module b', 'Function b.f'])
  })

  it.each([
    ['a.rs', 'use log::log;\nuse a::b;\nuse b::a;\nuse c as c;\nfn f() { log(); log::log(); a::b(); c::d(); }\n'],
    ['a.rs', `fn f() { ${'a::'.repeat(20_000)}b() }\nuse ${'a::'.repeat(20_000)}b;\n`],
    ['a.rs', `use ${'a::{'.repeat(20_000)}b${'}'.repeat(20_000)};\n`],
    ['a.rs', `${'mod a { use super::*; '.repeat(3_000)}fn f() { super::super::g() }${'}'.repeat(3_000)}\n`],
    ['a.rs', `type A = B;\ntype B = A;\nimpl A { fn f(&self) { self.f() } }\nfn f(a: A) { a.f(); let x = x; x.y() }\n`],
    ['a.go', `package a\ntype T struct { ${'*'.repeat(20_000)}T }\nfunc f(a ${'*'.repeat(20_000)}T) { a.f() }\n`],
    ['a.go', `package a\nfunc f() { ${'func() { '.repeat(5_000)}f()${' }()'.repeat(5_000)} }\n`],
    [
      'A.java',
      `import ${'a.'.repeat(20_000)}B;\nclass A extends ${'a.'.repeat(20_000)}B { void f() { ${'a.'.repeat(20_000)}b(); } }\n`,
    ],
    ['A.java', `${'class A extends A { '.repeat(3_000)}void f() { f(); }${'}'.repeat(3_000)}\n`],
  ])('of %s end, whatever is nested or leads in a circle', async (path, text) => {
    const graph = await graphOf({ [path]: text })
    expect(JSON.stringify(graph.extraction(path)).length).toBeLessThan(20_000_000)
    expect(Array.isArray(graph.links(path))).toBe(true)
  })

  it('of Java link nothing on what overloads with different types return', async () => {
    const graph = await graphOf({
      'A.java': `class A { void go() {} }
class B { void go() {} }
class C {
  A make(int a) { return null; }
  B make(String b) { return null; }
  A same(int a) { return null; }
  A same(String b) { return null; }
  void run() { make("b").go(); same("b").go(); }
}`,
    })
    const links = linksOf(graph, 'CALLS').map(link => link.replaceAll('A.java#', ''))
    expect(links).toEqual(['C.run CALLS A.go 0.5', 'C.run CALLS C.make 0.5', 'C.run CALLS C.same 0.5'])
  })

  it('follow a name that another file of the package comes to declare, or ceases to', async () => {
    const graph = await graphOf({ 'p/a.go': 'package p\nfunc A() { B() }\n' })
    expect(linksOf(graph, 'CALLS')).toEqual([])
    const [b] = await extractAll(new Map([['p/b.go', 'package p\nfunc B() {}\n']]))
    expect(graph.update({ put: [b as Extraction] })).toEqual(['p/a.go', 'p/b.go'])
    expect(linksOf(graph, 'CALLS')).toEqual(['p/a.go#A CALLS p/b.go#B 0.5'])
    expect(graph.update({ remove: ['p/b.go'] })).toEqual(['p/a.go', 'p/b.go'])
    expect(linksOf(graph, 'CALLS')).toEqual([])
  })
})
