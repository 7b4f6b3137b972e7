/** The doctor on files that are kept as read and have no concepts (CX-075). */
import { describe, expect, it } from 'vitest'
import { MAX_CONCEPTS } from '../../../../src/lenses/context/extract/draft.ts'
import { deleteConcept } from '../../../../src/lenses/context/mind/rows.ts'
import { CONCEPTS, EXTRACTIONS, FILES } from '../../../../src/lenses/context/tables.ts'
import type { EntryKey } from '../../../../src/model/entry.ts'
import { type CodeFolder, openCodeFolder } from '../../../support/code-folder.ts'

const SOUND = {
  'a.ts': "import { b } from './b.ts'\nexport function a() { return b() }\n",
  'b.ts': 'export function b() { return 1 }\n',
  'empty.ts': '',
  'notes.md': '# Notes\nSee `b`.\n',
}

/** As two runs at once once did: the concepts go, the hash stays; with its text and extraction, or without them. */
function lose(code: CodeFolder, name: string, isEmptied: boolean): void {
  const { store, clock } = code.engine.host('context')
  store.write(clock.now(), writer => {
    const url = `${code.engine.host('context').workspace?.url}/${name}`
    for (const row of writer.table(CONCEPTS).scan({ url })) {
      deleteConcept(writer, { id: row['id'] as number, entry: row['entry'] as EntryKey })
    }
    if (!isEmptied) return
    const [file] = writer.table(FILES).scan({ url })
    const entry = file?.['entry'] as EntryKey
    const row = writer.table(EXTRACTIONS).get({ entry })
    writer.table(EXTRACTIONS).put({ ...row, extraction: null })
    const { key: _, partition: __, ...draft } = writer.entry(entry) as NonNullable<ReturnType<typeof writer.entry>>
    writer.put({ ...draft, content: '' }, [])
  })
}

describe('the doctor', () => {
  it('finds nothing after a run, though a file is empty or kept as a text alone', async () => {
    // More than the reader takes out of one file.
    const many = Array.from({ length: MAX_CONCEPTS }, (_, at) => `export const c${at} = 1\n`).join('')
    await using code = await openCodeFolder({ ...SOUND, 'many.ts': many })
    const { left_out } = await code.do('/context/index')
    expect(left_out).toMatchObject({ total: 1 })
    const { findings } = await code.engine.doctor()
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(findings).toContainEqual(expect.objectContaining({ check: 'context files', ok: true }))
  })

  it.each([false, true])(
    'finds files that lost their concepts and reads them again (text lost too: %s)',
    async isEmptied => {
      await using code = await openCodeFolder(SOUND)
      await code.do('/context/index')
      const [concepts, relations] = [code.concepts(), code.relations()]
      lose(code, 'b.ts', isEmptied)
      lose(code, 'notes.md', isEmptied)
      expect(await code.do('/context/index')).toMatchObject({ indexed: 0 })
      const found = await code.engine.doctor()
      expect(found.findings.filter(({ ok }) => !ok)).toMatchObject([
        {
          check: 'context files',
          message: expect.stringMatching(/no concepts of \S+\/b\.ts.*; no concepts of \S+notes\.md/),
        },
      ])
      const after = await code.engine.doctor({ repair: true })
      expect(after).toMatchObject({ ok: true })
      expect(after.findings).toContainEqual(
        expect.objectContaining({ check: 'context files', repaired: 'read 2 of 2 files again (4 concepts)' }),
      )
      expect(code.concepts()).toEqual(concepts)
      expect(code.relations()).toEqual(relations)
    },
  )

  it('forgets one that is gone meanwhile', async () => {
    await using code = await openCodeFolder(SOUND)
    await code.do('/context/index')
    lose(code, 'b.ts', true)
    code.remove('b.ts')
    expect(await code.engine.doctor({ repair: true })).toMatchObject({ ok: true })
    expect(code.concepts().filter(label => label.includes('b.ts'))).toEqual([])
  })
})
