/** Whole engines on the store files of every schema there ever was: they open, answer, take more, and are sound. */
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SCHEMA } from '../../src/store/sqlite/schema.ts'
import { querent } from '../support/command.ts'
import { idsOf, openTestEngine } from '../support/engines.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { differences } from './io/rebuilt.ts'

/** All of them, whether there is a fixture or not: one that is missing fails. */
const SCHEMAS = Array.from({ length: SCHEMA }, (_, at) => at + 1)

describe.each(SCHEMAS)('a store of schema %i', schema => {
  const fixture = fileURLToPath(new URL(`../fixtures/stores/schema-${schema}.db`, import.meta.url))

  function homeOfIt(): string {
    const folder = tempFolder()
    onTestFinished(() => folder[Symbol.dispose]())
    const home = folder.file('home')
    mkdirSync(home)
    copyFileSync(fixture, join(home, 'store.db'))
    chmodSync(join(home, 'store.db'), 0o600)
    return home
  }

  it('has its file among the fixtures', () => {
    expect(existsSync(fixture), `${fixture}: run node scripts/make-store-fixture.ts before the schema is raised`).toBe(
      true,
    )
  })

  it('opens, answers, takes more and is sound, by an engine with all its lenses', async () => {
    const home = homeOfIt()
    const options = { home, embedder: openToyEmbedder() }
    {
      await using engine = await openTestEngine(options)
      await engine.embedded()
      const asAnn = { viewer: { id: 'ann' } }
      expect(idsOf(await engine.query({ text: 'Fuchs', mode: 'words' }, asAnn))).toEqual(['Ωμέγα 🦊'])
      expect((await engine.get({ id: 'plain' })).content).toContain('hounds')
      await engine.put({ entries: [{ id: 'new', content: 'a new fox' }], wait: true })
      await engine.delete({ ids: ['plain'] })
    }
    await using again = await openTestEngine(options)
    expect(idsOf(await again.query({ text: 'new fox', mode: 'words' }))).toEqual(['new'])
    expect(await differences(again, join(home, 'store.db'))).toEqual([])
    const { findings } = await again.doctor()
    // Vectors of the fixtures are made up, and of no length that a model gives.
    expect(findings.filter(({ ok, check }) => !ok && check !== 'vector rows')).toEqual([])
  })

  it('is read by the command', async () => {
    const home = homeOfIt()
    const env = { QUERENT_HOME: home, QUERENT_EMBEDDER: 'none' }
    const { status, stdout, stderr } = await querent(['get', 'plain'], { cwd: dirname(home), env })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Second line about hounds.')
  })
})
