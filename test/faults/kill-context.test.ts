/** kill -9 while code is indexed: every file is as before or as it is now, and the next run does the rest (CX-067). */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCodeFolder } from '../support/code-folder.ts'
import { damageIn } from '../support/damage-in.ts'
import { Child } from './child.ts'
import { FILES, filesOf, killContext, mixed } from './kill-context.ts'

/** What the child says when it is killed: while it reads, between two transactions, and at its last one. */
const MOMENTS = ['read 1', 'read 60', 'write 16', 'write 48', 'write 112', `write ${FILES}`]

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 2

describe('a run that is killed', () => {
  it('leaves each file as it was or as it is', async () => {
    await using code = await openCodeFolder({})
    for (const [version, moment] of MOMENTS.entries()) {
      code.write(filesOf(version))
      await using child = new Child('kill-context-child.ts', import.meta.url, [join(code.path, '.querent')])
      await child.says(moment)
      await child.kill()
      expect(await damageIn(code.engine.host('context').store)).toEqual([])
      expect(mixed(code.concepts())).toEqual([])
    }
    await code.do('/context/index')
    await using fresh = await openCodeFolder(filesOf(MOMENTS.length - 1))
    await fresh.do('/context/index')
    expect(code.concepts()).toEqual(fresh.concepts())
    expect(code.relations()).toEqual(fresh.relations())
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: FILES })
  })

  it(`${KILLS} times at any moment, does (QUERENT_LONG=1: 200)`, { timeout: 600_000 + KILLS * 20_000 }, async () => {
    const { kills, wrong } = await killContext(KILLS, Date.now() & 0xffff)
    expect(wrong).toEqual([])
    expect(kills).toBe(KILLS)
  })
})
