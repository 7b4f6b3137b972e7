/** Texts that no store can keep are refused by name, and not changed without a word. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { INTERFACES, type Interface } from './interfaces.ts'

const UNKEPT = [
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
] as const

let folder: TempFolder
let via: Interface
beforeEach(() => {
  folder = tempFolder()
  mkdirSync(join(folder.path, 'home'))
})
afterEach(async () => {
  await via[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

describe.each(['library', 'cli', 'http', 'mcp'])('through %s', name => {
  beforeEach(async () => {
    const open = INTERFACES[name] as (typeof INTERFACES)[string]
    via = await open({ home: join(folder.path, 'home'), now: '2026-03-01T12:00:00Z', embedder: 'none' })
  })

  it.each(UNKEPT)('%s is refused by the name of its field, and nothing is written', async (_, text) => {
    const put = (entry: object) => ['put', { entries: [{ id: 'x', content: 'x', ...entry }] }] as const
    const remember = (more: object) => ['conversations.remember', { text: 'x', ...more }] as const
    const refused: readonly (readonly [readonly [string, object], string])[] = [
      [put({ content: text }), 'entries.0.content'],
      [put({ title: text }), 'entries.0.title'],
      [remember({ text }), 'text'],
      [remember({ speaker: text }), 'speaker'],
      [remember({ id: text }), 'id'],
    ]
    for (const [[operation, input], field] of refused) {
      const outcome = await via.call(operation, input)
      expect(outcome).toMatchObject({ error: { code: 'invalid_argument', details: { field } } })
    }
    const belief = await via.call('beliefs.put', { content: text, confidence: { source_reliability: 1 } })
    expect(JSON.stringify(belief)).toContain('"error"')
    await via.call('context.mind_init', {})
    const concept = await via.call('context.mind_concepts_create', { name: text, type: 'Idea' })
    expect(JSON.stringify(concept)).toContain('must be well-formed text')
    const list = await via.call('list', {})
    expect(list).toMatchObject({ result: { items: [] } })
  })

  it('files that hold them are left out with the reason, and lines and front matter with their name', async () => {
    const files = join(folder.path, 'files')
    mkdirSync(files)
    writeFileSync(join(files, 'late.txt'), `${'text '.repeat(4000)}\0`)
    writeFileSync(join(files, 'front.md'), '---\ntitle: "a\\0b"\n---\n# Sound\n')
    const lines = [
      '{"id":"1","content":"sound"}',
      '{"id":"2","content":"a\\u0000"}',
      '{"id":"3","meta":{"k":["\\ud800"]}}',
    ]
    writeFileSync(join(files, 'lines.jsonl'), lines.join('\n'))
    const outcome = await via.call('add', { paths: [files] })
    expect(outcome).toMatchObject({
      result: { added: 2, skipped: [{ path: join(files, 'late.txt'), reason: 'binary' }] },
    })
    type Messages = readonly { readonly message: string }[]
    const { errors, warnings } = (outcome as { result: { errors: Messages; warnings: Messages } }).result
    expect(warnings.map(({ message }) => message)).toEqual([
      'line 1: front matter: it contains NUL or a lone surrogate, which cannot be stored',
    ])
    expect(errors.map(({ message }) => message).sort()).toEqual([
      'line 2: the field content contains NUL or a lone surrogate, which cannot be stored',
      'line 3: the field meta contains NUL or a lone surrogate, which cannot be stored',
    ])
  })
})
