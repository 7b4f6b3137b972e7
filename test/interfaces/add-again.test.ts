/** The same path again, without its options: nothing of the first time is taken away, and nothing becomes more public. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { querentHere, serveInProcess } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { eachThrough } from './interfaces.ts'

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder()
  mkdirSync(join(folder.path, 'home'))
  mkdirSync(join(folder.path, 'notes/deep'), { recursive: true })
  note('a.md', '---\ntags: [own]\n---\n# First\n\nThe kettle boils.\n')
  note('deep/b.md', '# Second\n\nThe lamp is lit.\n')
})
afterEach(() => folder[Symbol.dispose]())

function note(path: string, text: string): void {
  writeFileSync(join(folder.path, 'notes', path), text)
}

interface Item {
  readonly id: string
  readonly collection: string
  readonly kind: string
  readonly tags: readonly string[]
  readonly audience: { readonly kind: string; readonly federations?: readonly string[] }
}

const FIRST = { collection: 'team', kind: 'memo', tags: ['shared'], visibility: 'public' }
const NONE = { added: 0, updated: 0, deleted: 0, errors: [], visibility_changes: [] }

// QE-011
describe.each(['library', 'cli', 'http', 'mcp'])('the operation add, through %s,', name => {
  const { call, attempt } = eachThrough(name, () => join(folder.path, 'home'))
  const add = (input: object, path = '') => call('add', { paths: [join(folder.path, 'notes', path)], ...input })
  const items = async () => (await call('list', { order: 'id' }))['items'] as readonly Item[]
  const of = async (id: string) => (await items()).find(item => item.id === id)

  it('keeps collection, kind, tags and visibility of the first time', async () => {
    await add(FIRST)
    const before = await items()
    expect(await add({})).toMatchObject({ ...NONE, unchanged: 2 })
    expect(await items()).toEqual(before)
    note('a.md', '---\ntags: [other]\n---\n# First\n\nThe kettle is cold.\n')
    note('new.md', '# Third\n\nThe door is shut.\n')
    expect(await add({})).toMatchObject({ ...NONE, added: 1, updated: 1, unchanged: 1 })
    for (const item of await items()) {
      expect(item).toMatchObject({ collection: 'team', kind: 'memo', audience: { kind: 'public' } })
      expect(item.tags).toEqual(item.id === 'notes/a.md' ? ['other', 'shared'] : ['shared'])
    }
  })

  it('changes what is given and nothing else, and reports what changed in visibility', async () => {
    await add(FIRST)
    expect(await add({ visibility: 'private' })).toMatchObject({
      updated: 2,
      visibility_changes: [
        { path: join(folder.path, 'notes'), from: { kind: 'public' }, to: { kind: 'private' }, count: 2 },
      ],
    })
    expect(await of('notes/a.md')).toMatchObject({
      ...{ collection: 'team', kind: 'memo', tags: ['own', 'shared'] },
      audience: { kind: 'private' },
    })
    expect(await add({ tags: ['late'] })).toMatchObject({ updated: 2, visibility_changes: [] })
    expect(await of('notes/deep/b.md')).toMatchObject({
      ...{ collection: 'team', tags: ['late'] },
      audience: { kind: 'private' },
    })
    expect(await add({ visibility: 'public' })).toMatchObject({
      visibility_changes: [{ from: { kind: 'private' }, to: { kind: 'public' }, count: 2 }],
    })
  })

  it('keeps what an entry itself was made since, also when its file changes', async () => {
    await add(FIRST)
    const content = '# Second\n\nThe lamp is lit.\n'
    await call('put', {
      entries: [{ id: 'notes/deep/b.md', content, visibility: 'private', collection: 'mine' }],
    })
    expect(await add({})).toMatchObject(NONE)
    note('deep/b.md', '# Second\n\nThe lamp is a secret.\n')
    expect(await add({})).toMatchObject({ ...NONE, updated: 1 })
    expect(await of('notes/deep/b.md')).toMatchObject({ collection: 'mine', audience: { kind: 'private' } })
    // What is given counts, though the file is as it was.
    expect(await add({ visibility: 'public' })).toMatchObject({ updated: 1, visibility_changes: [{ count: 1 }] })
    expect(await of('notes/deep/b.md')).toMatchObject({ collection: 'mine', audience: { kind: 'public' } })
  })

  it('takes for a path the options of the nearest folder that was added, whichever way it comes', async () => {
    await add({ collection: 'outer' })
    await add({ tags: ['inner'], visibility: 'public' }, 'deep')
    note('deep/c.md', '# Third\n\nThe clock strikes.\n')
    expect(await add({})).toMatchObject({ ...NONE, added: 1 })
    expect(await of('notes/deep/c.md')).toMatchObject({
      ...{ collection: 'outer', tags: ['inner'] },
      audience: { kind: 'public' },
    })
    note('d.md', '# Fourth\n\nThe window is open.\n')
    expect(await add({}, 'd.md')).toMatchObject({ ...NONE, added: 1 })
    expect(await of('notes/d.md')).toMatchObject({ collection: 'outer', tags: [], audience: { kind: 'private' } })
    // What is given for the outer folder holds for the inner one too.
    await add({ visibility: 'private' })
    note('deep/e.md', '# Fifth\n\nThe roof leaks.\n')
    await add({}, 'deep')
    expect(await of('deep/e.md')).toMatchObject({ tags: ['inner'], audience: { kind: 'private' } })
  })

  it('keeps with whom they are shared, and the names of the fields of records', async () => {
    note('r.jsonl', '{"ref":"r1","words":"one","tags":["x"]}\n')
    const shared = { visibility: 'shared', federations: ['lab'], map: { id: 'ref', content: 'words' } }
    await add(shared, 'r.jsonl')
    note('r.jsonl', '{"ref":"r1","words":"one more","tags":["y"]}\n{"ref":"r2","words":"two"}\n')
    expect(await add({}, 'r.jsonl')).toMatchObject({ ...NONE, added: 1, updated: 1 })
    expect(await of('r1')).toMatchObject({ tags: ['y'], audience: { kind: 'shared', federations: ['lab'] } })
    expect(await of('r2')).toMatchObject({ audience: { kind: 'shared', federations: ['lab'] } })
    // A record that gets an id of its own again goes to nobody who might not see the one before.
    await call('put', { entries: [{ id: 'r1', content: 'one more', visibility: 'private' }] })
    note('r.jsonl', '{"ref":"r9","words":"one more","tags":["y"]}\n')
    await add({}, 'r.jsonl')
    expect(await of('r9')).toMatchObject({ audience: { kind: 'private' } })
  })

  it('keeps readers, tags and collection of messages of chats', async () => {
    const line = (id: string, text: string) => JSON.stringify({ id, conversation: 'c', speaker: 'Mira', text })
    note('chat.jsonl', `${line('1', 'The kiln is hot.')}\n${line('2', 'I know.')}\n`)
    const chat = { chat: {}, collection: 'talk', tags: ['old'], visibility: 'public' }
    await add(chat, 'chat.jsonl')
    const before = await items()
    expect(await add({ chat: {} }, 'chat.jsonl')).toMatchObject({ ...NONE, unchanged: 2 })
    expect(await items()).toEqual(before)
    await call('conversations.remember', { text: 'I know it.', conversation: 'c', id: '2', visibility: 'private' })
    note(
      'chat.jsonl',
      ['The kiln is hot.', 'I knew.', 'So did I.'].map((text, at) => line(`${at + 1}`, text)).join('\n'),
    )
    expect(await add({ chat: {} }, 'chat.jsonl')).toMatchObject({ ...NONE, added: 1, updated: 1 })
    for (const id of ['c/1', 'c/2', 'c/3']) {
      const kind = id === 'c/2' ? 'private' : 'public'
      expect(await of(id)).toMatchObject({ collection: 'talk', tags: ['old'], audience: { kind } })
    }
    expect(await add({ chat: {}, visibility: 'private' }, 'chat.jsonl')).toMatchObject({
      visibility_changes: [{ from: { kind: 'public' }, to: { kind: 'private' }, count: 2 }],
    })
  })

  it('refuses federations that nothing is shared with', async () => {
    for (const more of [{}, { chat: {} }]) {
      const outcome = await attempt('add', { paths: [join(folder.path, 'notes')], federations: ['lab'], ...more })
      expect(outcome).toMatchObject({ error: { code: 'invalid_argument', details: { field: 'federations' } } })
    }
  })

  it('put keeps who may see an entry, unless it is given', async () => {
    const put = (more: object) => call('put', { entries: [{ id: 'p', content: 'one', ...more }] })
    const audience = async () => (await call('get', { id: 'p' }))['audience']
    await put({})
    expect(await audience()).toEqual({ kind: 'private' })
    await put({ visibility: 'shared', federations: ['lab'] })
    await put({ content: 'two' })
    expect(await audience()).toEqual({ kind: 'shared', federations: ['lab'] })
    await put({ visibility: 'public' })
    await put({ content: 'three' })
    expect(await audience()).toEqual({ kind: 'public' })
    await put({ content: 'three', visibility: 'private' })
    expect(await audience()).toEqual({ kind: 'private' })
  })
})

// QE-011
describe('the commands', () => {
  const run = (...args: readonly string[]) => querentHere(args, { cwd: folder.path })
  const items = async () =>
    (JSON.parse((await run('list', '--order', 'id', '--json')).stdout) as { items: readonly Item[] }).items

  it('add and serve keep the options of the first time, and add says what became visible to whom', async () => {
    const first = ['--collection', 'team', '--tag', 'shared', '--visibility', 'public']
    await run('add', 'notes', ...first)
    const before = await items()
    expect(before).toMatchObject([
      { collection: 'team', audience: { kind: 'public' } },
      { collection: 'team', audience: { kind: 'public' } },
    ])
    const again = await run('add', 'notes')
    expect(again.stdout).toContain('0 added, 0 updated, 2 unchanged')
    expect(again.stdout).not.toContain('visibility')
    const server = await serveInProcess(['serve', 'notes'], folder.path)
    expect(server.stderr()).toContain('0 added, 0 updated, 2 unchanged')
    await server.end()
    expect(await items()).toEqual(before)
    const hidden = await run('add', 'notes', '--visibility', 'private')
    expect(hidden.stdout).toContain('visibility of 2 entries of ')
    expect(hidden.stdout).toContain('notes changed from public to private')
    const shared = await run('add', 'notes', '--visibility', 'shared', '--federation', 'lab')
    expect(shared.stdout).toContain('changed from private to shared with lab')
  })

  it('remember keeps who may see a message that gets another text', async () => {
    await run('remember', 'The kiln is hot.', '--conversation', 'w', '--id', '1', '--visibility', 'public')
    await run('remember', 'The kiln is cold.', '--conversation', 'w', '--id', '1')
    expect(await items()).toMatchObject([{ id: 'w/1', audience: { kind: 'public' } }])
  })

  it('add --code keeps who may see what it has read', async () => {
    note('x.ts', 'export function one() {}\n')
    await run('add', '--code', 'notes')
    const before = (await items()).map(({ id, audience }) => [id, audience])
    expect(before.length).toBeGreaterThan(0)
    note('x.ts', 'export function one() { return 1 }\n')
    await run('add', '--code', 'notes')
    expect((await items()).map(({ id, audience }) => [id, audience])).toEqual(before)
  })
})
