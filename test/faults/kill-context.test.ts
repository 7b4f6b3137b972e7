/** kill -9 while code is indexed: every file is as before or as it is now, and the next run does the rest (CX-067). */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCodeFolder } from '../support/code-folder.ts'
import { Child } from './child.ts'

const FILES = 120
/** What the child says when it is killed: while it reads, between two transactions, and at its last one. */
const MOMENTS = ['read 1', 'read 60', 'write 16', 'write 48', 'write 112', `write ${FILES}`]

describe('a run that is killed', () => {
  it('leaves each file as it was or as it is', { timeout: 120_000 }, async () => {
    await using code = await openCodeFolder({})
    for (const [version, moment] of MOMENTS.entries()) {
      code.write(filesOf(version))
      await using child = new Child('kill-context-child.ts', import.meta.url, [join(code.path, '.querent')])
      await child.says(moment)
      await child.kill()
      expect(code.engine.host('context').store.check()).toEqual([])
      expect(mixed(code.concepts())).toEqual([])
    }
    await code.do('/context/index')
    await using fresh = await openCodeFolder(filesOf(MOMENTS.length - 1))
    await fresh.do('/context/index')
    expect(code.concepts()).toEqual(fresh.concepts())
    expect(code.relations()).toEqual(fresh.relations())
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: FILES })
  })
})

/** Every version has other concepts in each file, and links to other files. */
function filesOf(version: number): Readonly<Record<string, string>> {
  const files = Array.from({ length: FILES }, (_, at) => {
    const other = (at * 7 + version * 13 + 1) % FILES
    const text = `import { f${other}v${version} } from './f${other}.ts'
export function f${at}v${version}() { f${other}v${version}() }
export class C${at}v${version} {}
`
    return [`f${at}.ts`, text] as const
  })
  return Object.fromEntries(files)
}

/** Files that have concepts of two versions, or of one not all. */
function mixed(concepts: readonly string[]): readonly string[] {
  const versions = new Map<string, string[]>()
  for (const concept of concepts) {
    const [, version, file] = /^\w+ \w\d+v(\d+) (\S+)$/.exec(concept) ?? []
    if (file !== undefined) versions.set(file, [...(versions.get(file) ?? []), version as string])
  }
  return [...versions].filter(([, of]) => of.length !== 2 || of[0] !== of[1]).map(([file, of]) => `${file}: ${of}`)
}
