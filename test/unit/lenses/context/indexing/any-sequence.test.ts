/** However the files came to be what they are: the store is as after one run over them (CX-066, CX-067). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeBaseOf } from '../../../../../src/lenses/context/indexing/code-base.ts'
import type { Workspace } from '../../../../../src/model/workspace.ts'
import { type CodeFolder, openCodeFolder } from '../../../../support/code-folder.ts'

/** Path -> texts; chosen so that almost every change moves links of other files. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'a.ts': [
    "import { made } from './b'\nexport class A { go() { made() } }\n",
    "export * from './b'\nexport class A {}\n",
    "import kit from 'kit'\nimport x from 'left-pad'\nexport function a() { kit(); x() }\n",
  ],
  'b.ts': ['export function made() {}\n', "export { A as made } from './a'\n", '// nothing\n'],
  'lib/c.ts': [
    "import { made } from '@/b'\nexport function made2() { made() }\n",
    "import { A } from '../a'\nexport class C extends A {}\n",
  ],
  'lib/index.ts': ["export * from './c'\n", 'export function made() {}\n'],
  'notes.md': ['# Notes\n`made` `A` `C` [b](b.ts)\n', '# Notes\n`made2` `a` `f` [c](lib/c.ts)\n'],
  'd.py': ['from lib import e\nclass f:\n    def made(self): return e()\n', 'def f(): pass\n'],
  'lib/e.py': ['def e(): pass\n'],
  'tsconfig.json': [
    '{"compilerOptions":{"paths":{"@/*":["./*"]}}}',
    '{"compilerOptions":{"paths":{"@/*":["./lib/*"]}}}',
    '{',
  ],
  'kit/package.json': ['{"name":"kit","main":"./go.ts"}', '{"name":"left-pad","exports":"./go.ts"}'],
  'kit/go.ts': ['export default function go() {}\n', "import { made } from '../lib'\nexport default made\n"],
}
const name = fc.constantFrom(...Object.keys(TEXTS))
const change = fc.oneof(
  fc.record({ do: fc.constant('write' as const), name, variant: fc.nat(2) }),
  fc.record({ do: fc.constant('remove' as const), name }),
  fc.record({ do: fc.constant('rename' as const), name, to: name }),
)
/** How the run after some changes goes. */
const run = fc.constantFrom('all', 'named', 'forced', 'cold', 'ended')
const steps = fc.array(fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 4 }), run }), {
  minLength: 1,
  maxLength: 5,
})

describe('any sequence of runs (CX-066, CX-067)', () => {
  it.each([
    ['with room for all', undefined],
    ['with room for next to nothing', 300],
  ])('gives what one run over the same files gives, %s', { timeout: 900_000 }, async (_, mostHeld) => {
    await fc.assert(
      fc.asyncProperty(steps, async sequence => {
        await using code = await openCodeFolder({})
        const { store, workspace } = code.engine.host('context')
        const codeBase = codeBaseOf(store, workspace as Workspace, mostHeld)
        const there = new Map<string, string>()
        const dirty = new Set<string>()
        for (const { changes, run: how } of sequence) {
          for (const one of changes) apply(code, there, one, dirty)
          if (how === 'cold') codeBase.forget()
          if (how === 'ended') await endedRun(code)
          if (how !== 'ended') {
            await code.do('/context/index', {
              ...(how === 'named' && { paths: [...dirty] }),
              ...(how === 'forced' && { force: true }),
            })
            dirty.clear()
          }
        }
        if (dirty.size > 0) await code.do('/context/index')
        await using fresh = await openCodeFolder(Object.fromEntries(there))
        await fresh.do('/context/index')
        expect(code.concepts()).toEqual(fresh.concepts())
        expect(code.relations()).toEqual(fresh.relations())
      }),
      { numRuns: process.env['QUERENT_LONG'] === '1' ? 500 : 8 },
    )
  })
})

type Change =
  | { readonly do: 'write'; readonly name: string; readonly variant: number }
  | { readonly do: 'remove'; readonly name: string }
  | { readonly do: 'rename'; readonly name: string; readonly to: string }

function apply(code: CodeFolder, there: Map<string, string>, one: Change, dirty: Set<string>): void {
  dirty.add(one.name)
  if (one.do === 'write') {
    const texts = TEXTS[one.name] as readonly string[]
    const text = texts[one.variant % texts.length] as string
    code.write({ [one.name]: text })
    there.set(one.name, text)
    return
  }
  const text = there.get(one.name)
  if (text === undefined) return
  there.delete(one.name)
  if (one.do === 'remove') code.remove(one.name)
  else {
    dirty.add(one.to)
    there.set(one.to, text)
    code.rename(one.name, one.to)
  }
}

/** Stopped when it begins to write, as by a signal. */
async function endedRun(code: CodeFolder): Promise<void> {
  const stop = new AbortController()
  const end = ({ phase }: { readonly phase: string }) => {
    if (phase === 'write') stop.abort()
  }
  await code.context.call('/context/index', {}, end, stop.signal)
}
