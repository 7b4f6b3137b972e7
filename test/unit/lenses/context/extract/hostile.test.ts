/** Files that are broken, huge or made to harm: read as far as they go, or skipped with a reason (CX-068). */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { languageOf } from '../../../../../src/lenses/context/extract/concept.ts'
import { extractFile, isSkip } from '../../../../../src/lenses/context/extract/extract-file.ts'
import type { Grammars } from '../../../../../src/lenses/context/extract/grammars.ts'
import { CodeGraph } from '../../../../../src/lenses/context/extract/resolve/code-graph.ts'
import { grammarsFor } from '../../../../support/extracted.ts'

const ENDINGS = 'ts tsx js py md go rs java c cpp cs rb php json yaml txt'.split(' ')
const never = { isOverdue: () => false }

describe('languages', () => {
  it('knows the language by the ending, in any case, and of names without one', () => {
    expect(['A.TS', 'x.d.ts', 'a.mjs', 'x/y.pyi', '.ts', 'ts', 'a.', 'a.b/c'].map(languageOf)).toEqual([
      ...['typescript', 'typescript', 'javascript', 'python', 'text', 'text', 'text', 'text'],
    ])
  })
})

describe('what is read', () => {
  let grammars: Grammars

  beforeAll(async () => {
    grammars = await grammarsFor(ENDINGS.map(ending => `a.${ending}`))
  })

  function read(path: string, text: string): string {
    const result = extractFile(path, text, grammars, never)
    if (isSkip(result)) return result.reason
    const graph = new CodeGraph()
    graph.update({ put: [result] })
    return `${result.concepts.length} concepts, ${graph.links(path).length} links`
  }

  /** Beyond what the stack of a thread holds, whatever the frames. */
  const DEPTH = 30_000
  it.each([
    ['a.ts', '(', ')', '1 concepts, 0 links'],
    ['a.js', '{a:', '}', '1 concepts, 0 links'],
    ['a.ts', 'f(', ')', '1 concepts, 0 links'],
    ['a.ts', '() => {', '}', '1 concepts, 0 links'],
    ['a.tsx', '<a>', '</a>', '1 concepts, 0 links'],
    ['a.py', '[', ']', '1 concepts, 0 links'],
    ['a.md', '[', '](x)', '1 concepts, 0 links'],
    ['a.go', '{', '}', '1 concepts, 0 links'],
    ['a.json', '[', ']', '1 concepts, 0 links'],
  ])('%s with %s thirty thousand deep', (path, open, close, expected) => {
    expect(read(path, `x = ${open.repeat(DEPTH)}y${close.repeat(DEPTH)}`)).toBe(expected)
  })

  it('goes up to a length, then leaves the file out (CX-068)', () => {
    const most = 10 * 1024 * 1024
    expect(read('a.txt', ' '.repeat(most))).toBe('1 concepts, 0 links')
    expect(read('a.txt', ' '.repeat(most + 1))).toBe('too_large')
  })

  it('goes up to a limit of concepts, then leaves the file out', () => {
    expect(read('a.ts', 'class A { m() {} }\n'.repeat(10_001))).toBe('too_many')
    expect(read('a.py', 'def f(:\n'.repeat(30_000))).toBe('too_many')
  })

  it('follows chains of calls, members and types of any length', () => {
    for (const text of [
      `a${'.b()'.repeat(20_000)}`,
      `type T = ${'A | '.repeat(20_000)}B`,
      `const a = ${'() => '.repeat(20_000)}1`,
    ]) {
      expect(read('a.ts', text)).not.toMatch(/too/)
    }
    expect(read('a.py', `a${'.b()'.repeat(20_000)}`)).toBe('1 concepts, 0 links')
  })

  const LONG = 'a'.repeat(20_000)
  const uses = (write: (at: number) => string): string => Array.from({ length: 1_000 }, (_, at) => write(at)).join('\n')
  it.each([
    ['a.ts', `import * as x from './${LONG}'\n${uses(at => `x.f${at}()`)}`],
    ['a.ts', `const y = x.${LONG}\n${uses(at => `y.f${at}()`)}\nimport * as x from './x'`],
    ['a.ts', `export { ${uses(at => `f${at},`)} } from './${LONG}'`],
    ['a.py', `import ${LONG} as x\n${uses(at => `x.f${at}()`)}`],
    ['a.py', `from ${LONG} import (${uses(at => `f${at},`)})`],
    ['a.go', `package a\nimport x "${'a/'.repeat(10_000)}b"\nfunc f() {\n${uses(at => `x.F${at}()`)}\n}`],
    ['a.rs', `mod ${LONG};\nfn f() {\n${uses(at => `${LONG.slice(0, 5_000)}::f${at}();`)}\n}`],
    ['A.java', `${uses(at => `import p${at}.*;`)}\nclass A { void f() {\n${uses(at => `new X${at}();`)}\n} }`],
  ])('%s repeats no long name in each of its references', (path, text) => {
    const result = extractFile(path, text, grammars, never)
    expect(JSON.stringify(result).length).toBeLessThan(1_000_000)
    const graph = new CodeGraph()
    if (!isSkip(result)) graph.update({ put: [result] })
    const links = graph.links(path)
    expect(Array.isArray(links)).toBe(true)
    expect(graph.card(path)?.asked.length).toBeLessThan(10_000)
  })

  it('gives what can be read of a file with an error on every line', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => (at === 1_000 ? 'class Kept { go() {} }' : 'const a = = 1;'))
    const result = extractFile('a.ts', lines.join('\n'), grammars, never)
    expect(isSkip(result) ? [] : result.concepts.map(({ name }) => name)).toContain('Kept')
    expect(isSkip(result) ? false : result.hasErrors).toBe(true)
  })

  it('stops when told so, in parsing and in reading, and reads the next file as if nothing had been', () => {
    const long = 'f(a)\n'.repeat(20_000)
    for (const path of ['a.ts', 'a.py', 'a.go', 'a.md']) {
      for (const looks of [0, 1, 2]) {
        let left = looks
        expect(extractFile(path, long, grammars, { isOverdue: () => left-- <= 0 })).toMatchObject({
          reason: 'too_slow',
        })
      }
      expect(read(path, 'short')).toBe('1 concepts, 0 links')
    }
  })

  it('ends with circles of imports, bases, types and constants', async () => {
    const texts: Record<string, string> = {
      'a.ts':
        "export * from './b'\nexport * from './a'\nimport { B } from './b'\nexport class A extends B {}\nexport type T = U; type U = T\nexport const x = y, y = x\nx.go(); new A().gone()\nfunction f(t: T) { t.go() }",
      'b.ts':
        "export * from './a'\nexport { missing } from './a'\nexport { round } from './c'\nimport { A } from './a'\nexport class B extends A {}",
      'c.ts':
        "export { round } from './b'\nimport { round } from './b'\nround(); class X extends X {} interface I extends I, J, J {} interface J extends I {}",
    }
    const graph = new CodeGraph()
    for (const [path, text] of Object.entries(texts)) {
      const result = extractFile(path, text, grammars, never)
      if (!isSkip(result)) graph.update({ put: [result] })
    }
    expect(graph.links('a.ts').filter(({ relation }) => relation === 'CALLS').length).toBe(1)
    expect(graph.links('c.ts').filter(({ relation }) => relation === 'CALLS')).toEqual([])
  })

  it('never throws and always gives the same, whatever the text (400 texts of pieces of code)', () => {
    // Pieces with a tilde between them.
    const words =
      'class ~A~ extends ~B.C~function ~f~def ~import ~from ~export ~default ~* as ~this~super~new ~const ~await ~type ~interface '
    const signs = '{~}~(~)~=>~;~\n~  ~:~#~`~"~\'~.~...~<~>~@~/*~*/~//~[~]~=~${~|~é~😀~\u2028~\0'
    const piece = fc.constantFrom(...`${words}~${signs}~module.exports~prototype~__proto__`.split('~'))
    const text = fc.array(piece, { maxLength: 60 }).map(pieces => pieces.join(''))
    fc.assert(
      fc.property(fc.constantFrom(...ENDINGS), text, (ending, source) => {
        const path = `a.${ending}`
        const first = extractFile(path, source, grammars, never)
        expect(isSkip(first)).toBe(false)
        expect(extractFile(path, source, grammars, never)).toEqual(first)
        const graph = new CodeGraph()
        if (!isSkip(first)) graph.update({ put: [first] })
        const keys = new Set(isSkip(first) ? [] : first.concepts.map(({ key }) => key))
        for (const { source: from, target } of graph.links(path)) {
          expect(keys.has(from)).toBe(true)
          if ('key' in target) expect(keys.has(target.key)).toBe(true)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('takes odd paths as they are', () => {
    for (const path of ['a\nb.ts', '../up.ts', '/abs.py', 'a b/ü?.md', 'con.ts', '#.ts', '%2e.md']) {
      expect(read(path, 'import "./x"\nfrom . import y\n[a](b.md)')).toMatch(/^\d concepts/)
    }
  })
})
