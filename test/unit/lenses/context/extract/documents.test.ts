/** Markdown, files of settings, other text, and languages read for definitions (CX-061, CX-062, CX-064). */
import { describe, expect, it } from 'vitest'
import { conceptsOf, extractAll, graphOf, linksOf, referencesOf } from '../../../../support/extracted.ts'

describe('Markdown', () => {
  it('reads the example of CX-061', async () => {
    const graph = await graphOf({ 'guide.md': '# Guide\nSee `AuthService`.', 'auth.ts': 'export class AuthService {}' })
    expect(linksOf(graph, 'MENTIONS')).toEqual(['guide.md#Guide MENTIONS auth.ts#AuthService 0.1'])
  })

  it('nests sections by level and leaves out fenced code (CX-061)', async () => {
    const source = '# A\n## B\n```\n# no\n`f`\n```\n### C\n~~~md\n## no\n~~~\n## D\n# E\n'
    expect(await conceptsOf('a.md', source)).toEqual(['Section A', 'Section B', 'Section C', 'Section D', 'Section E'])
    expect(await referencesOf('a.md', source)).toEqual([
      ...['a.md CONTAINS A', 'A CONTAINS B', 'B CONTAINS C', 'A CONTAINS D', 'a.md CONTAINS E'],
    ])
    const [extraction] = await extractAll(new Map([['a.md', source]]))
    expect(extraction?.concepts.map(({ startLine, endLine }) => [startLine, endLine])).toEqual([
      [1, 12],
      [1, 11],
      [2, 10],
      [7, 10],
      [11, 11],
      [12, 12],
    ])
  })

  it('mentions a concept only when the name is one concept (CX-061)', async () => {
    const graph = await graphOf({
      'a.md': '`twice` `once()` `Box.open` `src/b.ts` `not a name` `nothing` `A`',
      'src/b.ts': 'export function twice() {}\nexport function once() {}\nexport class Box { open() {} }',
      'src/c.ts': 'function twice() {}',
      'b.md': '# A',
    })
    expect(linksOf(graph, 'MENTIONS')).toEqual([
      'a.md#a.md MENTIONS src/b.ts#once 0.1',
      'a.md#a.md MENTIONS src/b.ts#Box.open 0.1',
      'a.md#a.md MENTIONS src/b.ts#src/b.ts 0.1',
    ])
  })

  it('follows relative links to files and sections (CX-061, CX-064)', async () => {
    const graph = await graphOf({
      'docs/a.md':
        '# Top\n[code](../src/b.ts#L3) [part](b.md#the-second--part "title") [self](#top) [folder](sub/) [out](https://x.org/a.md) [gone](gone.md) `[no](b.md)`\n\n[ref]: <b.md>\n\n[odd](%zz.md) ![pic](../../x.png)',
      'docs/b.md': '# The Second & Part!\n',
      'docs/sub/README.md': '',
      'src/b.ts': '',
    })
    expect(linksOf(graph, 'LINKS_TO')).toEqual([
      'docs/a.md#Top LINKS_TO docs/b.md#docs/b.md 0.5',
      'docs/a.md#Top LINKS_TO docs/b.md#The Second & Part! 0.5',
      'docs/a.md#Top LINKS_TO docs/sub/README.md#docs/sub/README.md 0.5',
      'docs/a.md#Top LINKS_TO src/b.ts#src/b.ts 0.5',
    ])
  })
})

