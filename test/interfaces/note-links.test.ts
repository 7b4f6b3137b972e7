/** Links between notes, their tags and backlinks (QE-016): resolved as Obsidian does, among what the viewer may see. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { type Explanation, recompute } from '../../src/model/explanation.ts'
import type { LiveEvent } from '../../src/model/live.ts'
import type { Page } from '../../src/model/page.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { INTERFACES } from './interfaces.ts'
import { ask as askTool, MCP_ENV } from './mcp-client.ts'
import { newClient, onConnection } from './mcp-in-process.ts'

const VAULT = {
  'Index.md':
    '---\naliases: [Start]\ntags: [map]\n---\n# Index\n\nSee [[Backups|the policy]], [[people/Ana#Work]] and ![[Restore]]. #home\n',
  'Backups.md':
    '# Backup policy\n\nCopies each night, see [how](people/../ops/Restore%20drill.md#when). #ops/storage\n',
  'people/Ana.md': '# Ana\n\nKeeps the copies, wrote `[[Index]]` in code. #staff\n',
  'ops/Restore drill.md': '---\naliases: Restore\n---\n# Drill\n\nEach Sunday, up: [[start]].\n',
  'ops/deep/Ana.md': '# Another Ana\n\nNobody links here.\n',
}

const WORDS = 'Other words that say nothing of it. '.repeat(4)

describe('A vault of notes (QE-016):', () => {
  let folder: TempFolder
  let engine: Engine
  const clock = new SettableClock(Date.parse('2030-01-01T12:00:00Z'))

  beforeEach(async () => {
    folder = tempFolder()
    engine = await openEngine({ store: 'memory', embedder: 'none', background: false, clock })
    write(VAULT)
    await add()
  })

  afterEach(async () => {
    await engine.close()
    folder[Symbol.dispose]()
  })

  function write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder.path, 'vault', path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }

  function add(paths = ['vault'], more: object = {}) {
    return engine.add({ paths: paths.map(path => join(folder.path, path)), wait: false, ...more })
  }

  async function ask(text: string, more: object = {}, viewer = LOCAL_OWNER): Promise<Page> {
    return engine.query({ text, ...more }, { viewer })
  }

  async function found(text: string, viewer = LOCAL_OWNER): Promise<readonly string[]> {
    const { items } = await ask(text, {}, viewer)
    return items.map(({ id }) => id.replace(/^vault\//, '')).sort()
  }

  async function linksOf(id: string, viewer = LOCAL_OWNER) {
    const { links, backlinks } = await engine.get({ id: `vault/${id}`, touch: false }, { viewer })
    const ids = (all: typeof links) => all.map(({ id }) => id.replace(/^vault\//, '')).sort()
    return { links: ids(links), backlinks: ids(backlinks) }
  }

  it('links by path, by name, by alias, over a heading, by embedding and by a relative address', async () => {
    expect(await linksOf('Index.md')).toEqual({
      links: ['Backups.md', 'ops/Restore drill.md', 'people/Ana.md'],
      backlinks: ['ops/Restore drill.md'],
    })
    expect(await linksOf('Backups.md')).toEqual({ links: ['ops/Restore drill.md'], backlinks: ['Index.md'] })
    expect(await linksOf('people/Ana.md')).toEqual({ links: [], backlinks: ['Index.md'] })
    expect(await linksOf('ops/deep/Ana.md')).toEqual({ links: [], backlinks: [] })
  })

  it('asks for what is linked with a note by title, alias, file name, path and id, whatever its case', async () => {
    const linked = ['Index.md', 'ops/Restore drill.md']
    for (const name of ['backups', 'Backups.md', '"backup policy"', 'vault/Backups.md']) {
      expect(await found(`linked:${name}`), name).toEqual(linked)
    }
    expect(await found('linked:"restore drill"')).toEqual(['Backups.md', 'Index.md'])
    expect(await found('linked:restore')).toEqual(['Backups.md', 'Index.md'])
    expect(await found('linked:people/ana')).toEqual(['Index.md'])
    expect(await found('linked:backups Sunday')).toEqual(['ops/Restore drill.md'])
    expect(await found('linked:backups -linked:index')).toEqual(['Index.md'])
    expect(await found('linked:(backups people/ana) tag:map')).toEqual(['Index.md'])
  })

  it('says that no note is called so, and finds nothing, also beside other words', async () => {
    for (const text of ['linked:nowhere', 'linked:nowhere copies', 'linked:"no where" tag:map']) {
      const page = await ask(text)
      expect(page.items, text).toEqual([])
      expect(page.verdict).toBe('nothing_relevant')
      expect(page.reason).toMatch(/^No note that you may see is called "no ?where"\.$/)
    }
    await expect(ask('linked:>a', { syntax: 'strict' })).rejects.toMatchObject({ code: 'query_syntax' })
  })

  it('has tags of front matter and of the text, with their parts, and none of code', async () => {
    expect(await found('tag:ops/storage')).toEqual(['Backups.md'])
    expect(await found('tag:home tag:map')).toEqual(['Index.md'])
    expect(await found('tag:staff')).toEqual(['people/Ana.md'])
  })

  it('resolves a link when its note is added, and no more when it is renamed or deleted', async () => {
    write({ 'New.md': '# New\n\nSee [[Later note]].\n' })
    await add()
    expect((await linksOf('New.md')).links).toEqual([])
    write({ 'deep/er/Later note.md': '# Later\n' })
    await add()
    expect((await linksOf('New.md')).links).toEqual(['deep/er/Later note.md'])
    write({ 'Later note.md': '# Nearer\n' })
    await add()
    expect((await linksOf('New.md')).links).toEqual(['Later note.md'])
    rmSync(join(folder.path, 'vault/Later note.md'))
    rmSync(join(folder.path, 'vault/deep'), { recursive: true })
    write({ 'Other name.md': '# Nearer\n' })
    await add()
    expect((await linksOf('New.md')).links).toEqual([])
    write({ 'New.md': '# New\n\nNo link.\n', 'Later note.md': '# Back\n' })
    await add()
    expect(await linksOf('New.md')).toEqual({ links: [], backlinks: [] })
  })

  it('has no link any more that only the text of the file had, when the entry is written again', async () => {
    await engine.put({ entries: [{ id: 'vault/Index.md', content: 'Nothing.' }] })
    expect(await linksOf('Index.md')).toEqual({ links: [], backlinks: ['ops/Restore drill.md'] })
    expect((await linksOf('Backups.md')).backlinks).toEqual([])
  })

  it('tells a live question of a note that comes to be linked', async () => {
    const seen: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const onEvent = (event: LiveEvent) => {
      seen.push(event.type)
      if (event.type === 'added') resolve()
    }
    const watch = { text: 'linked:backups', debounce_ms: 0, notify_on_connect: false }
    const subscription = await engine.subscribe(watch, { onEvent })
    write({ 'New.md': '# New\n\n[[Backups]]\n' })
    await add()
    await promise
    subscription.cancel()
    expect(seen).toContain('added')
  })

  it('is in the concise form for agents too, by ids', async () => {
    const client = newClient('2025-11-25')
    await onConnection(engine, client, { viewer: LOCAL_OWNER.id })
    const id = 'vault/Backups.md'
    expect(await askTool(client, 'get', { id, detail: 'concise' })).toMatchObject({
      id,
      links: ['vault/ops/Restore drill.md'],
      backlinks: ['vault/Index.md'],
    })
    await client.close()
  })

  it('links by relative address from one added folder to another', async () => {
    write({ '../other/Far.md': '# Far\n\n[to the policy](../vault/Backups.md)\n' })
    await add(['other'])
    expect((await linksOf('Backups.md')).backlinks).toEqual(['Index.md', 'other/Far.md'])
  })

  it('lifts what the best result is linked with, and says so', async () => {
    write({
      'Plan.md': '# Plan\n\nZorblax, zorblax, see [[Far away]].\n',
      'Far away.md': `# Far\n\nZorblax. ${WORDS}\n`,
    })
    write({ 'Second.md': `# Second\n\nZorblax. ${WORDS.slice(0, -20)}\n`, 'Third.md': '# Third\n\nSee [[Plan]].\n' })
    await add()
    const { items } = await ask('zorblax', { explain: true })
    expect(items.map(({ title }) => title)).toEqual(['Plan', 'Far', 'Second'])
    const [plan, far] = items
    expect(far?.components['links']).toBeCloseTo((0.3 * (plan?.score ?? 0)) / Math.sqrt(2), 12)
    expect(far?.why).toMatch(/links 0\.21 \(with the best result\)/)
    expect(recompute(far?.explanation as Explanation)).toBeCloseTo(far?.score ?? 0, 12)
    expect(plan?.components).not.toHaveProperty('links')
    const pages: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await ask('zorblax', { limit: 1, ...(cursor !== undefined && { cursor }) })
      pages.push(...page.items.map(({ title }) => title))
      cursor = page.cursor
    }
    expect(pages).toEqual(['Plan', 'Far', 'Second'])
  })

  it('shows a viewer links among visible notes alone, and what is hidden decides no other link', async () => {
    await add(['vault'], { visibility: 'public' })
    const ana = { id: 'ana' }
    const before = await Promise.all([
      linksOf('Index.md', ana),
      linksOf('Backups.md', ana),
      ask('linked:ana', {}, ana),
      ask('nights sunday', {}, ana),
    ])
    // Nearer to the root than what the links mean, and a note that links to all.
    mkdirSync(join(folder.path, 'vault/private'))
    write({
      'Ana.md': '# Hidden Ana\n',
      'Restore.md': '# Hidden\n',
      'private/All.md': '[[Index]] [[Backups]] [[Ana]]\n',
    })
    const hidden = ['vault/Ana.md', 'vault/Restore.md', 'vault/private/All.md']
    await add(hidden, { visibility: 'private' })
    const after = await Promise.all([
      linksOf('Index.md', ana),
      linksOf('Backups.md', ana),
      ask('linked:ana', {}, ana),
      ask('nights sunday', {}, ana),
    ])
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    expect((await ask('linked:all', {}, ana)).reason).toBe('No note that you may see is called "all".')
  })
})

it('links, backlinks and the question for them are the same over the library, CLI, HTTP and MCP (QE-016)', async () => {
  using home = tempFolder()
  const folder = basename(home.path)
  writeFileSync(join(home.path, 'a.md'), '# Alpha\n\nSee [[b]].\n')
  writeFileSync(join(home.path, 'b.md'), '# Beta\n\nNothing.\n')
  await querentHere(['init'], { cwd: home.path, env: MCP_ENV })
  expect(await querentHere(['add', 'a.md', 'b.md'], { cwd: home.path, env: MCP_ENV })).toMatchObject({ status: 0 })
  for (const [name, open] of Object.entries(INTERFACES)) {
    await using made = await open({
      home: join(home.path, '.querent'),
      now: '2026-03-01T12:00:00.000Z',
      embedder: 'none',
    })
    const { result: page } = (await made.call('query', { text: 'linked:beta' })) as { readonly result: Page }
    expect(
      page.items.map(({ id }) => id),
      name,
    ).toEqual([`${folder}/a.md`])
    const { result: entry } = (await made.call('get', { id: `${folder}/b.md`, touch: false })) as {
      readonly result: object
    }
    expect(entry, name).toMatchObject({ links: [], backlinks: [{ id: `${folder}/a.md`, title: 'Alpha' }] })
  }
  const { stdout } = await querentHere(['get', `${folder}/b.md`], { cwd: home.path, env: MCP_ENV })
  expect(stdout).toMatch(/^backlinks +Alpha$/m)
})
