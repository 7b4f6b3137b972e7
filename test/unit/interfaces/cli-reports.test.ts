/** What commands about the store print for people. */
import { expect, it } from 'vitest'
import type { AddReport, Status } from '../../../src/engine/engine.ts'
import { PLAIN_TEXT } from '../../../src/interfaces/cli/render/answer.ts'
import { addText, statusText } from '../../../src/interfaces/cli/render/page.ts'

const added: AddReport = {
  added: 2,
  updated: 0,
  unchanged: 1,
  deleted: 0,
  skipped: [],
  errors: [],
  warnings: [],
  chunks: 3,
  pending: 0,
  visibility_changes: [],
  embedding_error: null,
  ms: 5,
}

it('adding says how many files were skipped, and why', () => {
  const skipped = ['binary', 'symlink', 'binary'].map((reason, at) => ({ path: `f${at}`, reason }))
  expect(addText({ ...added, skipped }, PLAIN_TEXT)).toBe(
    '2 added, 0 updated, 1 unchanged, 0 deleted, 3 skipped (binary: 2, symlink: 1), 0 failed\n3 chunks\n' +
      'skipped (binary, or text that is not UTF-8) f0, f2\nskipped (symlink) f1\n',
  )
  expect(addText(added, PLAIN_TEXT)).toContain('0 skipped, 0 failed')
})

it('adding names the first files skipped for a reason, and counts the others', () => {
  const skipped = Array.from({ length: 5 }, (_, at) => ({ path: `f${at}`, reason: 'media' }))
  expect(addText({ ...added, skipped }, PLAIN_TEXT)).toMatch(/\nskipped \(media\) f0, f1, f2 and 2 more\n$/)
})

it('adding lists a warning apart from what failed (QE-010)', () => {
  const warnings = [{ path: 'a.md', message: 'line 1: front matter: read line by line' }]
  expect(addText({ ...added, warnings }, PLAIN_TEXT)).toBe(
    '2 added, 0 updated, 1 unchanged, 0 deleted, 0 skipped, 0 failed\n3 chunks\nwarning a.md: line 1: front matter: read line by line\n',
  )
})

it('adding counts what was skipped in a file by kind, over all files', () => {
  const skipped = [
    { path: 'a', reason: 'media' },
    { path: 'b', reason: 'empty message', count: 2 },
    { path: 'c', reason: 'empty message', count: 1 },
  ]
  expect(addText({ ...added, skipped }, PLAIN_TEXT)).toContain('4 skipped (empty message: 3, media: 1), 0 failed')
  expect(addText({ ...added, chunks: 1 }, PLAIN_TEXT)).toMatch(/\n1 chunk\n$/)
})

it('the status says where the store is, to those who may know', () => {
  const status: Status = {
    version: '1.0.0',
    home: '/notes/.querent',
    entries: 0,
    chunks: 0,
    embedded: 0,
    collections: [],
    embedder: null,
    embedder_error: null,
    indexes: [],
    lenses: ['default'],
    notices: [],
    storage: null,
    paths: null,
  }
  expect(statusText(status, PLAIN_TEXT)).toContain('home: /notes/.querent\n')
  expect(statusText({ ...status, home: null }, PLAIN_TEXT)).not.toContain('home')
  expect(statusText(status, PLAIN_TEXT)).not.toContain('log')
  const storage = { log_bytes: 0, to_erase: true }
  expect(statusText({ ...status, storage }, PLAIN_TEXT)).toMatch(/\nlog: .+\nto erase: /)
  expect(statusText({ ...status, storage: { ...storage, to_erase: false } }, PLAIN_TEXT)).not.toContain('erase')
})