describe('Markdown as people write it (CX-061)', () => {
  const targets: Record<string, string> = {
    'my file.md': '',
    'foo_(bar).md': '',
    'ä.md': '',
    'b.md': '# Sub\n',
    'code.ts': 'export class Auth {}\nexport function go() {}',
  }
  const links = async (text: string, relation: string): Promise<string[]> =>
    linksOf(await graphOf({ ...targets, 'a.md': text }), relation)
      .filter(link => link.startsWith('a.md#'))
      .map(link =>
        link
          .replaceAll('a.md#', '')
          .replace(` ${relation} `, ' > ')
          .replace(/ [\d.]+$/, ''),
      )

  it.each([
    ['[a](<my file.md>)', 'my file.md'],
    ['[a](my%20file.md "with (title)")', 'my file.md'],
    ['[a](foo_(bar).md)', 'foo_(bar).md'],
    ['[a](foo_\\(bar\\).md)', 'foo_(bar).md'],
    ['[a](ä.md) and [a](%C3%A4.md)', 'ä.md'],
    ['[a link over\ntwo lines](b.md)', 'b.md'],
    ['> [a link over\n> two lines](b.md)', 'b.md'],
    ['[![a badge](badge.svg)](code.ts)', 'code.ts'],
    ['[a [nested] one](code.ts)', 'code.ts'],
    ['<a class="x" href="code.ts">code</a>', 'code.ts'],
    ['- item\n\n    - [deep](b.md)', 'b.md'],
  ])('follows %j', async (text, target) => {
    expect(await links(text, 'LINKS_TO')).toEqual([`a.md > ${target}#${target}`])
  })

  it.each([
    '\\[a\\](b.md)',
    '    [a](b.md)',
    'text\n\n\t[a](b.md)',
    '- item\n    ```\n    [a](b.md)\n    ```',
    '> ```\n> [a](b.md)\n> ```',
    '<!-- hidden\n[a](b.md)\n-->',
    'text <!-- [a](b.md) --> text',
    '``[a](b.md) ` ``',
    '[a](//b.md) [a](mailto:b.md)',
  ])('follows nothing in %j', async text => {
    expect(await links(text, 'LINKS_TO')).toEqual([])
  })

  it('links from where a definition is used', async () => {
    const text =
      '# One\n[text][Ref], [other][] and [plain].\n# Two\n[ref]: b.md\n[OTHER]: <my file.md> "title"\n[plain]: code.ts\n[unused]: ä.md\n[ref]: code.ts'
    expect(await links(text, 'LINKS_TO')).toEqual([
      'One > b.md#b.md',
      'One > code.ts#code.ts',
      'One > my file.md#my file.md',
      'Two > ä.md#ä.md',
    ])
  })

  it('follows a definition from any part of a long document, and counts lines through all of it', async () => {
    const parts = Array.from({ length: 5 }, (_, at) => `# Part ${at}\n\n[text][last]\n${'word '.repeat(20_000)}\n`)
    const text = `${parts.join('\n')}\n[last]: b.md\n`
    expect(await links(text, 'LINKS_TO')).toEqual(parts.map((_, at) => `Part ${at} > b.md#b.md`))
    const [extraction] = await extractAll(new Map([['a.md', text]]))
    expect(extraction?.concepts.slice(1).map(({ startLine }) => startLine)).toEqual([1, 6, 11, 16, 21])
  })

  it('takes front matter for no heading, and names headings of either kind', async () => {
    const text =
      '---\ntitle: Front\ntags: [`go`]\n---\n\nOver\ntwo lines\n===\n`Auth`\n\nNext\n---\n`go()`\n## Last `go` ##\n'
    expect(await conceptsOf('a.md', text)).toEqual(['Section Over two lines', 'Section Next', 'Section Last go'])
    expect((await links(text, 'MENTIONS')).sort()).toEqual([
      ...['Last go > code.ts#go', 'Next > code.ts#go', 'Over two lines > code.ts#Auth'],
    ])
    expect(await conceptsOf('a.md', '---\n\nTitle\n===\n')).toEqual(['Section Title'])
  })

  it('finds notes in comments of several lines (CX-063)', async () => {
    expect(await conceptsOf('a.md', '# A\n<!--\nTODO: one\n-->\ntext <!-- FIXME: two -->\n')).toEqual([
      ...['Section A', 'Caveat TODO: one', 'Caveat FIXME: two'],
    ])
  })
})

describe('other files (CX-062)', () => {
  it.each([
    ['a/b.json', '{}', 'Document a/b.json'],
    ['b.yaml', 'a: 1', 'Document b.yaml'],
    ['b.toml', '', 'Document b.toml'],
    ['a/notes.txt', 'text', 'Entity notes'],
    ['Makefile', 'all:', 'Entity Makefile'],
    ['.gitignore', 'x', 'Entity .gitignore'],
  ])('%s is one concept', async (path, text, expected) => {
    const [extraction] = await extractAll(new Map([[path, text]]))
    expect(extraction?.concepts.map(({ type, name }) => `${type} ${name}`)).toEqual([expected])
  })
})

