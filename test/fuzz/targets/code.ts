/** Code through tree-sitter: what is read out of a file lies in it, refers to what there is, and is the same every time. */
import { extractFile, isSkip } from '../../../src/lenses/context/extract/extract-file.ts'
import { type Grammars, grammarsFor } from '../../../src/lenses/context/extract/grammars.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { filesNear, type NamedText, type Target } from '../inputs.ts'
import { assertEqual, must } from '../oracles.ts'

const NAMES = [
  ...'a.ts a.tsx a.js a.mjs a.cjs a.jsx a.d.ts a.py pkg/__init__.py a.md a.txt a.go A.java'.split(' '),
  ...'a.rs a.c a.h a.cpp a.cs a.rb a.php a.sh a.css package.json tsconfig.json'.split(' '),
]

const WORDS = [
  ...[
    ...'class ~def ~function ~export ~default ~import ~from ~interface ~type ~enum ~const '.split('~'),
    ...'async '.split('~'),
  ],
  ...[
    ...'extends ~implements ~namespace ~declare ~module.exports = ~require("./a")~import("./a")'.split('~'),
    ...'* as x~=>'.split('~'),
  ],
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '<',
    '>',
    ';',
    ':',
    ',',
    '.',
    '...',
    '?.',
    '=',
    '"',
    "'",
    '`',
    '${',
    '"""',
    '/*',
    '*/',
    '//',
    '#',
  ],
  ...[
    ...'\n~\n    ~\t~@decorator\n~self.~this.~super().~return ~yield ~await ~lambda x: '.split('~'),
    ...'if x:\n    '.split('~'),
  ],
  ...[
    ...'fn a() {}~func (a *B) C() {}~struct A {~impl A for B {~package a~public class A {~$x'.split('~'),
    ...'# TODO ~/** doc */'.split('~'),
  ],
]

const SEEDS: readonly NamedText[] = [
  {
    name: 'a.ts',
    text: 'import d, { a as b, type C } from "./b.ts"\nimport * as ns from "ns"\nexport * from "./c.ts"\n/** Doc. */\nexport class A extends d<C> implements ns.I {\n  #x = 1\n  static make(): A { return new A() }\n  get y(): number { return this.run()?.z ?? b([1].map(v => v)) }\n  async run() { await this.y; return { z: 1 } }\n}\nexport interface I extends C { m(): void }\nexport type T = A | I\nexport enum E { One, Two }\nexport default function f<T>(x: T) { return ns.g(x) }\nnamespace N { export const k = 1 }\n// HACK: careful\n',
  },
  { name: 'a.tsx', text: 'export const App = ({ a }: P) => <Box a={a} {...b}><Inner /></Box>\n' },
  {
    name: 'a.cjs',
    text: 'const a = require("./a")\nmodule.exports = { b() {}, c: a.d }\nexports.e = class {}\nA.prototype.f = function () {}\n',
  },
  {
    name: 'a.py',
    text: 'from __future__ import annotations\nimport os.path as p, sys\nfrom .b import C as D, *\n\nX: int = 1\n\n@d.e(1)\nclass A(C, metaclass=M):\n    """Doc."""\n    y: "D" = None\n    async def f(self, a: D, *b, **c) -> "A":\n        with open(p) as g:\n            return [self.f(x) for x in g if (z := x)]\n    class B:\n        pass\n\ndef h():\n    global X\n    try:\n        yield A().f(1)\n    except E as e:\n        raise\n    match x:\n        case [1, *_]: pass\n',
  },
  { name: 'a.md', text: '# A\n\nSee [b](b.md#c), [r], `A.run`.\n\n## B {#b}\n\n[r]: ./x.ts "t"\n\n```ts\nA\n```\n' },
  {
    name: 'a.go',
    text: 'package a\nimport "fmt"\n// Doc\ntype A struct { b int }\nfunc (a *A) C(x int) error { return fmt.D(x) }\n',
  },
  {
    name: 'A.java',
    text: 'package a;\nimport b.C;\n/** Doc. */\npublic class A extends C implements D { int x; @O void f() { g(); } enum E { F } }\n',
  },
  {
    name: 'a.rs',
    text: 'use a::b;\n/// Doc\npub struct A<T> { x: T }\nimpl<T> B for A<T> { fn f(&self) -> u8 { g!() } }\n',
  },
  {
    name: 'package.json',
    text: '{"name":"a","main":"./x.js","exports":{".":{"types":"./a.d.ts","default":["./b.js"]},"./*":null},"imports":{"#a":"./a"}}',
  },
  {
    name: 'tsconfig.json',
    text: '{ // c\n "extends": ["./b"], "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]},}, "references": [{"path": "x"}] }',
  },
]

export const code: Target<NamedText> = {
  near: good => filesNear(good, NAMES, WORDS, 30_000),
  seeds: SEEDS,
  open: async () => {
    const grammars = await grammarsFor(NAMES)
    return { try: file => extracted(grammars, file) }
  },
}

/** Asked often; a file of this size asks some thousand times. */
const MAX_ASKS = 5_000_000

function extracted(grammars: Grammars, { name, text }: NamedText): void {
  let asks = 0
  const isOverdue = () => {
    must(++asks < MAX_ASKS, 'work: it asks without end whether it is overdue')
    return false
  }
  const first = extractFile(name, text, grammars, { isOverdue })
  assertEqual(extractFile(name, text, grammars, { isOverdue: () => false }), first, 'read again')
  if (isSkip(first)) return
  const keys = new Set(first.concepts.map(concept => concept.key))
  must(keys.size === first.concepts.length, 'two concepts of one key')
  const lines = 1 + lineEnds(text, 0, text.length)
  for (const { startLine, endLine, key } of first.concepts) {
    must(
      1 <= startLine && startLine <= endLine && endLine <= lines,
      `${key}: lines ${startLine} to ${endLine} of ${lines}`,
    )
  }
  for (const { source, weight } of first.references) {
    must(keys.has(source), `a reference from ${source}, which there is not`)
    must(weight > 0 && weight <= 1, `a weight of ${weight}`)
  }
  assertEqual(JSON.parse(JSON.stringify(first)), first, 'not JSON')
}
