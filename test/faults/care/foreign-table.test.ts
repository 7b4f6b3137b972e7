/** A store whose table has other columns than this version declares, as versions made that were never released. */
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { TRUST } from '../../../src/lenses/beliefs/tables.ts'
import { checkOf } from '../../../src/store/sqlite/rows.ts'
import { openTestEngine } from '../../support/engines.ts'
import { querentHere } from '../../support/in-process.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { onFile } from './damaged-store.ts'

let home: string
beforeEach(async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  home = folder.file('home')
  await using engine = await openTestEngine({ home })
  await engine.put({ entries: Array.from({ length: 12 }, (_, at) => ({ id: `e${at}`, content: `fox ${at}` })) })
})

/** As an older declaration of the table, with a column that is now called otherwise, and two rows. */
function makeForeign(): void {
  const columns = TRUST.columns.map(column => (column.name === 'level' ? { ...column, name: 'weight' } : column))
  const declaration = JSON.stringify({ ...TRUST, columns })
  onFile(join(home, 'store.db'), db => {
    db.exec('drop table if exists declared_beliefs_trust')
    const list = columns.map(({ name, type }) => `"${name}" ${type}`)
    db.exec(
      `create table declared_beliefs_trust (${list.join(', ')}, _check integer, primary key (owner, target)) strict`,
    )
    db.exec(`insert into declared_beliefs_trust (owner, target) values ('ann', 'bob'), ('bob', 'ann')`)
    db.prepare('insert or replace into declarations (name, declaration, _check) values (?, ?, ?)').run(
      ...[TRUST.name, declaration, checkOf([TRUST.name, declaration])],
    )
  })
}

const run = (...args: string[]) =>
  querentHere(args, { cwd: '/', env: { QUERENT_HOME: home, QUERENT_EMBEDDER: 'none' } })

it('the doctor names the table and says what to do', async () => {
  makeForeign()
  const { status, stdout } = await run('doctor')
  expect(status).toBe(1)
  expect(stdout).toMatch(
    /FAIL tables: other columns than this version declares: beliefs_trust\n.*never released.*--skip-damaged/,
  )
  expect(stdout).not.toMatch(/ok +tables|then decide again/)
})

it('an export is refused with what to do, and --skip-damaged saves everything else', async () => {
  const whole = await run('export')
  makeForeign()
  const refused = await run('export')
  expect([refused.status, refused.stdout]).toEqual([expect.any(Number), ''])
  expect(refused.status).not.toBe(0)
  expect(refused.stderr).toContain('export --skip-damaged')
  const saved = await run('export', '--skip-damaged')
  expect(saved.stdout).toBe(whole.stdout)
  expect([saved.status, saved.stderr]).toEqual([
    1,
    expect.stringMatching(/lost: table beliefs_trust, \d rows?: it has other columns than this version declares/),
  ])
})