describe('languages read for definitions (CX-062)', () => {
  const samples: Record<string, { text: string; concepts: string[]; links: string[] }> = {
    'a.go': {
      text: 'package a\nimport ("fmt")\n// Store keeps.\ntype Store struct{}\ntype R interface{ Get() int }\nfunc (s *Store) Load() { s.close(); run() }\nfunc (s *Store) close() {}\nfunc run() { fmt.Println() }\n',
      concepts: ['Class Store', 'Interface R', 'Method Store.Load', 'Method Store.close', 'Function run'],
      links: [
        'a.go DEPENDS_ON fmt',
        'Store CONTAINS Store.Load',
        'Store.Load CALLS Store.close',
        'Store.Load CALLS run',
      ],
    },
    'a.rs': {
      text: 'use std::fmt;\nstruct S;\ntrait T { fn t(&self); }\nimpl T for S { fn t(&self) { self.h(); go(); S::k() } }\nimpl S { fn h(&self) {} fn k() {} }\nfn go() {}\nenum E { A }\n',
      concepts: [
        'Class S',
        'Interface T',
        'Method T.t',
        'Method S.t',
        'Method S.h',
        'Method S.k',
        'Function go',
        'Enum E',
      ],
      links: [
        'a.rs DEPENDS_ON std',
        'S IMPLEMENTS T',
        'S CONTAINS S.t',
        'S.t CALLS S.h',
        'S.t CALLS go',
        'S.t CALLS S.k',
      ],
    },
    'A.java': {
      text: 'import java.util.List;\nclass A extends B implements I { int go() { return this.run() + other.run() + run(); } int run() { return 1; } }\nclass B {}\ninterface I {}\nenum E { X }\n',
      concepts: ['Class A', 'Method A.go', 'Method A.run', 'Class B', 'Interface I', 'Enum E'],
      links: ['A.java DEPENDS_ON java.util', 'A EXTENDS B', 'A IMPLEMENTS I', 'A CONTAINS A.go', 'A.go CALLS A.run'],
    },
    'a.c': {
      text: '#include <stdio.h>\nstruct P { int x; };\nint later(int a);\nstatic int f(int a) { return later(a); }\n',
      concepts: ['Class P', 'Function later', 'Function f'],
      links: ['a.c DEPENDS_ON stdio.h'],
    },
    'a.cpp': {
      text: 'class B {};\nclass A : public B { public: int go(); int in() { return go() + f(); } };\nint A::go() { return f(); }\nint f() { new B(); return 1; }\n',
      concepts: ['Class B', 'Class A', 'Method A.go', 'Method A.in', 'Function f'],
      links: ['A EXTENDS B', 'A CONTAINS A.go'],
    },
    'a.cs': {
      text: 'using System.Text;\nnamespace N { class A : B, IC { int Go() { return Run() + this.X(); } int Run() => 1; int X() => 2; } class B {} interface IC {} }\n',
      concepts: ['Class A', 'Method A.Go', 'Method A.Run', 'Method A.X', 'Class B', 'Interface IC'],
      links: ['a.cs DEPENDS_ON System.Text', 'A EXTENDS B', 'A IMPLEMENTS IC'],
    },
    'a.rb': {
      text: "require 'json'\nmodule M\n  class A < B\n    def go(a) run(a) end\n    def run(a) end\n  end\n  class B\n  end\nend\n",
      concepts: ['Class M', 'Class A', 'Method A.go', 'Method A.run', 'Class B'],
      links: ['a.rb DEPENDS_ON json', 'M CONTAINS A', 'A EXTENDS B'],
    },
    'a.php': {
      text: '<?php\nuse Vendor\\Kit\\C;\nclass S extends Base implements I { function go() { $this->run(); f(); self::st(); } function run() {} static function st() {} }\nclass Base {}\ninterface I {}\nfunction f() {}\n',
      concepts: ['Class S', 'Method S.go', 'Method S.run', 'Method S.st', 'Class Base', 'Interface I', 'Function f'],
      links: ['a.php DEPENDS_ON Vendor', 'S EXTENDS Base', 'S IMPLEMENTS I'],
    },
  }

  it.each(Object.keys(samples))('%s', async path => {
    const { text, concepts, links } = samples[path] as (typeof samples)[string]
    expect(await conceptsOf(path, text)).toEqual(concepts)
    const found = linksOf(await graphOf({ [path]: text })).map(link =>
      link.replaceAll(`${path}#`, '').replace(/ [\d.]+$/, ''),
    )
    expect(found).toEqual(expect.arrayContaining(links))
    expect(found.filter(link => / (?:CALLS|EXTENDS|IMPLEMENTS) /.test(link)).length).toBe(
      links.filter(link => / (?:CALLS|EXTENDS|IMPLEMENTS) /.test(link)).length,
    )
  })

  it.each([
    [
      'a.h',
      '#ifndef A_H\n#define A_H\n#define LIMIT 10\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\ntypedef struct { int x; } Point;\ntypedef struct node { struct node *next; } node;\ntypedef struct pair { int a; } pair_t;\ntypedef enum { A, B } Kind;\ntypedef int (*callback)(int, Point);\ntypedef unsigned long size;\nint f(void) { typedef int local; return MAX(1, 2); }\n#endif\n',
      'Constant LIMIT, Function MAX, Class Point, Class node, TypeAlias pair_t, Class pair, Enum Kind, TypeAlias callback, TypeAlias size, Function f, TypeAlias local',
    ],
    [
      'a.cpp',
      'using Ints = std::vector<int>;\nclass A { using Self = A; };\n',
      'TypeAlias Ints, Class A, TypeAlias Self',
    ],
    [
      'a.go',
      'package a\nconst (\n\tRed Kind = iota\n\tBlue\n)\nfunc f() { const in = 1 }\n',
      'Constant Red, Constant Blue, Function f',
    ],
    [
      'a.rs',
      'pub const MAX: u8 = 1;\nstatic NAME: &str = "x";\nmacro_rules! go { () => {} }\nimpl S { const IN: u8 = 2; }\n',
      'Constant MAX, Constant NAME, Function go, Constant IN',
    ],
    ['A.java', 'class A { A(int a) { go(); } void go() {} }', 'Class A, Method A.A, Method A.go'],
    ['a.cs', 'class A { public A() { } delegate void D(int x); }', 'Class A, Method A.A, TypeAlias D'],
  ])('%s: types by another name, constants, macros, constructors', async (path, text, expected) => {
    expect((await conceptsOf(path, text)).join(', ')).toBe(expected)
  })

  it('keeps a struct out of its second name', async () => {
    const links = linksOf(await graphOf({ 'a.h': 'typedef struct pair { int a; } pair_t;' }))
    expect(links).toEqual(['a.h#pair DEFINED_IN a.h#a.h 1', 'a.h#pair_t DEFINED_IN a.h#a.h 1'])
  })

  it('tells the package of what Java imports', async () => {
    const source =
      'import a.b.C;\nimport static c.d.E.go;\nimport static e.f.G.*;\nimport g.h.*;\nimport i.j.K.Inner;\nimport l.m.n;\nclass A {}'
    const links = linksOf(await graphOf({ 'A.java': source }), 'DEPENDS_ON')
    expect(links.map(link => link.split(' ')[2])).toEqual(['a.b', 'c.d', 'e.f', 'g.h', 'i.j', 'l.m.n'])
  })

  it('finds included files, modules and required files', async () => {
    const graph = await graphOf({
      'src/a.c': '#include "b.h"\n#include <kit/c.h>',
      'src/b.h': '',
      'include/kit/c.h': '',
      'src/lib.rs': 'mod sub;',
      'src/sub.rs': 'mod inner;',
      'src/sub/inner.rs': '',
      'a.rb': "require_relative 'lib/b'",
      'lib/b.rb': '',
      'a.php': "<?php require __DIR__ . '/lib/c.php';",
      'lib/c.php': '<?php',
    })
    expect(linksOf(graph, 'DEPENDS_ON').map(link => link.replace(/#\S+/g, ''))).toEqual([
      'a.php DEPENDS_ON lib/c.php 1',
      'a.rb DEPENDS_ON lib/b.rb 1',
      'src/a.c DEPENDS_ON include/kit/c.h 1',
      'src/a.c DEPENDS_ON src/b.h 1',
      'src/lib.rs DEPENDS_ON src/sub.rs 1',
      'src/sub.rs DEPENDS_ON src/sub/inner.rs 1',
    ])
  })
})
